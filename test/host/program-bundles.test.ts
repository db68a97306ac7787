import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { deferImports } from "../../build/program-bundles.ts";

/** Runs `code` with a `require` that notes what is asked of it. */
function run(code: string): { readonly found: unknown; readonly required: string[] } {
  const required: string[] = [];
  const require = (name: string): unknown => {
    required.push(name);
    if (name === "./runtime.js") return { __toESM: (module: object) => ({ ...module, default: module }) };
    return {
      join: (...parts: string[]) => parts.join("/"),
      Worker: class {
        name = "worker";
      },
    };
  };
  const module: { found?: unknown } = {};
  runInNewContext(code, { require, module });
  return { found: module.found, required };
}

const BUNDLE = `const runtime = require("./runtime.js");
let node_path = require("node:path");
node_path = runtime.__toESM(node_path, 1);
let node_worker_threads = require("node:worker_threads");
let node_zlib = require("node:zlib");
function use() { return [(0, node_path.join)("a", "b"), node_path.default.join("c"), new node_worker_threads.Worker().name]; }
`;

test("BUILD-1: nothing of Node's is loaded before it is used, and each thing once", () => {
  const deferred = deferImports(BUNDLE);
  expect(run(deferred).required).toEqual(["./runtime.js"]);
  const { found, required } = run(`${deferred}module.found = [use(), use()];`);
  expect(found).toEqual([
    ["a/b", "c", "worker"],
    ["a/b", "c", "worker"],
  ]);
  expect(required).toEqual(["./runtime.js", "node:path", "node:worker_threads"]);
  expect(run(`${BUNDLE}module.found = use();`).found).toEqual(["a/b", "c", "worker"]);
});

test("BUILD-1: a module that is handed on as a whole stops the build", () => {
  expect(() => deferImports(`${BUNDLE}exports.zlib = node_zlib;\n`)).toThrow("node_zlib is used in a way that cannot be deferred");
});

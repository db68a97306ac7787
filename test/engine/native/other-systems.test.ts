/** What is compiled only on systems that are not here: at least it is C++, and fits what the addon expects of it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";

const SOURCES = join(import.meta.dirname, "../../../native/src");
const COMPILER = process.env["CXX"] ?? "c++";
/** Those that ask for the system, but for the Node-API ones, whose headers ask too. */
const FILES = ["extents.cc", "file-pages.cc", "files.cc", "frames.cc"];

test.for([
  ["macOS", ["-D__APPLE__"]],
  ["a system that we know nothing of", []],
] as const)("NATIVE-19: the addon's code for %s compiles", ([, defines], { skip }) => {
  if (process.platform !== "linux" || spawnSync(COMPILER, ["--version"]).status !== 0) return skip("there is no compiler for it here");
  const headers = makeTemporaryFolder();
  mkdirSync(join(headers, "sys"));
  writeFileSync(join(headers, "sys", "clonefile.h"), 'extern "C" int fclonefileat(int, int, const char*, unsigned);\n');
  expect(readdirSync(SOURCES)).toEqual(expect.arrayContaining(FILES));
  for (const file of FILES) {
    const options = ["-fsyntax-only", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-U__linux__", ...defines, `-I${headers}`];
    const { status, stderr } = spawnSync(COMPILER, [...options, join(SOURCES, file)], { encoding: "utf8" });
    expect({ file, status, stderr }).toEqual({ file, status: 0, stderr: "" });
  }
});

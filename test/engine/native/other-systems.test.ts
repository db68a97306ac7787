/** What is compiled only on systems that are not here: at least it is C++, and fits what the addon expects of it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";

const SOURCES = join(import.meta.dirname, "../../../native/src");
/** Those that ask for the system, but for the Node-API ones, whose headers ask too. */
const FILES = ["extents.cc", "file-pages.cc", "files.cc", "frames.cc", "page-hash.cc", "stripe-kernels.cc"];
const COMPILER = process.env["CXX"] ?? "c++";

test.for([
  ["macOS", COMPILER, ["-U__linux__", "-D__APPLE__"]],
  ["Windows", "x86_64-w64-mingw32-g++-posix", ["-D_WIN32_WINNT=0x0A00"]],
  ["a system that we know nothing of", COMPILER, ["-U__linux__"]],
] as const)("NATIVE-19: the addon's code for %s compiles", ([, compiler, defines], { skip }) => {
  if (process.platform !== "linux" || spawnSync(compiler, ["--version"]).status !== 0) return skip(`there is no ${compiler} here`);
  const headers = makeTemporaryFolder();
  mkdirSync(join(headers, "sys"));
  writeFileSync(join(headers, "sys", "clonefile.h"), 'extern "C" int fclonefileat(int, int, const char*, unsigned);\n');
  for (const file of FILES) {
    const options = ["-fsyntax-only", "-std=c++20", "-Wall", "-Wextra", "-Werror", ...defines, `-I${headers}`];
    const { status, stderr } = spawnSync(compiler, [...options, join(SOURCES, file)], { encoding: "utf8" });
    expect({ file, status, stderr }).toEqual({ file, status: 0, stderr: "" });
  }
});

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { writeLibraryTypes } from "../../build/library-types.ts";
import { ROOT } from "../../build/run.ts";
import { temporaryFolder } from "../support/stores.ts";

const example = /^```ts\n(.*?)^```/msu.exec(readFileSync(join(ROOT, "README.md"), "utf8"))?.[1] ?? "";

function runNode(
  folder: string,
  args: readonly string[],
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
}

/** A project of somebody else's, which depends on Coppice and has the README's example. */
function makeUser(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(ROOT, join(folder, "node_modules/coppice"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  return folder;
}

test("README-1: the library's example compiles for another project in strict TypeScript", { timeout: 120_000 }, async () => {
  expect(await writeLibraryTypes()).toBe(true);
  const folder = makeUser();
  writeFileSync(join(folder, "example.ts"), example);
  writeFileSync(join(folder, "wrong.ts"), 'import { openStore } from "coppice";\nawait openStore(3);\n');
  const settings = ["--ignoreConfig", "--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--types", "node"];
  const packages = ["--typeRoots", join(ROOT, "node_modules/@types")];
  const check = (file: string) => runNode(folder, [join(ROOT, "node_modules/typescript/bin/tsc"), ...settings, ...packages, file]);
  expect(check("example.ts")).toMatchObject({ stdout: "", status: 0 });
  expect(check("wrong.ts").stdout).toContain("wrong.ts(2,17): error TS2345");
});

test("README-2: the library's example does what it says, beside the file of the five minutes, and again", () => {
  const folder = makeUser();
  const shop = new Database(join(folder, "shop.db"));
  shop.exec("CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT NOT NULL); INSERT INTO customers(name) VALUES ('Ada')");
  shop.close();
  writeFileSync(join(folder, "example.ts"), example.replace('"coppice"', JSON.stringify(join(ROOT, "src-main/engine/store.ts"))));
  for (let turn = 0; turn < 2; turn += 1) {
    expect(runNode(folder, ["example.ts"])).toMatchObject({ stdout: "Promoted try-1 → main\n", status: 0 });
  }
});

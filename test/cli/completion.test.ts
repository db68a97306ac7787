import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { buildProgram } from "../../src-main/cli/program.ts";
import { cli, cliResult } from "./run-cli.ts";

const program = buildProgram(() => {
  throw new Error("no verb runs here");
});
const VERBS = program.commands.map((command) => command.name());

test.each(["bash", "zsh", "fish"])("CLI-21: the completion script for %s knows every verb and its options", async (shell) => {
  const { code, out } = await cli("completion", shell);
  expect(code).toBe(0);
  for (const verb of VERBS) expect(out).toContain(verb);
  for (const option of ["with-unsaved", "put-mine-on-top", "overwrite"]) expect(out).toContain(option);
});

test("CLI-21: bash completes verbs first, then options of the verb", async () => {
  const { script } = await cliResult<{ script: string }>("completion", "bash");
  expect(spawnSync("bash", ["-n"], { input: script }).status).toBe(0);
  const complete = (...words: string[]) => {
    const ask = `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _coppice; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return spawnSync("bash", ["-c", ask], { encoding: "utf8" }).stdout.trim().split("\n");
  };
  expect(complete("coppice", "pro")).toEqual(["promote", "protect"]);
  expect(complete("coppice", "--store", "x", "fork", "shop", "--w")).toEqual(["--with-unsaved"]);
  expect(complete("coppice", "completion", "")).toEqual(["bash", "zsh", "fish"]);
  expect(complete("coppice", "bench", "is")).toEqual(["isolation"]);
  expect(complete("coppice", "bench", "cow", "--comp")).toEqual(["--compare"]);
  expect(complete("coppice", "bench", "cow", "--folder", "/tm")).toEqual(["/tmp"]);
});

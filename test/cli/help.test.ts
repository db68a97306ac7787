import { expect, test } from "vitest";
import { buildProgram } from "../../src-main/cli/program.ts";
import { VERBS } from "../../src-main/cli/verbs.ts";
import { cli } from "./run-cli.ts";

test("CLI-25: help of a verb says how it is called, lists the global options too, and knows no verb that is not there", async () => {
  const asked = await cli("help", "rollback");
  expect(asked).toEqual(await cli("rollback", "--help"));
  expect(asked.code).toBe(0);
  expect(asked.out).toMatch(/^Usage: coppice rollback <target> --to <state> \[options\]\n/);
  expect(asked.out).toContain("--store <spec>");
  expect((await cli("help")).out).toBe((await cli("--help")).out);
  const { code, out, err } = await cli("help", "rolback");
  expect([code, out, err]).toEqual([2, "", "coppice: Unknown command 'rolback'\nDid you mean rollback?\n"]);
  expect((await cli("rollback", "shop")).err).toContain("See `coppice rollback --help`");
});

test("CLI-26: DB@BRANCH where only a branch's name goes says so", async () => {
  const { code, err } = await cli("promote", "shop@try", "--onto", "shop@main");
  expect(code).toBe(2);
  expect(err).toContain("Only the branch's name goes here, without DB@");
});

const cliOfNone = () => {
  throw new Error("no verb runs here");
};

test("CLI-28: a verb is the same whether its neighbours or all are built, and none is missing from the list", () => {
  const all = buildProgram(cliOfNone);
  expect(VERBS.flatMap(({ names }) => names).concat("help")).toEqual(all.commands.map((command) => command.name()));
  for (const command of all.commands) {
    const few = buildProgram(cliOfNone, command.name());
    const same = few.commands.find((each) => each.name() === command.name());
    expect(same?.helpInformation()).toBe(command.helpInformation());
    if (command.name() !== "completion" && command.name() !== "help") expect(few.commands.length).toBeLessThan(all.commands.length / 2);
  }
});

test("CLI-28: what is no verb gets the nearest match among all", async () => {
  expect((await cli("frok", "shop", "x")).err).toContain("Did you mean fork?");
  expect((await cli("--quiet", "frok")).err).toContain("Did you mean fork?");
});

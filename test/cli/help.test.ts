import { expect, test } from "vitest";
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

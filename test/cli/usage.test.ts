import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { findStoreSpec } from "../../src-main/cli/locate-store.ts";
import { formatAgo, formatTable } from "../../src-main/cli/table.ts";
import { describeError, Terminal } from "../../src-main/cli/terminal.ts";
import { temporaryFolder } from "../support/stores.ts";
import { cli, cliError } from "./run-cli.ts";

describe("CLI-5: what is not understood is refused with the nearest match, exit code 2, before any store is opened", () => {
  test.each([
    { args: ["forc", "shop", "x"], hint: "Did you mean fork?" },
    { args: ["forc", "--help"], hint: "Did you mean fork?" },
    { args: ["fork", "shop", "x", "--tll", "3s"], hint: "Did you mean --ttl?" },
    { args: ["rollback", "shop", "--to", "v1", "--dryrun"], hint: "Did you mean --dry-run?" },
    { args: ["--jsn", "ls"], hint: "Did you mean --json?" },
  ])("$args → $hint", async ({ args, hint }) => {
    const { code, out, err } = await cli(...args);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(/^coppice: Unknown (option|command) /);
    expect(err).toContain(`\n${hint}\n`);
  });

  test.each([
    ["fork", "shop", "x", "y"],
    ["fork", "shop"],
    ["rollback", "shop"],
    ["promote", "shop@try"],
    ["promote", "shop", "--onto", "main"],
    ["destroy", "shop"],
    ["fork", "shop@main@v1", "x", "--at", "v2"],
    ["rollback", "shop@main@v1", "--to", "v2"],
    ["fork", "shop", "x", "--count", "0"],
    ["fork", "shop", "x", "--count", "many"],
    ["fork", "shop", "x", "--ttl", "soon"],
    ["fork", "shop", "x", "--ttl", "1ms"],
    ["fork", "shop", "x", "--meta", "novalue"],
    ["fork", "shop", "x", "--at", "2026-13-45T00:00:00Z"],
    ["checkpoint", "shop", "--rename", "one"],
    ["checkpoint", "shop", "name", "--delete", "other"],
    ["undo", "last"],
    ["undo", "--dry-run"],
    ["ops", "shop@a@b@c"],
    ["open", "shop"],
    ["run", "--", "true"],
    ["ls", "--filter", "is:leaf"],
    ["checkout", "shop", "--take-theirs", "--put-mine-on-top"],
    ["checkout", "shop@main@v1", "--wait", "1s"],
    ["completion", "tcsh"],
    ["--store", "s3://bucket/prefix", "ls"],
    ["--store", "ftp://host/x", "ls"],
  ])("%s %s %s %s %s", async (...args) => {
    vi.stubEnv("COPPICE_STORE", join(temporaryFolder(), "none"));
    expect((await cli(...args)).code).toBe(2);
    vi.unstubAllEnvs();
  });
});

test.each(["UPPER", "a b", "../x", "a..b", ".hidden", "-x", "x.db", "", "a".repeat(129)])(
  "CLI-6: the name %j is refused with the sentence that says why",
  async (name) => {
    for (const line of [
      ["fork", "shop", "--", name],
      ["rename", "shop@a", "--", name],
      ["create", "--", name],
      ["checkpoint", "shop", "--", name],
    ]) {
      vi.stubEnv("COPPICE_STORE", join(temporaryFolder(), "none"));
      const error = await cliError(...line);
      vi.unstubAllEnvs();
      expect([error.code, error.exit], line.join(" ")).toEqual(["bad-name", 2]);
    }
  },
);

test("CLI-7: the store is --store, else COPPICE_STORE, else the nearest .coppice upwards", () => {
  const folder = temporaryFolder();
  const deep = join(folder, "a", "b");
  mkdirSync(deep, { recursive: true });
  mkdirSync(join(folder, ".coppice"));
  vi.stubEnv("COPPICE_STORE", "");
  // A folder of that name without a catalog is no store.
  expect(findStoreSpec(undefined, deep)).not.toBe(join(folder, ".coppice"));
  writeFileSync(join(folder, ".coppice", "catalog.db"), "");
  expect(findStoreSpec(undefined, deep)).toBe(join(folder, ".coppice"));
  vi.stubEnv("COPPICE_STORE", "/elsewhere");
  expect(findStoreSpec(undefined, deep)).toBe("/elsewhere");
  expect(findStoreSpec("/given", deep)).toBe("/given");
  vi.unstubAllEnvs();
});

test("CLI-8: a store that is not there, or is there already, is told with its exit code", async () => {
  const folder = temporaryFolder();
  expect(await cliError("--store", join(folder, "none"), "ls")).toMatchObject({ code: "store-not-found", exit: 4 });
  expect((await cli("init", join(folder, "new"))).code).toBe(0);
  expect(await cliError("init", join(folder, "new"))).toMatchObject({ code: "store-exists", exit: 3 });
  expect(await cliError("--store", "x", "init", "y")).toMatchObject({ code: "bad-argument", exit: 2 });
});

test("CLI-9: --json prints one object: ok and result, or ok and the error in full", async () => {
  const store = join(temporaryFolder(), "store");
  const made = await cli("--json", "init", store);
  expect(made.out.split("\n")).toHaveLength(2);
  expect(JSON.parse(made.out)).toMatchObject({ ok: true, result: { path: store, databases: 0 } });
  const failed = await cli("--store", store, "fork", "shop", "x", "--json");
  expect([failed.code, failed.err]).toEqual([4, ""]);
  expect(JSON.parse(failed.out)).toEqual({
    ok: false,
    error: {
      code: "database-not-found",
      message: `There is no database "shop" in ${store}`,
      hint: null,
      untouched: null,
      retryable: false,
      details: { name: "shop", choices: [] },
    },
  });
  const usage = await cli("--json", "forc");
  expect(JSON.parse(usage.out)).toMatchObject({
    ok: false,
    error: { code: "bad-argument", hint: "Did you mean fork?", details: { choices: ["fork"] } },
  });
});

test("CLI-10: an error says what failed, what is untouched, what to do and who is in the way", () => {
  const error = {
    code: "checkout-busy",
    message: "shop@main is in use",
    untouched: "It is unchanged.",
    hint: "Close it",
    retryable: true,
    details: {
      holders: [
        { pid: 7, program: "sqlite3", access: "writing" },
        { pid: 8, program: null, access: "open" },
      ],
    },
  } as const;
  expect(describeError(error).split("\n")).toEqual([
    "coppice: shop@main is in use",
    "It is unchanged.",
    "Close it",
    "held by sqlite3 (pid 7, writing)",
    "held by a process (pid 8, open)",
  ]);
});

test("CLI-11: help and version go to stdout with exit code 0; no verb at all is a usage error", async () => {
  expect(await cli("--version")).toMatchObject({ code: 0, out: expect.stringMatching(/^coppice \d+\.\d+\.\d+\n$/) as string });
  for (const args of [["--help"], ["help"], ["fork", "--help"], ["help", "fork"]]) {
    const { code, out, err } = await cli(...args);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^Usage: coppice/);
  }
  expect((await cli()).code).toBe(2);
});

test("CLI-12: tables align, leave out empty columns and print nothing when they are empty", () => {
  const terminal = new Terminal({ json: false, quiet: false, color: false });
  const columns = [{ title: "NAME" }, { title: "N", align: "right" }, { title: "EMPTY" }, { title: "LAST" }] as const;
  expect(
    formatTable(terminal, columns, [
      ["a", "1", "", "x"],
      ["long", "100", "", ""],
    ]),
  ).toBe("NAME    N  LAST\na       1  x\nlong  100");
  expect(formatTable(terminal, columns, [])).toBe("");
  expect([0, 900, 3_000, 3_599_000, 3_600_000, 90_000_000].map((age) => formatAgo(1e12 - age, 1e12))).toEqual([
    "now",
    "now",
    "3 s ago",
    "59 m ago",
    "1 h ago",
    "1 d ago",
  ]);
});

test("CLI-24: nothing that somebody wrote reaches a terminal as a command", async () => {
  const folder = temporaryFolder();
  const evil = "\u001B]0;owned\u0007\u001B[2J\r\u009B2J\u202Egnp";
  vi.stubEnv("COPPICE_STORE", join(folder, "store"));
  await cli("init", join(folder, "store"));
  await cli("create", "shop");
  const printed = [
    await cli("checkpoint", "shop", "one", "-m", evil, "--meta", `note=${evil}`),
    await cli("fork", "shop", "try", "--meta", `note=${evil}`, "--actor", `eve${evil}\nfake row`),
    await cli("fork", "shop", evil),
    await cli("create", "other", "--from", join(folder, evil)),
    await cli("meta", "shop@try"),
    await cli("log", "shop"),
    await cli("ls", "shop"),
    await cli("ops"),
  ];
  for (const { out, err } of printed) expect(out + err).not.toMatch(/(?![\t\n])[\p{Cc}\p{Bidi_Control}]/u);
  expect(printed.map(({ out, err }) => out + err).join("")).toContain("\\u001b]0;owned");
  expect(printed.at(-1)?.out.split("\n")).not.toContainEqual(expect.stringMatching(/^fake row/));
  vi.unstubAllEnvs();
});

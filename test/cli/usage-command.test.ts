import { join } from "node:path";
import { expect, test } from "vitest";
import type { BranchUsageView, FreedView, UsageView } from "#shared/usage-views.ts";
import type { GcReport, TrashView } from "#shared/views.ts";
import { execute, makeNotes, temporaryFolder } from "../support/stores.ts";
import { cli, cliError, cliResult } from "./run-cli.ts";

async function makeStore(): Promise<{ store: string; run: (...args: string[]) => ReturnType<typeof cli> }> {
  const folder = temporaryFolder();
  const store = join(folder, "store");
  const run = (...args: string[]) => cli("--store", store, ...args);
  await cli("init", store);
  await run("create", "shop", "--from", makeNotes(join(folder, "notes.db")));
  await run("create", "other");
  await run("fork", "shop", "attempt", "--count", "3");
  const { out } = await run("checkout", "shop@attempt-2");
  execute(out.trim(), "UPDATE notes SET text = hex(randomblob(20000)) WHERE id = 3");
  await run("checkpoint", "shop@attempt-2", "big");
  await run("protect", "shop@attempt-3");
  return { store, run };
}

function countRows(text: string): number {
  return text.split("\n").filter((line) => line.startsWith("shop@") || line.startsWith("other@")).length;
}

test("USAGE-9: branches, parts and caches of the store or of a database", async () => {
  const { store, run } = await makeStore();
  const { out } = await run("usage");
  const [head = "", first = ""] = out.split("\n");
  expect(head.split(/ {2,}/)).toEqual(["BRANCH", "LOGICAL", "UNIQUE", "SHARED", "FILE", "SHARED WITH"]);
  expect(first).toMatch(/^shop@attempt-2 +\S+ KiB +\S+ KiB +\S+ .*B +\S+ KiB +main, 2 others$/);
  expect(out).toMatch(/shop@attempt-3 \(protected\)/);
  expect(out).toMatch(/\nunique to one branch +2 branches /);
  expect(out).toMatch(/\nthe whole store +\S+ MiB +\S+ MiB\n/);
  expect(out).toMatch(/\nready files +0 B\nread-only files +0 B\nshadows +\d/);
  expect((await run("usage", "shop")).out).toMatch(/\nall of shop +/);
  const whole = await cliResult<UsageView>("--store", store, "usage");
  expect(whole.rows.length).toBe(5);
  expect((await cliResult<UsageView>("--store", store, "usage", "shop")).rows.length).toBe(4);
  await run("fork", "shop", "more", "--count", "60");
  expect(countRows((await run("usage")).out)).toBe(40);
  expect((await run("usage")).out).toContain("… and 25 branches more: --all");
  expect(countRows((await run("usage", "--all")).out)).toBe(65);
});

test("USAGE-9: of a branch its checkpoints", async () => {
  const { store, run } = await makeStore();
  expect((await run("usage", "shop@attempt-2")).out).toMatch(/\nCHECKPOINT +VERSION +UNIQUE +SHARED\nbig +v2 +0 B +\S+ KiB$/m);
  expect((await cliResult<BranchUsageView>("--store", store, "usage", "shop@attempt-2")).checkpoints.map(({ name }) => name)).toEqual([
    "big",
  ]);
  expect(await cliError("--store", store, "usage", "shop@none")).toMatchObject({ code: "branch-not-found", exit: 4 });
});

test("USAGE-9: what branches would free, named or by pattern", async () => {
  const { store, run } = await makeStore();
  type Freed = FreedView & { branches: { branch: string }[] };
  const names = async (...args: string[]) =>
    (await cliResult<Freed>("--store", store, "usage", ...args)).branches.map(({ branch }) => branch);
  expect(await names("shop", "--free", "attempt-*")).toEqual(["attempt-1", "attempt-2", "attempt-3"]);
  expect(await names("--free", "shop@attempt-1,shop@*-2", "--free", "other@main")).toEqual(["attempt-1", "attempt-2", "main"]);
  expect(await names("shop", "--free", "attempt-?,mai?")).toEqual(["attempt-1", "attempt-2", "attempt-3", "main"]);
  expect(await names("shop", "--free", "attempt?2")).toEqual(["attempt-2"]);
  expect((await run("usage", "shop", "--free", "attempt-*")).out).toMatch(/would free +\S+ KiB\n[^]*protected +shop@attempt-3/);
  const one = await cliResult<Freed>("--store", store, "usage", "shop", "--free", "attempt-2");
  const { rows } = await cliResult<UsageView>("--store", store, "usage");
  expect(one.segmentBytes).toBe(rows[0]?.uniqueBytes);
  expect(await cliError("--store", store, "usage", "shop", "--free", "none-*")).toMatchObject({ code: "branch-not-found", exit: 4 });
  for (const wrong of [
    ["shop@main", "--free", "a"],
    ["--free", "main"],
    ["shop", "--free", "other@main"],
    ["shop", "--free", "A b"],
    ["shop", "--free", "a@b@c"],
  ])
    expect((await cliError("--store", store, "usage", ...wrong)).exit, wrong.join(" ")).toBe(2);
});

test("GC-3: gc --purge takes what is named out of the trash", async () => {
  const { store, run } = await makeStore();
  for (const branch of ["attempt-1", "attempt-2"]) await run("destroy", `shop@${branch}`);
  await run("drop", "other");
  expect(await cliError("--store", store, "gc", "--purge", "shop@main")).toMatchObject({ code: "branch-not-found", exit: 4 });
  const freed = await cliResult<GcReport>("--store", store, "gc", "--purge", "shop@attempt-2", "--purge", "other");
  expect(freed).toMatchObject({ dryRun: false, purged: ["other", "shop@attempt-2"] });
  expect(freed.bytesFreed).toBeGreaterThan(20_000);
  expect((await cliResult<TrashView[]>("--store", store, "trash")).map(({ name }) => name)).toEqual(["attempt-1"]);
});

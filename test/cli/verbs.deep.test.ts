import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type {
  BranchView,
  CacheView,
  CheckpointResult,
  DatabaseView,
  DoctorView,
  ForkResult,
  GcReport,
  HistoryView,
  MoveResult,
  OperationView,
  StoreView,
  TrashView,
  VerifyReport,
} from "#shared/views.ts";
import type { UsageView } from "#shared/usage-views.ts";
import { execute, makeNotes, query, temporaryFolder } from "../support/stores.ts";
import { cli, cliError, cliResult } from "./run-cli.ts";

/** A store with database `shop`, 100 notes. */
async function makeStore(): Promise<{ folder: string; store: string; run: (...args: string[]) => ReturnType<typeof cli> }> {
  const folder = temporaryFolder();
  const store = join(folder, "store");
  expect(await cli("init", store)).toEqual({ code: 0, out: `Made a store in ${store}\n`, err: "" });
  const created = await cli("--store", store, "create", "shop", "--from", makeNotes(join(folder, "notes.db")));
  expect(created.code, created.err).toBe(0);
  return { folder, store, run: (...args) => cli("--store", store, ...args) };
}

const list = async (store: string) => (await cliResult<{ branches: BranchView[] }>("--store", store, "ls", "shop")).branches;
const names = async (store: string) => (await list(store)).map(({ name }) => name);
const notes = (path: string) => query(path, "SELECT count(*) FROM notes")[0];

test("CLI-1: a branch's whole life: fork, change its file, checkpoint, roll back, promote, undo, redo", async () => {
  const { store, run } = await makeStore();
  expect((await run("fork", "shop", "try", "--meta", "who=me", "--ttl", "2h")).out).toBe("Forked try from main\n");
  const { out } = await run("checkout", "shop@try");
  const path = out.trimEnd();
  execute(path, "DELETE FROM notes WHERE id > 10");
  const saved = await cliResult<CheckpointResult>(
    "--store",
    store,
    "checkpoint",
    "shop@try",
    "small",
    "-m",
    "ten are enough",
    "--meta",
    "kind=cut",
  );
  expect(saved).toMatchObject({ version: 2, name: "small" });
  expect((await cliResult<MoveResult>("--store", store, "rollback", "shop@try", "--to", "v1", "--dry-run")).operation).toBeNull();
  expect(notes(path)).toEqual([10]);
  expect((await run("rollback", "shop@try", "--to", "v1")).out).toContain("Rolled back try v2 → v1");
  expect(notes(path)).toEqual([100]);
  expect((await run("undo")).code).toBe(0);
  expect(notes(path)).toEqual([10]);
  expect((await run("promote", "shop@try", "--onto", "main")).out).toContain("Promoted try → main");
  expect((await cliResult<HistoryView>("--store", store, "log", "shop")).branch.head).toBe(2);
  const [last] = (await cliResult<{ operations: OperationView[] }>("--store", store, "ops", "shop", "--limit", "1")).operations;
  expect((await run("undo", String(last?.id), "--dry-run")).out).toContain("main: v2 → v1");
  expect((await run("undo", String(last?.id))).code).toBe(0);
  expect((await run("redo")).code).toBe(0);
  expect((await cliResult<HistoryView>("--store", store, "log", "shop@main")).branch.head).toBe(2);
});

test("CLI-1: labels: rename, protect, touch, metadata, and the names of checkpoints", async () => {
  const { store, run } = await makeStore();
  for (const line of [
    ["fork", "shop", "try"],
    ["rename", "shop@try", "fix/one"],
    ["protect", "shop@fix/one"],
    ["meta", "shop@fix/one", "status=pass", "a=b=c"],
    ["meta", "shop@fix/one", "--unset", "status"],
  ]) {
    expect((await run(...line)).code, line.join(" ")).toBe(0);
  }
  expect((await list(store)).find(({ name }) => name === "fix/one")).toMatchObject({ protected: true, meta: { a: "b=c" } });
  expect((await run("meta", "shop@fix/one")).out).toBe("a  b=c\n");
  expect(await cliError("--store", store, "touch", "shop@fix/one", "--ttl", "1h")).toMatchObject({ code: "protected", exit: 3 });
  expect((await run("touch", "shop@fix/one", "--ttl", "1h", "--force")).code).toBe(0);
  expect((await run("unprotect", "shop@fix/one")).code).toBe(0);
  expect((await run("touch", "shop@fix/one", "--ttl", "none")).code).toBe(0);
  expect((await list(store)).find(({ name }) => name === "fix/one")).toMatchObject({ protected: false, ttlMs: null });
  expect((await run("checkpoint", "shop@fix/one", "start")).code).toBe(0);
  expect(await cliError("--store", store, "checkpoint", "shop@fix/one", "start")).toMatchObject({ code: "name-taken", exit: 3 });
  expect((await run("checkpoint", "shop@fix/one", "--rename", "start", "begin")).code).toBe(0);
  expect((await run("checkpoint", "shop@fix/one", "--delete", "begin")).code).toBe(0);
  expect(await cliError("--store", store, "fork", "shop@fix/one@begin", "x")).toMatchObject({ code: "checkpoint-not-found", exit: 4 });
  expect((await run("rename", "shop", "store")).code).toBe(0);
  expect((await cliResult<DatabaseView[]>("--store", store, "ls")).map(({ name }) => name)).toEqual(["store"]);
});

test("CLI-1: trash: destroy, drop, restore also under another name, gc, verify, usage, status", async () => {
  const { store, run } = await makeStore();
  const fork = await cliResult<ForkResult>("--store", store, "fork", "shop", "many", "--count", "12");
  expect(fork.branches.at(-1)).toBe("many-12");
  expect((await run("destroy", "shop@many-01")).code).toBe(0);
  expect((await cliResult<TrashView[]>("--store", store, "trash")).map(({ name }) => name)).toEqual(["many-01"]);
  expect((await run("restore", "shop@many-01", "--as", "back")).code).toBe(0);
  expect(await names(store)).toContain("back");
  expect((await run("drop", "shop")).code).toBe(0);
  expect(await cliError("--store", store, "ls", "shop")).toMatchObject({ code: "database-not-found", exit: 4 });
  expect((await run("restore", "shop")).code).toBe(0);
  expect((await run("destroy", "shop@back")).code).toBe(0);
  const planned = await cliResult<GcReport>("--store", store, "gc", "--all-trash", "--dry-run");
  expect(planned).toMatchObject({ dryRun: true, purged: ["shop@back"] });
  expect((await cliResult<TrashView[]>("--store", store, "trash")).length).toBe(1);
  expect((await cliResult<GcReport>("--store", store, "gc", "--all-trash")).purged).toEqual(["shop@back"]);
  expect((await run("trash")).out).toBe("");
  expect(await cliResult<VerifyReport>("--store", store, "verify")).toMatchObject({ ok: true, problems: [] });
  expect((await cliResult<UsageView>("--store", store, "usage", "shop")).rows.length).toBe(12);
  expect(await cliResult<StoreView>("--store", store, "status")).toMatchObject({ path: store, databases: 1, trashed: 0 });
  for (const verb of ["ls", "ops", "usage", "status", "verify", "gc"]) expect((await run(verb)).code, verb).toBe(0);
});

test("CLI-1: export writes a stock file of any state, and replaces one only when told", async () => {
  const { folder, store, run } = await makeStore();
  const file = join(folder, "out.db");
  expect((await run("export", "shop@main@v1", file)).code).toBe(0);
  expect(query(file, "SELECT count(*) FROM notes")).toEqual([[100]]);
  const before = readFileSync(file);
  expect(await cliError("--store", store, "export", "shop", file)).toMatchObject({ code: "file-exists", exit: 3 });
  expect(readFileSync(file).equals(before)).toBe(true);
  expect((await run("export", "shop", file, "--overwrite")).code).toBe(0);
});

test("CLI-2: checkout and path print the path and nothing else; an earlier state comes as a read-only file", async () => {
  const { store, run } = await makeStore();
  const { path } = await cliResult<{ path: string }>("--store", store, "path", "shop");
  expect(existsSync(path)).toBe(false);
  expect(await run("checkout", "shop")).toEqual({ code: 0, out: `${path}\n`, err: "" });
  expect(await run("path", "shop@main")).toEqual({ code: 0, out: `${path}\n`, err: "" });
  execute(path, "DELETE FROM notes");
  const old = await run("checkout", "shop@main@v1");
  expect(query(`${old.out.trimEnd()}`, "SELECT count(*) FROM notes")).toEqual([[100]]);
  const forked = await run("fork", "shop", "try");
  expect(forked.err).toContain("coppice: warning: shop@main has unsaved work");
  expect((await run("--quiet", "fork", "shop", "other")).err).toBe("");
});

test("CLI-3: ls takes the filter language and says how many it left out", async () => {
  const { run } = await makeStore();
  for (const name of ["fix/a", "fix/b", "try"]) await run("fork", "shop", name, "--meta", `status=${name === "fix/a" ? "pass" : "fail"}`);
  const { out, err } = await run("ls", "shop", "--filter", "name:fix/* -status:pass");
  expect(out.split("\n").filter((line) => line.startsWith("fix/"))).toHaveLength(1);
  expect(out).toContain("fix/b");
  expect(err).toBe("1 of 4 branches\n");
  expect(await cliError("ls", "shop", "--filter", "is:odd")).toMatchObject({ code: "bad-argument", exit: 2 });
});

test("CLI-4: the actor is who --actor says, in the operation log too", async () => {
  const { store, run } = await makeStore();
  await run("--actor", "agent-7", "fork", "shop", "a");
  await run("fork", "shop", "b");
  const { operations } = await cliResult<{ operations: OperationView[] }>("--store", store, "ops", "--by", "agent-7");
  expect(operations.map(({ summary }) => summary)).toEqual(["Forked a from main"]);
  expect((await run("--actor", "agent-7", "undo")).code).toBe(0);
  expect(await names(store)).toEqual(["main", "b"]);
});

test("CLI-23: doctor works with and without a store, and demo makes one once and prints where it is", async () => {
  const folder = temporaryFolder();
  vi.stubEnv("COPPICE_CONFIG_DIR", folder);
  vi.stubEnv("COPPICE_STORE", "");
  const made = await cli("demo");
  expect(made).toEqual({ code: 0, out: `${join(folder, "demo.coppice")}\n`, err: "" });
  const store = made.out.trimEnd();
  expect((await list(store)).length).toBe(20);
  expect((await cli("demo")).out).toBe(made.out);
  expect(await cliResult<DoctorView>("--store", store, "doctor")).toMatchObject({ store: { path: store, writable: true }, problems: [] });
  expect((await cli("--store", store, "doctor")).out).toContain("sqlite");
  expect(await cliError("serve", "--json")).toMatchObject({ code: "bad-argument", exit: 2 });
  vi.unstubAllEnvs();
});

test("CLI-27: caches are shown, bounded and cleared", async () => {
  const { store, run } = await makeStore();
  const { out } = await run("cache", "--budget", "10MB");
  expect(out).toMatch(/^CACHE +FILES +SIZE\nready files +0 +0 B\n/);
  expect(out).toMatch(/budget of ready files +10\.0 MiB\n$/);
  expect(await cliResult<CacheView>("--store", store, "cache")).toMatchObject({ budgetBytes: 10 * 1024 ** 2, budgetIsDefault: false });
  await run("open", "shop@main@v1");
  await run("checkout", "shop@main@v1");
  expect(await cliResult<CacheView>("--store", store, "cache", "--budget", "default", "--clear")).toMatchObject({ budgetIsDefault: true });
  expect((await run("cache", "--budget", "much")).code).toBe(2);
  expect((await run("usage")).out).toMatch(/\nready files +0 B\nread-only files +0 B\nshadows +\d/);
});

import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BranchView, HistoryView, TrashView } from "#shared/views.ts";
import { makeNotes, query, temporaryFolder } from "../support/stores.ts";
import { cli, cliError, cliResult, startCli } from "./run-cli.ts";

async function makeStore(): Promise<{ folder: string; store: string }> {
  const folder = temporaryFolder();
  const store = join(folder, "store");
  await cli("init", store);
  expect((await cli("--store", store, "create", "shop", "--from", makeNotes(join(folder, "notes.db")))).code).toBe(0);
  return { folder, store };
}

const DELETE = ["sqlite3", "{}", "DELETE FROM notes WHERE id > 10; SELECT count(*) FROM notes"];
const branches = async (store: string) => (await cliResult<{ branches: BranchView[] }>("--store", store, "ls", "shop")).branches;

test("CLI-13: open runs a program on the branch's file, passes its output and exit code on, and checkpoints on success", async () => {
  const { store } = await makeStore();
  const good = await startCli(["--store", store, "open", "shop", "--checkpoint", "small", "--", ...DELETE]).ended;
  expect([good.code, good.out]).toEqual([0, "10\n"]);
  expect(good.err).toContain("Checkpoint small (v2) on main");
  const bad = await startCli([
    "--store",
    store,
    "open",
    "shop",
    "--checkpoint",
    "never",
    "--",
    "sh",
    "-c",
    'echo "$0" "$COPPICE_PATH"; exit 7',
  ]).ended;
  expect(bad.code).toBe(7);
  const [appended, inEnvironment] = bad.out.trimEnd().split(" ");
  expect(appended).toBe(inEnvironment);
  expect(bad.err).toContain("ended with 7: no checkpoint was made");
  const { versions } = await cliResult<HistoryView>("--store", store, "log", "shop");
  expect(versions.flatMap(({ checkpoints }) => checkpoints.map(({ name }) => name))).toEqual(["small"]);
});

test("CLI-13: a program that is not there, or a state that cannot change, is refused", async () => {
  const { store } = await makeStore();
  expect(await cliError("--store", store, "open", "shop", "--", "no-such-program-here")).toMatchObject({ code: "file-not-found", exit: 4 });
  expect(await cliError("--store", store, "open", "shop@main@v1", "--checkpoint", "x", "--", "true")).toMatchObject({
    code: "bad-argument",
    exit: 2,
  });
});

test("CLI-14: with --json the program's output goes to stderr, and stdout is one object", async () => {
  const { store } = await makeStore();
  const { code, out, err } = await startCli(["--store", store, "--json", "open", "shop@main@v1", "--", "sh", "-c", "echo hello; exit 3"])
    .ended;
  expect([code, err]).toEqual([3, "hello\n"]);
  expect(JSON.parse(out)).toMatchObject({ ok: true, result: { exitCode: 3, checkpoint: null } });
});

test("CLI-15: run works on a throw-away fork, which is in the trash afterwards, whatever came of it", async () => {
  const { store } = await makeStore();
  const ran = await startCli(["--store", store, "run", "--fork", "shop", "--", ...DELETE]).ended;
  expect([ran.code, ran.out, ran.err]).toEqual([0, "10\n", ""]);
  expect((await startCli(["--store", store, "run", "--fork", "shop@main@v1", "--", "sh", "-c", "exit 9"]).ended).code).toBe(9);
  expect((await branches(store)).map(({ name }) => name)).toEqual(["main"]);
  expect((await cliResult<TrashView[]>("--store", store, "trash")).every(({ name }) => name.startsWith("run-"))).toBe(true);
  expect((await cliResult<{ path: string }>("--store", store, "checkout", "shop")).path).toSatisfy(
    (path: string) => String(query(path, "SELECT count(*) FROM notes")) === "100",
  );
});

test("CLI-15: run --keep leaves the fork and names it", async () => {
  const { store } = await makeStore();
  const { err } = await startCli(["--store", store, "run", "--fork", "shop", "--keep", "--", ...DELETE]).ended;
  const kept = /^Kept as shop@(run-\S+)$/m.exec(err)?.[1];
  const branch = (await branches(store)).find(({ name }) => name === kept);
  expect(branch).toMatchObject({ ttlMs: null, checkout: { state: "unsaved" } });
});

test("CLI-16: a signal reaches the program that runs, and the fork is destroyed after it", async () => {
  const { folder, store } = await makeStore();
  const ready = join(folder, "ready");
  const { child, ended } = startCli(["--store", store, "run", "--fork", "shop", "--", "sh", "-c", `touch '${ready}'; exec sleep 60`]);
  while (!existsSync(ready)) await new Promise((settle) => setTimeout(settle, 20));
  child.kill("SIGTERM");
  expect((await ended).code).toBe(143);
  expect((await branches(store)).map(({ name }) => name)).toEqual(["main"]);
});

test("CLI-17: a reader that has seen enough is no error", async () => {
  const { store } = await makeStore();
  await cli("--store", store, "fork", "shop", "many", "--count", "2000");
  const { child, ended } = startCli(["--store", store, "ls", "shop"]);
  child.stdout?.destroy();
  await once(child, "exit");
  expect(await ended).toMatchObject({ code: 0, err: "" });
});

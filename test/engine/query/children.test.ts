import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { EngineError } from "#engine/io/errors.ts";
import { QueryChildren } from "#engine/query/query-children.ts";
import type { ScriptOrder } from "#engine/query/query-protocol.ts";
import { makeNotes, temporaryFolder } from "../../support/stores.ts";

const ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";
const failure = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

function order(path: string, sql: string, more: Partial<ScriptOrder> = {}): ScriptOrder {
  return {
    path,
    isShared: false,
    busyMs: 100,
    sql,
    mode: "read",
    rowsMax: null,
    charsMax: null,
    valueBytesMax: 1000,
    expectChanges: null,
    withDigest: false,
    ...more,
  };
}

function start(): QueryChildren {
  const children = new QueryChildren();
  onTestFinished(() => children.close());
  return children;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("SQL-11: a file that is gone, with its folder or without, is told as such, so that it can be made once more", async () => {
  const folder = temporaryFolder();
  const children = start();
  for (const path of [join(folder, "gone.db"), join(folder, "gone", "gone.db")])
    expect(await failure(children.run("classify", order(path, "SELECT 1")))).toMatchObject({ code: "file-not-found" });
});

test("SQL-12: rows are made no faster than they are taken", async () => {
  const path = makeNotes(join(temporaryFolder(), "notes.db"));
  let taken = 0;
  let resident = 0;
  const children = start();
  const stop = new AbortController();
  const ran = failure(
    children.run("script", order(path, `${ENDLESS} i, zeroblob(500) FROM n`), { signal: stop.signal }, async (event) => {
      if (event.kind !== "rows") return;
      taken += 1;
      if (taken === 3) {
        // All this time the reader does not ask: the process must not go on by itself.
        const before = taken;
        await new Promise((settle) => setTimeout(settle, 600));
        expect(taken).toBe(before);
        resident = Number(/VmRSS:\s+(\d+)/.exec((await import("node:fs")).readFileSync(`/proc/${children.pids[0]}/status`, "utf8"))?.[1]);
        stop.abort();
      }
    }),
  );
  expect(await ran).toMatchObject({ code: "cancelled" });
  expect(resident).toBeLessThan(300_000);
});

test("SQL-13: processes are reused, a killed one is replaced, and no more run than there may", async () => {
  const path = makeNotes(join(temporaryFolder(), "notes.db"));
  const children = start();
  const ask = () => children.run("script", order(path, "SELECT 1"));
  await ask();
  const [first = 0] = children.pids;
  await ask();
  expect(children.pids).toEqual([first]);
  process.kill(first, "SIGKILL");
  await failure(ask());
  expect(await ask()).toMatchObject({ isComplete: true });
  await Promise.all(Array.from({ length: 12 }, ask));
  const { availableParallelism } = await import("node:os");
  expect(children.pids.length).toBeLessThanOrEqual(availableParallelism() + 1);
  const pids = [...children.pids];
  await children.close();
  expect(pids.filter(isAlive)).toEqual([]);
  expect(await failure(ask())).toMatchObject({ code: "cancelled" });
});

test("SQL-14: a process that dies by itself fails its job, and says that nothing uncommitted is there", async () => {
  const path = makeNotes(join(temporaryFolder(), "notes.db"));
  const children = start();
  const ran = failure(children.run("script", order(path, `${ENDLESS} count(*) FROM n`)));
  while (children.pids.length === 0) await new Promise((settle) => setTimeout(settle, 5));
  process.kill(children.pids[0] ?? 0, "SIGKILL");
  expect(await ran).toMatchObject({ code: "worker-died", retryable: true });
});

test("SQL-17: a reader who fails gives the reason, not the end of the process that was stopped for it", async () => {
  const path = makeNotes(join(temporaryFolder(), "notes.db"));
  const children = start();
  const full = new EngineError("disk-full", "Cannot write: the disk is full");
  const ran = children.run("script", order(path, `${ENDLESS} i FROM n`), {}, (event) => {
    if (event.kind === "rows") throw full;
  });
  expect(await failure(ran)).toBe(full);
  expect(await children.run("script", order(path, "SELECT 1"))).toMatchObject({ isComplete: true });
});

test("SQL-15: a query does not outlive a program that was killed", async () => {
  const path = makeNotes(join(temporaryFolder(), "notes.db"));
  const script = `
    import { QueryChildren } from ${JSON.stringify(import.meta.resolve("#engine/query/query-children.ts"))};
    const children = new QueryChildren();
    const input = ${JSON.stringify(order(path, `SELECT 1; ${ENDLESS} count(*) FROM n`))};
    void children.run("script", input, {}, (event) => { if (event.kind === "rows") console.log(children.pids[0]); });`;
  const program = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const pid = await new Promise<number>((settle) => program.stdout.once("data", (text: Buffer) => settle(Number(text))));
  expect(isAlive(pid)).toBe(true);
  program.kill("SIGKILL");
  for (let turn = 0; turn < 200 && isAlive(pid); turn += 1) await new Promise((settle) => setTimeout(settle, 50));
  expect(isAlive(pid)).toBe(false);
});

import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { EngineError } from "#engine/io/errors.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { createFallback } from "#engine/io/native-fallback.ts";
import { nodeDisk as disk } from "#engine/io/node-disk.ts";
import { ProcessLock } from "#engine/io/process-lock.ts";
import { startScript, type Script } from "../../support/run-script.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";

const addon = loadNative();
const kinds = [
  { name: "range lock", native: addon, environment: {} },
  { name: "SQLite lock", native: createFallback("for the test"), environment: { COPPICE_NATIVE: "off" } },
].filter(({ native, name }) => native.hasRangeLocks || name === "SQLite lock");

const moduleUrl = (name: string): string => JSON.stringify(new URL(`../../../src-main/engine/io/${name}.ts`, import.meta.url).href);
const PRELUDE = `
  import { ProcessLock } from ${moduleUrl("process-lock")};
  import { loadNative } from ${moduleUrl("load-native")};
  import { nodeDisk as disk } from ${moduleUrl("node-disk")};
  const open = (path) => ProcessLock.open(path, { disk, native: loadNative() });
`;

const lockPath = (): string => join(makeTemporaryFolder(), "some.lock");

const busyOf = (lock: ProcessLock): EngineError => {
  try {
    lock.acquire(20);
  } catch (error) {
    if (error instanceof EngineError) return error;
  }
  throw new Error("the lock was not busy");
};

describe.each(kinds)("$name", ({ native, environment }) => {
  const open = (path: string): ProcessLock => {
    const lock = ProcessLock.open(path, { disk, native });
    onTestFinished(() => lock.close());
    return lock;
  };
  const startHolder = (path: string, mode = "exclusive"): Script => {
    const script = startScript(
      `${PRELUDE} open(${JSON.stringify(path)}).acquire(0, "${mode}"); console.log("held"); setInterval(() => {}, 1e6);`,
      environment,
    );
    onTestFinished(script.kill);
    return script;
  };
  test("LOCK-1: two locks of one process exclude each other", () => {
    const path = lockPath();
    const [a, b] = [open(path), open(path)];
    a.acquire(0);
    expect(b.tryAcquire()).toBe(false);
    expect(b.tryAcquire("shared")).toBe(false);
    a.release();
    expect(b.tryAcquire()).toBe(true);
    expect(a.tryAcquire("shared")).toBe(false);
    b.release();
  });

  test("LOCK-2: many share it, and none of them has it alone", () => {
    const path = lockPath();
    const [a, b, c] = [open(path), open(path), open(path)];
    a.acquire(0, "shared");
    b.acquire(0, "shared");
    expect(c.tryAcquire()).toBe(false);
    a.release();
    expect(c.tryAcquire()).toBe(false);
    b.release();
    expect(c.tryAcquire()).toBe(true);
    c.release();
  });

  test("LOCK-3: one lock is taken once: again fails without changing what is held", () => {
    const path = lockPath();
    const [a, b] = [open(path), open(path)];
    a.acquire(0);
    expect(a.tryAcquire("shared")).toBe(false);
    expect(() => a.acquire(0)).toThrow("assertion");
    expect(b.tryAcquire("shared")).toBe(false);
    a.release();
    expect(() => a.release()).toThrow("assertion");
  });

  test("LOCK-4: another process keeps it; the error names that process and its program", async () => {
    const path = lockPath();
    const lock = open(path);
    const holder = startHolder(path);
    expect(await holder.nextLine()).toBe("held");
    const error = busyOf(lock);
    expect(error).toMatchObject({ code: "store-busy", retryable: true, untouched: "Nothing was changed." });
    expect(error.details.holders).toEqual([{ pid: holder.pid, program: "node", access: "writing" }]);
    expect(error.message).toContain(`node (pid ${holder.pid})`);
    expect(error.message).toContain(path);
  });

  test("LOCK-5: a holder that is killed gives it back", async () => {
    const path = lockPath();
    const lock = open(path);
    const holder = startHolder(path);
    await holder.nextLine();
    expect(lock.tryAcquire()).toBe(false);
    await holder.kill();
    expect(lock.tryAcquire()).toBe(true);
  });

  test("LOCK-6: a stopped holder is named after a bounded wait, and nobody hangs", async () => {
    const path = lockPath();
    const holder = startHolder(path);
    await holder.nextLine();
    holder.signal("SIGSTOP");
    expect(busyOf(open(path)).details.holders).toMatchObject([{ pid: holder.pid }]);
    holder.signal("SIGCONT");
  });

  test("LOCK-7: a waiter gets it when it is given back", async () => {
    const path = lockPath();
    const lock = open(path);
    lock.acquire(0);
    const waiter = startScript(
      `${PRELUDE} const lock = open(${JSON.stringify(path)}); console.log("waiting"); lock.acquire(20_000); console.log("got it"); lock.close();`,
      environment,
    );
    onTestFinished(waiter.kill);
    await waiter.nextLine();
    lock.release();
    expect(await waiter.nextLine()).toBe("got it");
    expect(await waiter.end()).toBe(0);
  });

  test("LOCK-8: three processes that count in a file never lose a step", async () => {
    const path = lockPath();
    const counter = `${path}.count`;
    writeFileSync(counter, "0");
    const source = `${PRELUDE}
      import { readFileSync, writeFileSync } from "node:fs";
      const lock = open(${JSON.stringify(path)});
      for (let step = 0; step < 50; step += 1) {
        lock.acquire(60_000);
        writeFileSync(${JSON.stringify(counter)}, String(Number(readFileSync(${JSON.stringify(counter)}, "utf8")) + 1));
        lock.release();
      }
      lock.close();`;
    const scripts = Array.from({ length: 3 }, () => startScript(source, environment));
    expect(await Promise.all(scripts.map((script) => script.end()))).toEqual([0, 0, 0]);
    expect(readFileSync(counter, "utf8")).toBe("150");
  });

  test("LOCK-9: a worker thread that is ended gives it back", async () => {
    const path = lockPath();
    const lock = open(path);
    const worker = new Worker(
      new URL(
        `data:text/javascript,${encodeURIComponent(`${PRELUDE} import { parentPort } from "node:worker_threads"; open(${JSON.stringify(path)}).acquire(0); parentPort.postMessage("held"); setInterval(() => {}, 1e6);`)}`,
      ),
      { env: { ...process.env, ...environment } },
    );
    onTestFinished(async () => void (await worker.terminate()));
    await once(worker, "message");
    expect(lock.tryAcquire()).toBe(false);
    await worker.terminate();
    expect(lock.tryAcquire()).toBe(true);
  });

  test("LOCK-10: a folder that is missing is said to be so", () => {
    expect(() => ProcessLock.open(join(makeTemporaryFolder(), "missing", "some.lock"), { disk, native })).toThrow(
      expect.objectContaining({ code: "file-not-found" }),
    );
  });

  test("LOCK-11: closing gives it back, and what the file holds from others does not matter", () => {
    const path = lockPath();
    writeFileSync(path, "something else\n".repeat(20));
    const first = ProcessLock.open(path, { disk, native });
    first.acquire(0);
    expect(readFileSync(path, "utf8").split("\n")[0]).toBe(`${process.pid} node`);
    first.close();
    expect(open(path).tryAcquire()).toBe(true);
  });
});

test.runIf(addon.hasRangeLocks)("LOCK-12: who takes it again and again writes nothing", () => {
  const path = join(makeTemporaryFolder(), "some.lock");
  const lock = ProcessLock.open(path, { disk, native: addon });
  lock.acquire(0);
  lock.release();
  const before = statSync(path, { bigint: true });
  for (let round = 0; round < 1000; round += 1) {
    lock.acquire(0);
    lock.release();
  }
  expect(statSync(path, { bigint: true }).mtimeNs).toBe(before.mtimeNs);
  lock.close();
});

test.runIf(addon.hasRangeLocks)("LOCK-13: those who share it are named, too", async () => {
  const path = join(makeTemporaryFolder(), "some.lock");
  const lock = ProcessLock.open(path, { disk, native: addon });
  onTestFinished(() => lock.close());
  const holder = startScript(
    `${PRELUDE} open(${JSON.stringify(path)}).acquire(0, "shared"); console.log("held"); setInterval(() => {}, 1e6);`,
  );
  onTestFinished(holder.kill);
  await holder.nextLine();
  expect(() => lock.acquire(20)).toThrow(
    expect.objectContaining({
      details: expect.objectContaining({ holders: [{ pid: holder.pid, program: "node", access: "reading" }] }) as unknown,
    }),
  );
});

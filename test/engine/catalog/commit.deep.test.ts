import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { Catalog } from "#engine/catalog/catalog.ts";
import { CommitQueue } from "#engine/catalog/commit-queue.ts";
import { checkIntegrity } from "#engine/catalog/integrity.ts";
import { EngineError } from "#engine/io/errors.ts";
import { setFaultHandler } from "#engine/io/faults.ts";
import { ProcessLock } from "#engine/io/process-lock.ts";
import { Drafts, START, v } from "./drafts.ts";
import { emptyCatalog, failure, PORTS, present, reopen, shopCatalog, STORE_UID, temporaryFolder } from "./fixture.ts";

const COMMITTER = join(import.meta.dirname, "committer.ts");

interface Committer {
  readonly acknowledged: string[];
  readonly pid: number;
  readonly done: Promise<unknown>;
  kill(signal: NodeJS.Signals): void;
}

function startCommitter(path: string, seed: number, count: number, inFlight: number, fault = ""): Committer {
  const child = spawn(process.execPath, [COMMITTER, path, String(seed), String(count), String(inFlight)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, COPPICE_FAULT: fault },
  });
  let text = "";
  const acknowledged: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    acknowledged.push(...lines);
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { acknowledged, pid: present(child.pid), done: once(child, "close"), kill: (signal) => void child.kill(signal) };
}

afterEach(() => setFaultHandler(null));

describe("commit", () => {
  test("COMMIT-1: what was acknowledged survives kill -9 at any moment", async () => {
    const { catalog, shop } = await shopCatalog();
    const acknowledged: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const child = startCommitter(catalog.path, 100 + round, 1_000_000, round % 2 === 0 ? 1 : 16);
      const enough = 5 + round * 17;
      while (child.acknowledged.length < enough) await new Promise((resolve) => setTimeout(resolve, 1));
      child.kill("SIGKILL");
      await child.done;
      acknowledged.push(...child.acknowledged);
    }
    for (const name of acknowledged) expect(catalog.branches.byName(shop.id, name), name).not.toBeNull();
    expect(checkIntegrity(catalog)).toEqual([]);
  }, 120_000);

  test.each(["commit:begun", "commit:applied", "commit:done"])(
    "COMMIT-1: killed at %s, a process leaves all of an operation or nothing",
    async (point) => {
      const { catalog, shop } = await shopCatalog();
      catalog.close();
      for (const nth of [1, 3]) {
        const child = startCommitter(catalog.path, nth, 10, 1, `${point}:kill:${nth}`);
        await child.done;
        const after = reopen(catalog.path);
        const committed = nth - (point === "commit:done" ? 0 : 1);
        expect(child.acknowledged).toHaveLength(nth - 1);
        expect(after.branches.names(shop.id, `p${nth}-`, 99)).toHaveLength(committed);
        expect(checkIntegrity(after)).toEqual([]);
      }
    },
    120_000,
  );

  test("COMMIT-2: callers in flight share commits, and a refused draft takes no other with it", async () => {
    const { catalog, drafts, shop, branch, fork } = await shopCatalog();
    await fork("main", "taken");
    let commits = 0;
    setFaultHandler((point) => {
      if (point === "commit:begun") commits += 1;
    });
    const main = branch("main");
    const names = Array.from({ length: 64 }, (_, caller) => (caller % 16 === 3 ? "taken" : `caller-${caller}`));
    const results = await Promise.allSettled(names.map((name) => catalog.commit(drafts.fork(main, [name]))));
    expect(commits).toBe(1);
    const outcomes = results.map((result) => (result.status === "fulfilled" ? "made" : (result.reason as EngineError).code));
    expect(outcomes).toEqual(names.map((name) => (name === "taken" ? "name-taken" : "made")));
    const ids = results.flatMap((result) => (result.status === "fulfilled" ? [result.value.id] : []));
    expect(ids).toEqual(Array.from({ length: 60 }, (_, index) => index + 3));
    expect(catalog.branches.count(shop.id)).toBe(62);
    expect(catalog.lastOperation()).toBe(62);

    // Callers that come back at once are together again in the next commit.
    commits = 0;
    await Promise.all(
      Array.from({ length: 64 }, async (_, caller) => {
        for (let turn = 0; turn < 5; turn += 1) await catalog.commit(drafts.fork(main, [`again-${caller}-${turn}`]));
      }),
    );
    expect(commits).toBe(5);
  });

  test.each([2, 8])(
    "COMMIT-3: %i processes commit at once, every operation stands exactly once and ids are dense",
    async (processes) => {
      const { catalog, shop } = await shopCatalog();
      const each = processes === 2 ? 80 : 25;
      const children = Array.from({ length: processes }, (_, seed) => startCommitter(catalog.path, seed + 1, each, seed % 2 === 0 ? 1 : 8));
      await Promise.all(children.map(({ done }) => done));
      for (const child of children) expect(child.acknowledged).toHaveLength(each);
      expect(catalog.branches.count(shop.id)).toBe(processes * each + 1);
      const operations = catalog.operations.page({}, null, 10_000);
      expect(operations.map(({ id }) => id)).toEqual(
        Array.from({ length: processes * each + 1 }, (_, index) => processes * each + 1 - index),
      );
      expect(new Set(operations.map(({ uid }) => Buffer.from(uid).toString("hex"))).size).toBe(operations.length);
      expect(catalog.lastOperation()).toBe(operations.length);
      expect(checkIntegrity(catalog)).toEqual([]);
    },
    120_000,
  );

  test.each(["commit:begun", "commit:applied"] as const)(
    "COMMIT-4: a failure at %s changes nothing, and the next commit works",
    async (failing) => {
      const { catalog, branch, drafts, fork } = await shopCatalog();
      setFaultHandler((point) => {
        if (point === failing) throw new EngineError("io-failed", "injected");
      });
      const results = await Promise.allSettled([
        catalog.commit(drafts.fork(branch("main"), ["a"])),
        catalog.commit(drafts.fork(branch("main"), ["b"])),
      ]);
      for (const result of results) expect(result).toMatchObject({ reason: { code: "io-failed", untouched: "Nothing was changed." } });
      setFaultHandler(null);
      expect(catalog.lastOperation()).toBe(1);
      expect((await fork("main", "a")).id).toBe(2);
    },
  );

  test("COMMIT-5: when COMMIT fails, the operation is looked up by its uid and the caller told what is true", async () => {
    const { catalog, drafts, branch, fork } = await shopCatalog();
    // After COMMIT: it is there.
    setFaultHandler((point) => {
      if (point === "commit:done") throw new Error("injected: the answer was lost");
    });
    const [one, two] = await Promise.all([fork("main", "a"), catalog.commit(drafts.fork(branch("main"), ["b"]))]);
    setFaultHandler(null);
    expect([one.id, two.id]).toEqual([2, 3]);
    expect(catalog.operations.byId(two.id)).toEqual(two);
    // Instead of COMMIT: it is not.
    setFaultHandler((point) => {
      if (point === "commit:applied") catalog.connection.execute("ROLLBACK");
    });
    const error = await failure(() => fork("main", "c"));
    setFaultHandler(null);
    expect(error).toMatchObject({ retryable: true, untouched: "The operation was not made; nothing was changed." });
    expect((await fork("main", "c")).id).toBe(4);
    expect(checkIntegrity(catalog)).toEqual([]);
  });

  test("COMMIT-5: when nothing can be read back, the outcome is called unknown", async () => {
    const folder = temporaryFolder();
    const { catalog, drafts, shop, branch } = await shopCatalog(emptyCatalog(folder));
    setFaultHandler((point) => {
      if (point !== "commit:done") return;
      for (const ending of ["", "-wal", "-shm"]) rmSync(`${catalog.path}${ending}`);
      throw new Error("injected: the disk went away");
    });
    const main = branch("main");
    expect((await failure(() => catalog.commit(drafts.fork(main, ["a"])))).code).toBe("outcome-unknown");
    setFaultHandler(null);
    // What is asked next looks at the disk again.
    expect((await failure(() => catalog.branches.count(shop.id))).code).toBe("store-not-found");
    await expect(catalog.commit(drafts.fork(main, ["b"]))).rejects.toMatchObject({ code: "store-not-found" });
  });

  test("COMMIT-6: on a full disk commits fail with nothing changed, reading goes on, and commits work again when there is room", async () => {
    const folder = smallDisk(3 * 1024 * 1024);
    if (!folder) return;
    const { catalog, drafts, shop, branch, fork } = await shopCatalog(emptyCatalog(folder));
    writeFileSync(join(folder, "ballast"), "");
    const filled = spawnSync("dd", ["if=/dev/zero", `of=${join(folder, "ballast")}`, "bs=4096"]);
    expect(filled.status).not.toBe(0);
    let error: EngineError | null = null;
    let made = 0;
    while (!error && made < 10_000) {
      try {
        const names = Array.from({ length: 500 }, (_, index) => `full-${made}-${index}`);
        await catalog.commit(drafts.fork(branch("main"), names));
        made += 1;
      } catch (cause) {
        error = cause as EngineError;
      }
    }
    expect(error?.code).toBe("disk-full");
    expect(error?.untouched).toContain("othing was changed");
    expect(catalog.branches.count(shop.id)).toBe(made * 500 + 1);
    expect(catalog.lastOperation()).toBe(made + 1);
    rmSync(join(folder, "ballast"));
    await fork("main", "room");
    expect(checkIntegrity(catalog)).toEqual([]);
    catalog.close();
    expect(reopen(catalog.path).branches.byName(shop.id, "room")).not.toBeNull();
  });

  test("COMMIT-7: a stopped holder of the lock is named, and reading goes on", async () => {
    const { catalog, shop, branch, drafts } = await shopCatalog();
    const child = startCommitter(catalog.path, 1, 1_000_000, 64);
    while (child.acknowledged.length < 10) await new Promise((resolve) => setTimeout(resolve, 1));
    const lock = ProcessLock.open(join(catalog.path, "..", "catalog.lock"), PORTS);
    onTestFinished(() => lock.close());
    // As the catalog's own queue, but less patient.
    const queue = new CommitQueue(catalog.connection, { acquire: () => lock.acquire(300), release: () => lock.release() }, () => {});
    const error = await stopInsideCommit(catalog, child, () => queue.push(drafts.fork(branch("main"), ["waits"])));
    expect(error).toMatchObject({ code: "store-busy", retryable: true, details: { holders: [{ pid: child.pid }] } });
    expect(catalog.branches.byName(shop.id, "waits")).toBeNull();
    child.kill("SIGKILL");
    await child.done;
    await catalog.commit(drafts.fork(branch("main"), ["goes"]));
  }, 120_000);

  test("COMMIT-8: a fact is stored without an operation, and for all processes", async () => {
    const { catalog, branch } = await shopCatalog();
    const other = reopen(catalog.path);
    const { id } = branch("main");
    const fact = { base: v(1), content: v(1), fingerprint: "abc" };
    catalog.setFact(id, fact);
    expect(other.fact(id)).toEqual(fact);
    other.setFact(id, null, START + 99);
    expect(catalog.fact(id)).toBeNull();
    expect(branch("main").touchedAt).toBe(START + 99);
    expect(catalog.lastOperation()).toBe(1);
    expect(catalog.connection.pragma("synchronous")).toBe(2);
  });

  test("COMMIT-9: the last operation's id follows the commits of others", async () => {
    const { catalog, drafts, branch } = await shopCatalog();
    const other = reopen(catalog.path);
    expect(other.lastOperation()).toBe(1);
    await catalog.commit(drafts.fork(branch("main"), ["a"]));
    expect([catalog.lastOperation(), other.lastOperation()]).toEqual([2, 2]);
    await other.commit(new Drafts(7).fork(branch("main"), ["b"]));
    expect([catalog.lastOperation(), other.lastOperation()]).toEqual([3, 3]);
  });

  test("COMMIT-10: closing commits what waits", async () => {
    const { catalog, drafts, branch, fork, shop } = await shopCatalog();
    const late = drafts.fork(branch("main"), ["late"]);
    const waiting = fork("main", "a");
    catalog.close();
    expect((await waiting).id).toBe(2);
    await expect(catalog.commit(late)).rejects.toThrow("a closed catalog is not used");
    expect(() => catalog.lastOperation()).toThrow("a closed catalog is not used");
    expect(reopen(catalog.path).branches.byName(shop.id, "a")).not.toBeNull();
  });

  test("COMMIT-11: a snapshot sees one state, whatever others commit", async () => {
    const { catalog, drafts, branch, shop } = await shopCatalog();
    const other = reopen(catalog.path);
    const main = branch("main");
    catalog.snapshot(() => {
      expect(catalog.branches.count(shop.id)).toBe(1);
      other.setFact(main.id, { base: v(1), content: v(1), fingerprint: null });
      expect(catalog.fact(main.id)).toBeNull();
    });
    expect(catalog.fact(main.id)).not.toBeNull();
    await catalog.commit(drafts.fork(main, ["after"]));
  });
});

/** Stops the child while it holds the lock: tries until our commit times out. */
async function stopInsideCommit(catalog: Catalog, child: Committer, commit: () => Promise<unknown>): Promise<unknown> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    child.kill("SIGSTOP");
    const lock = join(catalog.path, "..", "catalog.lock");
    if (readFileSync("/proc/locks", "utf8").includes(`OFDLCK ADVISORY  WRITE -1 ${fileId(lock)}`)) {
      return commit().then(
        () => null,
        (error: unknown) => error,
      );
    }
    child.kill("SIGCONT");
    await new Promise((resolve) => setTimeout(resolve, 1 + (attempt % 7)));
  }
  throw new Error("the child was never stopped inside a commit");
}

/** As /proc/locks writes it: major:minor:inode. */
function fileId(path: string): string {
  const { dev, ino } = statSync(path);
  const [major = "", minor = ""] = [Math.floor(dev / 256) % 4096, dev % 256].map((value) => value.toString(16).padStart(2, "0"));
  return `${major}:${minor}:${ino}`;
}

/** A filesystem of that size, unmounted after the test; null, saying so, where this process may not mount one. */
function smallDisk(bytes: number): string | null {
  const folder = temporaryFolder();
  const disk = join(folder, "disk");
  mkdirSync(disk);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "none", disk], { encoding: "utf8" });
  if (mounted.status === 0) {
    onTestFinished(() => void spawnSync("umount", ["-l", disk]));
    return disk;
  }
  expect((process.env["COPPICE_REQUIRE"] ?? "").includes("filesystems"), `mounting a small disk: ${mounted.stderr}`).toBe(false);
  console.warn(`skipped: cannot mount a small disk: ${mounted.stderr}`);
  return null;
}

test("COMMIT-12: a failing rename leaves no catalog behind", () => {
  const path = join(temporaryFolder(), "catalog.db");
  const disk = {
    ...PORTS.disk,
    rename: () => {
      throw new EngineError("disk-full", "injected");
    },
  };
  expect(() => Catalog.create(path, { ...PORTS, disk }, { uid: STORE_UID, at: START })).toThrow("injected");
  expect(existsSync(path)).toBe(false);
  Catalog.create(path, PORTS, { uid: STORE_UID, at: START });
});

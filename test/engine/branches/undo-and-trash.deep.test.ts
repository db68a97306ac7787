import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EngineError, openStore } from "#engine/store.ts";
import { execute, makeShop, query, SHOP } from "../../support/stores.ts";

const count = (path: string): number => Number((query(path, "SELECT count(*) FROM notes")[0] as number[])[0]);

async function codeOf(act: Promise<unknown>): Promise<string> {
  return act.then(
    () => "no error",
    (error: unknown) => (error instanceof EngineError ? error.code : String(error)),
  );
}

test("REVERSE-1: undo takes the caller's own last operation", async () => {
  const { store } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "mine" });
  const other = await openStore(store.path, { actor: "bob", ownProcess: true });
  try {
    await other.fork({ ...SHOP, newBranch: "theirs" });
    const { undone } = await store.undo({});
    expect(undone.map((operation) => operation.summary)).toEqual(["Forked mine from main"]);
    expect(await codeOf(other.redo({}))).toBe("nothing-to-undo");
    expect((await store.branches({ database: "shop" })).branches.map((branch) => branch.name)).toEqual(["main", "theirs"]);
  } finally {
    await other.close();
  }
});

test("REVERSE-2: undoing a checkpoint leaves the file alone, and checkpointing again saves it", async () => {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes WHERE id > 5");
  await store.checkpoint({ ...SHOP, name: "five" });
  await store.undo({});
  expect({ rows: count(main), head: (await store.branch(SHOP)).head, state: (await store.branch(SHOP)).checkout.state }).toEqual({
    rows: 5,
    head: 1,
    state: "unsaved",
  });
  execute(main, "DELETE FROM notes WHERE id > 3");
  const again = await store.checkpoint({ ...SHOP, name: "three" });
  await store.fork({ ...SHOP, newBranch: "look", at: "three" });
  expect({ rows: count((await store.checkout({ database: "shop", branch: "look" })).path), version: again.version }).toEqual({
    rows: 3,
    version: 3,
  });
});

test("REVERSE-3: an operation with later ones on it is refused with the chain, or undone with it", async () => {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes WHERE id > 5");
  const first = await store.checkpoint({ ...SHOP, name: "five" });
  execute(main, "DELETE FROM notes WHERE id > 2");
  const second = await store.checkpoint({ ...SHOP, name: "two" });
  const id = first.operation?.id ?? 0;
  expect((await store.previewUndo({ operation: id })).blockedBy.map((each) => each.id)).toEqual([second.operation?.id]);
  const error: unknown = await store.undo({ operation: id }).catch((caught: unknown) => caught);
  expect(error instanceof EngineError && [error.code, error.details.operations]).toEqual(["undo-blocked", [second.operation?.id]]);
  const { undone } = await store.undo({ operation: id, chain: true });
  expect(undone.map((operation) => operation.id)).toEqual([second.operation?.id, id]);
  expect((await store.branch(SHOP)).head).toBe(1);
});

test("REVERSE-4: delete, promote, roll back; undo three times, redo once", async () => {
  const { store, main } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "gone" });
  await store.fork({ ...SHOP, newBranch: "try" });
  const { path } = await store.checkout({ database: "shop", branch: "try" });
  execute(path, "DELETE FROM notes");
  await store.checkpoint({ database: "shop", branch: "try", name: "cleared" });
  const tree = async () => (await store.branches({ database: "shop" })).branches.map((branch) => `${branch.name}:${branch.head}`);
  const start = await tree();
  await store.destroy({ database: "shop", branch: "gone" });
  const afterDelete = await tree();
  await store.promote({ database: "shop", source: "try", onto: "main" });
  await store.rollback({ ...SHOP, to: "v1" });
  for (let turn = 0; turn < 3; turn += 1) await store.undo({});
  expect(await tree()).toEqual(start);
  await store.redo({});
  expect(await tree()).toEqual(afterDelete);
  expect(count(main)).toBe(100);
});

test("REVERSE-5: a new operation clears what could be redone", async () => {
  const { store } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "a" });
  await store.undo({});
  await store.fork({ ...SHOP, newBranch: "b" });
  expect(await codeOf(store.redo({}))).toBe("nothing-to-undo");
});

test("BIN-1: the name is free at once; restore brings the branch back with its unsaved work", async () => {
  const { store } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "try" });
  const on = { database: "shop", branch: "try" };
  const { path } = await store.checkout(on);
  execute(path, "DELETE FROM notes WHERE id > 7");
  await store.destroy(on);
  expect(existsSync(path)).toBe(false);
  const [entry] = await store.trash({});
  await store.fork({ ...SHOP, newBranch: "try" });
  expect(await codeOf(store.restore({ kind: "branch", id: entry?.id ?? 0 }))).toBe("name-taken");
  await store.restore({ kind: "branch", id: entry?.id ?? 0, as: "try-again" });
  const back = await store.branch({ database: "shop", branch: "try-again" });
  expect({ rows: count(back.checkout.path), state: back.checkout.state }).toEqual({ rows: 7, state: "unsaved" });
  expect(await codeOf(store.restore({ kind: "branch", id: 4711 }))).toBe("branch-not-found");
});

test("BIN-2: children outlive their parent's purge", async () => {
  const { store } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "parent" });
  const { path } = await store.checkout({ database: "shop", branch: "parent" });
  execute(path, "DELETE FROM notes WHERE id > 9");
  await store.checkpoint({ database: "shop", branch: "parent", name: "nine" });
  await store.fork({ database: "shop", branch: "parent", newBranch: "child" });
  await store.destroy({ database: "shop", branch: "parent" });
  await store.gc({ dryRun: false, purgeAllTrash: true });
  expect(count((await store.checkout({ database: "shop", branch: "child" })).path)).toBe(9);
  expect((await store.verify({})).problems).toEqual([]);
});

test("BIN-3: a dropped database comes back whole", async () => {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes WHERE id > 4");
  await store.fork({ ...SHOP, newBranch: "try" });
  await store.drop({ database: "shop" });
  expect(await codeOf(store.branch(SHOP))).toBe("database-not-found");
  const [entry] = await store.trash({});
  expect(entry).toMatchObject({ kind: "database", name: "shop", reason: "drop" });
  await store.restore({ kind: "database", id: entry?.id ?? 0 });
  const { path } = await store.checkout(SHOP);
  expect({ rows: count(path), state: (await store.branch(SHOP)).checkout.state }).toEqual({ rows: 4, state: "unsaved" });
  expect((await store.branches({ database: "shop" })).total).toBe(2);
});

test("TTL-1: an expired branch goes to the trash at the next opening, and its unsaved work is saved before its file goes", async () => {
  let now = Date.now();
  const { store } = await makeShop({}, { clock: { now: () => now } });
  const { branch } = await store.fork({ ...SHOP, newBranch: "short", ttlMs: 60_000 });
  expect(branch?.expiresAt).toBe(now + 60_000);
  const { path } = await store.checkout({ database: "shop", branch: "short" });
  execute(path, "DELETE FROM notes WHERE id > 6");
  await store.close();
  now += 61_000;
  const again = await openStore(store.path, { actor: "anna", ownProcess: true }, { clock: { now: () => now } });
  try {
    expect((await again.trash({})).map((entry) => [entry.name, entry.reason])).toEqual([["short", "expire"]]);
    expect(existsSync(path)).toBe(true);
    now += 8 * 24 * 3_600_000;
    await again.gc({ dryRun: false });
    now += 25 * 3_600_000;
    await again.gc({ dryRun: false });
    expect({ file: existsSync(path), trash: await again.trash({}) }).toEqual({ file: false, trash: [] });
    await again.fork({ ...SHOP, newBranch: "rescued", at: "v2" });
    expect(count((await again.checkout({ database: "shop", branch: "rescued" })).path)).toBe(6);
  } finally {
    await again.close();
  }
});

test("TTL-2: after a jump of the clock by more than a day, reaping and purging wait a day", async () => {
  let now = Date.UTC(2026, 0, 1);
  const clock = { now: () => now };
  const { store } = await makeShop({}, { clock });
  await store.fork({ ...SHOP, newBranch: "short", ttlMs: 3_600_000 });
  await store.close();
  const names = async () => {
    const again = await openStore(store.path, { actor: "anna", ownProcess: true }, { clock });
    try {
      return (await again.branches({ database: "shop" })).branches.map((branch) => branch.name);
    } finally {
      await again.close();
    }
  };
  now += 40 * 24 * 3_600_000;
  expect(await names()).toEqual(["main", "short"]);
  now += 23 * 3_600_000;
  expect(await names()).toEqual(["main", "short"]);
  now += 2 * 3_600_000;
  expect(await names()).toEqual(["main"]);
});

test("TTL-2: after such a jump, gc takes nothing that undo would need, for a day", async () => {
  let now = Date.now();
  const { store, main } = await makeShop({}, { clock: { now: () => now } });
  execute(main, "DELETE FROM notes WHERE id = 1");
  await store.rollback({ ...SHOP, to: "v1" });
  now += 400 * 24 * 3_600_000;
  expect(await store.gc({ dryRun: true })).toMatchObject({ versionsRemoved: 0 });
  expect(await store.gc({ dryRun: false })).toMatchObject({ versionsRemoved: 0, strandedOperations: [] });
  const history = async () => (await store.usage({})).parts.find(({ name }) => name === "history")?.count;
  expect(await history()).toBe(1);
  now += 25 * 3_600_000;
  expect(await history()).toBe(0);
  expect(await store.gc({ dryRun: false })).toMatchObject({ versionsRemoved: 1 });
});

test("TTL-3: a change of its file restarts a branch's clock, and a protected branch does not expire", async () => {
  let now = Date.now();
  const clock = { now: () => now };
  const { store } = await makeShop({}, { clock });
  await store.fork({ ...SHOP, newBranch: "used", ttlMs: 3_600_000 });
  await store.fork({ ...SHOP, newBranch: "kept", ttlMs: 3_600_000 });
  await store.protect({ database: "shop", branch: "kept", protected: true });
  const { path } = await store.checkout({ database: "shop", branch: "used" });
  await store.close();
  now += 3 * 3_600_000;
  execute(path, "DELETE FROM notes WHERE id = 1");
  utimesSync(path, now / 1000, now / 1000);
  const names = async () => {
    const again = await openStore(store.path, { actor: "anna", ownProcess: true }, { clock });
    try {
      return (await again.branches({ database: "shop" })).branches.map((branch) => branch.name);
    } finally {
      await again.close();
    }
  };
  expect(await names()).toEqual(["main", "used", "kept"]);
  now += 2 * 3_600_000;
  expect(await names()).toEqual(["main", "kept"]);
});

test("TTL-4: an expired branch whose name was given away gets its unsaved work back when it is restored", async () => {
  let now = Date.now();
  const { store } = await makeShop({}, { clock: { now: () => now } });
  await store.fork({ ...SHOP, newBranch: "try", ttlMs: 60_000 });
  const { path } = await store.checkout({ database: "shop", branch: "try" });
  execute(path, "DELETE FROM notes WHERE id > 5");
  await store.close();
  now += 2 * 3_600_000;
  const again = await openStore(store.path, { actor: "anna", ownProcess: true }, { clock: { now: () => now } });
  try {
    await again.fork({ ...SHOP, newBranch: "try" });
    await again.checkout({ database: "shop", branch: "try" });
    expect({ rows: count(path), kept: existsSync(`${store.path}/kept`) }).toEqual({ rows: 100, kept: false });
    const [entry] = await again.trash({});
    await again.restore({ kind: "branch", id: entry?.id ?? 0, as: "try-old" });
    expect(count(again.checkoutPath("shop", "try-old"))).toBe(5);
  } finally {
    await again.close();
  }
});

test("STALE-1: a file left behind by a move heals itself when it holds nothing unsaved", async () => {
  const { store, main } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "try" });
  const { path } = await store.checkout({ database: "shop", branch: "try" });
  execute(path, "DELETE FROM notes WHERE id > 8");
  await store.checkpoint({ database: "shop", branch: "try", name: "eight" });
  // Another process moves the head and dies before it touches the file.
  await moveHeadOnly(store.path, "eight");
  expect((await store.branch(SHOP)).checkout.state).toBe("stale");
  await store.checkout(SHOP);
  expect({ rows: count(main), state: (await store.branch(SHOP)).checkout.state }).toEqual({ rows: 8, state: "clean" });
});

/** Promotes onto main in a child that is killed between the commit and the file. */
async function moveHeadOnly(spec: string, _checkpoint: string): Promise<void> {
  const { spawnSync } = await import("node:child_process");
  const script = `
    import { openStore } from ${JSON.stringify(import.meta.resolve("#engine/store.ts"))};
    const store = await openStore(${JSON.stringify(spec)}, { actor: "other", ownProcess: true });
    await store.promote({ database: "shop", source: "try", onto: "main" });`;
  const { signal } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...process.env, COPPICE_FAULT: "move:committed:kill" },
  });
  expect(signal).toBe("SIGKILL");
}

test("STALE-2: unsaved work on a moved branch: take theirs, mine on top, or fork what I have", async () => {
  const cases = ["take-theirs", "put-mine-on-top", "fork"] as const;
  for (const way of cases) {
    const { store, main } = await makeShop();
    await store.fork({ ...SHOP, newBranch: "try" });
    const { path } = await store.checkout({ database: "shop", branch: "try" });
    execute(path, "DELETE FROM notes WHERE id > 8");
    await store.checkpoint({ database: "shop", branch: "try", name: "eight" });
    await moveHeadOnly(store.path, "eight");
    execute(main, "DELETE FROM notes WHERE id < 50");
    expect((await store.branch(SHOP)).checkout.state).toBe("conflict");
    expect(await codeOf(store.checkpoint({ ...SHOP, name: "x" }))).toBe("checkout-stale");
    expect(await codeOf(store.checkout(SHOP))).toBe("checkout-stale");
    expect(count(main)).toBe(51);
    if (way === "take-theirs") {
      const { warnings } = await store.checkout({ ...SHOP, resolve: way });
      expect({ rows: count(main), kept: /v3/.test(warnings.join()) }).toEqual({ rows: 8, kept: true });
      await store.fork({ ...SHOP, newBranch: "kept", at: "v3" });
      expect(count((await store.checkout({ database: "shop", branch: "kept" })).path)).toBe(51);
    } else if (way === "put-mine-on-top") {
      const { version } = await store.checkpoint({ ...SHOP, name: "mine", resolve: way });
      expect({ rows: count(main), version, parent: (await store.history(SHOP)).versions[0]?.parent }).toEqual({
        rows: 51,
        version: 3,
        parent: 2,
      });
    } else {
      await store.fork({ ...SHOP, newBranch: "mine", withUnsaved: true });
      expect(count((await store.checkout({ database: "shop", branch: "mine" })).path)).toBe(51);
      await store.checkout(SHOP);
      expect(count(main)).toBe(8);
    }
    expect((await store.verify({})).problems).toEqual([]);
  }
});

test("CHECKOUT-PLACE-1: an unknown file is kept aside, a deleted checkout is made again", async () => {
  const { store, main } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "try" });
  const path = store.checkoutPath("shop", "try");
  writeFileSync(path, "somebody's notes");
  const first = await store.checkout({ database: "shop", branch: "try" });
  expect(first.warnings.join()).toContain("moved to");
  expect(count(path)).toBe(100);
  const [kept = ""] = readdirSync(`${store.path}/kept`);
  expect(readFileSync(`${store.path}/kept/${kept}`, "utf8")).toBe("somebody's notes");
  rmSync(main);
  expect((await store.branch(SHOP)).checkout.state).toBe("missing");
  expect((await store.checkout(SHOP)).warnings.join()).toContain("had been removed");
  expect(count(main)).toBe(100);
});

test("CHECKOUT-PLACE-2: a folder, a pipe or a link to nowhere in a checkout's place stops nobody, and nothing waits on it", async () => {
  const { store, main } = await makeShop();
  await store.checkpoint({ ...SHOP, name: "before" });
  const awkward: readonly [string, () => void][] = [
    ["a folder", () => mkdirSync(main)],
    ["a pipe", () => execFileSync("mkfifo", [main])],
    ["a link to nowhere", () => symlinkSync(join(store.path, "nothing"), main)],
    ["a link to itself", () => symlinkSync(main, main)],
  ];
  for (const [what, make] of awkward) {
    rmSync(main);
    make();
    expect((await store.branches({ database: "shop" })).total, what).toBe(1);
    const code = await codeOf(store.rollback({ ...SHOP, to: "before" }));
    expect(what.startsWith("a link") ? "no error" : "checkout-corrupt", what).toBe(code);
    await store.checkout(SHOP);
    expect(count(main), what).toBe(100);
  }
});

test("CHECKOUT-PLACE-3: the WAL of a deleted checkout is kept aside: it may hold a killed client's work", async () => {
  const { store, main } = await makeShop();
  writeFileSync(`${main}-wal`, "frames that nobody folded in");
  rmSync(main);
  expect((await store.checkout(SHOP)).warnings.join()).toContain("moved to");
  const [kept = ""] = readdirSync(join(store.path, "kept"));
  expect({ isWal: kept.endsWith(".db-wal"), rows: count(main) }).toEqual({ isWal: true, rows: 100 });
});

test("CHECKOUT-PLACE-4: a checkout that somebody moved elsewhere, with a link in its place, is destroyed and restored", async () => {
  const { store, folder, main } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "try" });
  const { path } = await store.checkout({ database: "shop", branch: "try" });
  expect(path).not.toBe(main);
  const elsewhere = join(folder, "elsewhere.db");
  renameSync(path, elsewhere);
  symlinkSync(elsewhere, path);
  execute(path, "DELETE FROM notes WHERE id > 3");
  await store.destroy({ database: "shop", branch: "try" });
  const [trashed] = await store.trash({});
  expect((await store.restore({ kind: "branch", id: trashed?.id ?? 0 })).warnings).toEqual([]);
  expect(count(path)).toBe(3);
});

test("STALE-3: a verb that is refused, or only asked what it would do, leaves no segment file behind", async () => {
  const { store, main } = await makeShop();
  const files = (): string[] => readdirSync(join(store.path, "segments"));
  await store.fork({ ...SHOP, newBranch: "try" });
  const { path } = await store.checkout({ database: "shop", branch: "try" });
  execute(path, "DELETE FROM notes WHERE id > 8");
  await store.checkpoint({ database: "shop", branch: "try", name: "eight" });
  execute(main, "UPDATE notes SET text = hex(randomblob(2000))");
  await store.rollback({ ...SHOP, to: "v1", dryRun: true });
  expect(files()).toEqual([]);
  await moveHeadOnly(store.path, "eight");
  const saved = files();
  execute(main, "UPDATE notes SET text = hex(randomblob(2000))");
  expect(await codeOf(store.checkpoint({ ...SHOP, name: "x" }))).toBe("checkout-stale");
  expect(await codeOf(store.checkout(SHOP))).toBe("checkout-stale");
  expect(files()).toEqual(saved);
  await store.checkout({ ...SHOP, resolve: "put-mine-on-top" });
  expect(files()).toHaveLength(saved.length + 1);
  expect((await store.verify({})).problems).toEqual([]);
});

test("STALE-4: unsaved work that an undo gave back can have another page size than the head", async () => {
  const { store, folder, main } = await makeShop();
  execute(main, "PRAGMA journal_mode = DELETE; PRAGMA page_size = 16384; VACUUM");
  await store.checkpoint({ ...SHOP, name: "large-pages" });
  await store.undo({});
  await store.checkpoint({ ...SHOP, name: "again" });
  const out = join(folder, "out.db");
  await store.export({ ...SHOP, file: out });
  expect({ rows: count(out), size: query(out, "PRAGMA page_size"), check: query(out, "PRAGMA integrity_check") }).toEqual({
    rows: 100,
    size: [[16384]],
    check: [["ok"]],
  });
  expect((await store.verify({})).problems).toEqual([]);
});

import { describe, expect, test } from "vitest";
import type { Move, OperationDraft } from "#engine/catalog/records.ts";
import { planUndo } from "#engine/catalog/undo.ts";
import { branchId, Drafts, START, v } from "./drafts.ts";
import { dumpCatalog, emptyCatalog, failure, present, shopCatalog } from "./fixture.ts";

describe("apply", () => {
  test("APPLY-1: the same drafts in the same order make the same catalog", async () => {
    const { catalog, drafts, branch } = await shopCatalog();
    const log: OperationDraft[] = [new Drafts().create("shop")];
    const commit = async (draft: OperationDraft): Promise<void> => {
      log.push(draft);
      await catalog.commit(draft);
    };
    await commit(drafts.fork(branch("main"), ["a", "b"], { ttlMs: 60_000, meta: { by: "test" } }));
    await commit(drafts.checkpoint(branch("a"), "before", { message: "first", bytes: 333 }));
    await commit(drafts.checkpoint(branch("a")));
    await commit(drafts.move("rollback", branch("a"), v(2)));
    await commit(drafts.move("promote", branch("main"), v(3), branch("a").id));
    await commit(drafts.rename(branch("b"), "c"));
    await commit(drafts.destroy(branch("c")));
    await commit(drafts.fork(branch("main"), ["b"]));
    await commit(drafts.create("other"));

    const second = emptyCatalog();
    for (const draft of log) await second.commit(draft);
    expect(dumpCatalog(second)).toBe(dumpCatalog(catalog));

    // All at once, in one transaction, it is the same again.
    const third = emptyCatalog();
    await Promise.all(log.map((draft) => third.commit(draft)));
    expect(dumpCatalog(third)).toBe(dumpCatalog(catalog));
  });

  test("APPLY-2: every `before` is checked; a refused operation leaves no trace", async () => {
    const { catalog, drafts, branch, fork, checkpoint } = await shopCatalog();
    await fork("main", "a");
    await checkpoint("a", "one");
    const a = branch("a");
    const before = dumpCatalog(catalog);
    const wrong: Move[] = [
      { ref: "head", branch: a.id, before: v(1), after: v(2) },
      { ref: "branch-state", branch: a.id, before: "trashed", after: "live" },
      { ref: "branch-name", branch: a.id, before: "x", after: "y" },
      { ref: "protected", branch: a.id, before: true, after: false },
      { ref: "ttl", branch: a.id, before: 5, after: null },
      { ref: "meta", branch: a.id, before: { k: "v" }, after: {} },
      { ref: "epoch", branch: a.id, before: 3, after: 4 },
      { ref: "checkpoint", branch: a.id, name: "one", before: null, after: v(2) },
      { ref: "checkpoint", branch: a.id, name: "two", before: v(2), after: null },
      { ref: "database-state", database: a.database, before: "trashed", after: "live" },
      { ref: "database-name", database: a.database, before: "x", after: "y" },
      { ref: "head", branch: a.id, before: v(2), after: v(99) },
    ];
    const good: Move = { ref: "meta", branch: a.id, before: {}, after: { a: "1" } };
    for (const move of wrong) {
      const error = await failure(() => catalog.commit(drafts.on(a, "protect", good, move)));
      expect([error.code, error.untouched], JSON.stringify(move)).toEqual(["stale-precondition", "Nothing was changed."]);
      expect(error.details.found).toBeDefined();
      expect(error.details.expected).toBeDefined();
    }
    const seen = { ...drafts.fork(branch("main"), ["b"]), expectHeads: [{ branch: a.id, head: v(1) }] };
    expect((await failure(() => catalog.commit(seen))).message).toContain("head of a is v2, expected v1");
    expect(dumpCatalog(catalog)).toBe(before);
  });

  test("APPLY-2: a head follows compare-and-swap: of two checkpoints made on one head the second is refused", async () => {
    const { catalog, drafts, branch } = await shopCatalog();
    const [first, second] = [drafts.checkpoint(branch("main")), drafts.checkpoint(branch("main"))];
    const results = await Promise.allSettled([catalog.commit(first), catalog.commit(second)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(branch("main").head).toBe(2);
  });

  test("APPLY-3: names are taken by live branches and databases only", async () => {
    const { catalog, drafts, branch, fork } = await shopCatalog();
    await fork("main", "a");
    expect(await failure(() => fork("main", "a"))).toMatchObject({ code: "name-taken", details: { name: "a" } });
    expect(await failure(() => catalog.commit(drafts.create("shop")))).toMatchObject({ code: "name-taken" });
    expect(await failure(() => catalog.commit(drafts.rename(branch("main"), "a")))).toMatchObject({ code: "name-taken" });
    const old = branch("a");
    await catalog.commit(drafts.destroy(old));
    await fork("main", "a");
    expect(branch("a").id).not.toBe(old.id);
    const back = drafts.on(old, "restore", { ref: "branch-state", branch: old.id, before: "trashed", after: "live" });
    expect(await failure(() => catalog.commit(back))).toMatchObject({ code: "name-taken", details: { name: "a" } });
    // The same name in another database is another name.
    await catalog.commit(drafts.create("other"));
  });

  test("APPLY-4: version numbers, branch ids and operation ids are never given twice", async () => {
    const { catalog, drafts, shop, branch, fork, checkpoint } = await shopCatalog();
    await fork("main", "a");
    await checkpoint("a");
    const a = branch("a");
    const destroyed = await catalog.commit(drafts.destroy(a));
    const purge = {
      plannedAt: destroyed.id,
      branches: [a.id],
      databases: [],
      versions: [{ database: shop.id, numbers: [v(2)] }],
      strands: [],
    };
    await catalog.commit(drafts.draft({ kind: "purge", purge }));
    await fork("main", "a");
    await checkpoint("a");
    expect(branch("a").id).toBeGreaterThan(a.id);
    expect(branch("a").head).toBe(3);
    expect(catalog.versions.byNumber(shop.id, v(2))).toBeNull();
  });

  test("APPLY-5: a fork of many is all or nothing, and 100,000 are one operation", async () => {
    const { catalog, drafts, shop, branch, fork } = await shopCatalog();
    await fork("main", "n-50000");
    const names = Array.from({ length: 100_000 }, (_, index) => `n-${index}`);
    const error = await failure(() => catalog.commit(drafts.fork(branch("main"), names)));
    expect(error).toMatchObject({ code: "name-taken", details: { name: "n-50000" } });
    expect(catalog.branches.count(shop.id)).toBe(2);
    await catalog.commit(drafts.destroy(branch("n-50000")));
    const operation = await catalog.commit(drafts.fork(branch("main"), names));
    expect(operation.newBranches?.count).toBe(100_000);
    expect(catalog.branches.count(shop.id)).toBe(100_001);
    expect(catalog.branches.byName(shop.id, "n-99999")?.id).toBe((operation.newBranches?.first ?? 0) + 99_999);
  });

  test("APPLY-6: nothing of a trashed branch or database moves, and no head leaves what is stored", async () => {
    const { catalog, drafts, shop, branch, fork } = await shopCatalog();
    await fork("main", "a");
    const a = branch("a");
    await catalog.commit(drafts.destroy(a));
    expect((await failure(() => catalog.commit(drafts.move("rollback", a, v(1))))).code).toBe("stale-precondition");
    expect((await failure(() => catalog.commit(drafts.fork(a, ["b"])))).code).toBe("stale-precondition");
    expect((await failure(() => catalog.commit(drafts.checkpoint(a)))).code).toBe("stale-precondition");
    await catalog.commit(
      drafts.draft({
        kind: "drop-database",
        database: shop.id,
        moves: [{ ref: "database-state", database: shop.id, before: "live", after: "trashed" }],
      }),
    );
    const main = present(catalog.branches.byId(branchId(1)));
    expect((await failure(() => catalog.commit(drafts.fork(main, ["b"])))).message).toContain("database shop is trashed");
  });

  test("APPLY-6: a trashed branch may take another name as it comes back, when its own is in use", async () => {
    const { catalog, drafts, branch, fork } = await shopCatalog();
    await fork("main", "a");
    const old = branch("a");
    await catalog.commit(drafts.destroy(old));
    await fork("main", "a");
    const back = await catalog.commit(
      drafts.on(
        old,
        "restore",
        { ref: "branch-name", branch: old.id, before: "a", after: "a-2" },
        { ref: "branch-state", branch: old.id, before: "trashed", after: "live" },
      ),
    );
    expect(branch("a-2").id).toBe(old.id);
    const undone = await catalog.commit(drafts.reversal(planUndo(catalog, back.id)));
    expect(catalog.branches.trashed().map(({ id, name }) => [id, name])).toEqual([[old.id, "a"]]);
    await catalog.commit(drafts.reversal(planUndo(catalog, undone.id)));
    expect(branch("a-2").id).toBe(old.id);
  });

  test("APPLY-7: the time of a branch's last touch starts anew with each move of it", async () => {
    const { catalog, drafts, branch, fork } = await shopCatalog();
    const made = await fork("main", "a");
    expect(branch("a").touchedAt).toBe(made.at);
    const mainTouched = branch("main").touchedAt;
    const touched = await catalog.commit(
      drafts.on(branch("a"), "touch", { ref: "ttl", branch: branch("a").id, before: null, after: 60_000 }),
    );
    expect(branch("a")).toMatchObject({ touchedAt: touched.at, ttlMs: 60_000 });
    const again = await catalog.commit(drafts.on(branch("a"), "touch"));
    expect(branch("a").touchedAt).toBe(again.at);
    await fork("a", "b");
    expect(branch("a").touchedAt).toBe(again.at);
    expect(branch("main").touchedAt).toBe(mainTouched);
  });

  test("APPLY-8: a checkpoint without a name is named after its version, and can be renamed and deleted like any other", async () => {
    const { catalog, drafts, branch, fork, checkpoint } = await shopCatalog();
    const operation = await checkpoint("main");
    const main = branch("main");
    const names = (): string[] => catalog.checkpoints.ofBranch(main.id).map(({ name }) => name);
    expect(operation.moves[1]).toEqual({ ref: "checkpoint", branch: main.id, name: "auto-2", before: null, after: 2 });
    expect(names()).toEqual(["auto-2"]);
    expect(catalog.checkpoints.own(main.id, "auto-2")).toMatchObject({ version: 2, operation: operation.id, actor: "ada" });
    const renamed = drafts.on(
      main,
      "rename-checkpoint",
      { ref: "checkpoint", branch: main.id, name: "auto-2", before: v(2), after: null },
      { ref: "checkpoint", branch: main.id, name: "good", before: null, after: v(2) },
    );
    await catalog.commit(renamed);
    expect(names()).toEqual(["good"]);
    const wrong = drafts.on(main, "checkpoint", { ref: "checkpoint", branch: main.id, name: "auto-7", before: null, after: v(2) });
    expect((await failure(() => catalog.commit(wrong))).code).toBe("bad-name");
    // On a version that another branch made, the name is a row of its own.
    await fork("main", "a");
    const a = branch("a");
    await catalog.commit(drafts.on(a, "checkpoint", { ref: "checkpoint", branch: a.id, name: "auto-?", before: null, after: v(2) }));
    expect(catalog.checkpoints.ofBranch(a.id).map(({ name }) => name)).toEqual(["auto-2"]);
    await catalog.commit(drafts.on(a, "delete-checkpoint", { ref: "checkpoint", branch: a.id, name: "auto-2", before: v(2), after: null }));
    expect(catalog.checkpoints.countOfBranch(a.id)).toBe(0);
  });

  test("APPLY-9: replacing a checkpoint's name is one operation that names what it was", async () => {
    const { catalog, drafts, branch, checkpoint } = await shopCatalog();
    await checkpoint("main", "good");
    const main = branch("main");
    const duplicate = drafts.checkpoint(main, "good");
    expect((await failure(() => catalog.commit(duplicate))).code).toBe("stale-precondition");
    const moves = duplicate.moves.map((move): Move => (move.ref === "checkpoint" ? { ...move, before: v(2) } : move));
    await catalog.commit({ ...duplicate, moves });
    expect(catalog.checkpoints.own(main.id, "good")?.version).toBe(3);
  });

  test("APPLY-10: a version of a new database belongs to the branch that comes with it", async () => {
    const { catalog, shop, branch } = await shopCatalog();
    expect(catalog.versions.byNumber(shop.id, v(1))).toMatchObject({
      branch: branch("main").id,
      kind: "import",
      parent: null,
      createdAt: START + 1000,
      actor: "ada",
    });
    expect(catalog.versions.storedBytesOfBranch(branch("main").id)).toBe(5000);
    expect(catalog.databases.byName("shop")).toMatchObject({ lastVersion: 1, storedBytes: 5000, journal: "wal" });
  });

  test.each([0, -1, 1, 2 ** 31, 253_402_300_800_000, Number.MAX_SAFE_INTEGER - 10 ** 10, Number.MIN_SAFE_INTEGER])(
    "APPLY-11: a clock that says %i is kept as it is",
    async (at) => {
      const { catalog, drafts, branch, fork } = await shopCatalog();
      await fork("main", "a");
      const operation = await catalog.commit({ ...drafts.destroy(branch("a")), at });
      expect(catalog.operations.byId(operation.id)?.at).toBe(at);
      expect(catalog.branches.trashed()[0]).toMatchObject({ trashedAt: at, purgeAt: at + 7 * 24 * 3_600_000 });
      await expect(catalog.commit({ ...drafts.fork(branch("main"), ["b"]), at: 0.5 })).rejects.toThrow("whole number");
    },
  );

  test("APPLY-12: facts come with the operation, and go with the branch", async () => {
    const { catalog, drafts, shop, branch } = await shopCatalog();
    const main = branch("main");
    const fact = { base: { new: 0 }, content: { new: 0 }, fingerprint: "f" };
    await catalog.commit({ ...drafts.checkpoint(main), facts: [{ branch: main.id, fact }] });
    expect(catalog.fact(main.id)).toEqual({ base: 2, content: 2, fingerprint: "f" });
    const stale = { ...drafts.checkpoint(main), facts: [{ branch: main.id, fact: { ...fact, fingerprint: "g" } }] };
    await failure(() => catalog.commit(stale));
    expect(catalog.facts()).toEqual([{ branch: main.id, fact: { base: 2, content: 2, fingerprint: "f" } }]);
    expect(catalog.versions.segmentFor(shop.id, v(2))).toMatchObject({ to: 2, from: 1, level: 0, bytes: 100, parts: 0, file: null });
  });

  test("APPLY-13: a segment in files is known by its name, parts and bytes", async () => {
    const { catalog, drafts, shop, branch } = await shopCatalog();
    await catalog.commit(drafts.checkpoint(branch("main"), "big", { bytes: 1_000_000, file: "0123abcd" }));
    expect(catalog.versions.segmentFor(shop.id, v(2))).toMatchObject({
      level: 0,
      from: 1,
      bytes: 1_000_000,
      file: "0123abcd",
      inline: null,
      parts: 1,
    });
    expect([...catalog.versions.files()]).toEqual([["0123abcd", 1]]);
    expect(catalog.databases.byName("shop")?.storedBytes).toBe(1_005_000);
  });
});

import { describe, expect, test } from "vitest";
import type { Catalog } from "#engine/catalog/catalog.ts";
import { planGarbage, type GarbagePlan } from "#engine/catalog/garbage.ts";
import { checkIntegrity } from "#engine/catalog/integrity.ts";
import { planRedo, planUndo } from "#engine/catalog/undo.ts";
import { branchId, operationId, START, v } from "./drafts.ts";
import { failure, present, shopCatalog } from "./fixture.ts";

const DAY = 24 * 3_600_000;

/** A plan made long after everything, so that no operation is inside the undo window; purges what is in the trash. */
function planLater(catalog: Catalog, undoWindowMs = DAY): GarbagePlan {
  const trash = { branches: catalog.branches.trashed(), databases: catalog.databases.trashed() };
  return planGarbage(catalog, { now: START + 30 * DAY, undoWindowMs, ...trash });
}
const removed = ({ purge }: GarbagePlan): number[] => purge.versions.flatMap(({ numbers }) => [...numbers]).toSorted((a, b) => a - b);

describe("garbage", () => {
  test("GARBAGE-1: heads, fork points, checkpoints and files of live branches keep their versions and all ancestors", async () => {
    const { catalog, drafts, branch, fork, checkpoint } = await shopCatalog();
    await checkpoint("main", "one");
    await fork("main", "a");
    await checkpoint("a", "two");
    await checkpoint("a");
    const a = branch("a");
    for (let times = 0; times < 2; times += 1) await catalog.commit({ ...drafts.checkpoint(a), kind: "autosave", moves: [] });
    catalog.setFact(a.id, { base: v(4), content: v(6), fingerprint: null });
    expect(removed(planLater(catalog))).toEqual([5]);
    catalog.setFact(a.id, null);
    expect(removed(planLater(catalog))).toEqual([5, 6]);
    await catalog.commit(drafts.move("rollback", branch("a"), v(1)));
    // Named or not, what a branch lists as its checkpoints can be rolled forward to.
    expect(removed(planLater(catalog))).toEqual([5, 6]);
  });

  test("GARBAGE-2: the trash keeps everything until it is purged; purging removes what nothing else needs", async () => {
    const { catalog, drafts, branch, fork, checkpoint } = await shopCatalog();
    await fork("main", "a");
    await checkpoint("a", "two");
    await checkpoint("a", "three");
    const a = branch("a");
    await catalog.commit(drafts.fork(a, ["child"], { head: v(2), forkVersion: v(2) }));
    await catalog.commit(drafts.destroy(a));
    const request = { now: START + 30 * DAY, undoWindowMs: DAY, branches: [], databases: [] };
    expect(planGarbage(catalog, request)).toMatchObject({ empty: true, segments: [], segmentBytes: 0 });
    const plan = planLater(catalog);
    expect(removed(plan)).toEqual([3]);
    expect(plan.segments.map(({ to, bytes }) => [to, bytes])).toEqual([[3, 100]]);
    const purge = await catalog.commit(drafts.draft({ kind: "purge", purge: plan.purge }));
    expect(purge).toMatchObject({ state: "permanent", purged: { branches: [a.id], databases: [], versions: 1 } });
    expect(catalog.branches.byId(a.id)).toBeNull();
    expect(catalog.checkpoints.ofBranch(a.id)).toEqual([]);
    expect(present(catalog.branches.byId(branch("child").id)).parent).toBe(a.id);
    expect(catalog.branches.nameAt(a.id, operationId(99))).toBe("a");
    expect(planLater(catalog).empty).toBe(true);
    expect(checkIntegrity(catalog)).toEqual([]);
  });

  test("GARBAGE-3: inside the undo window an operation keeps the versions that its undo or redo needs", async () => {
    const { catalog, drafts, branch, checkpoint } = await shopCatalog();
    const made = await checkpoint("main", "one");
    await catalog.commit(drafts.reversal(planUndo(catalog, made.id)));
    const autosaved = await catalog.commit({
      ...drafts.checkpoint(branch("main")),
      kind: "rollback",
      moves: [],
      autosave: { branch: branch("main").id, version: { new: 0 }, base: v(1) },
    });
    expect(autosaved.autosave).toEqual({ branch: branch("main").id, version: 3, base: 1 });
    expect(removed(planLater(catalog, 60 * DAY))).toEqual([]);
    const plan = planLater(catalog);
    expect(removed(plan)).toEqual([2, 3]);
    expect(plan.purge.strands).toEqual([made.id, autosaved.id]);
    await catalog.commit(drafts.draft({ kind: "purge", purge: plan.purge }));
    expect(await failure(() => planUndo(catalog, made.id))).toMatchObject({ code: "undo-blocked" });
    expect(checkIntegrity(catalog)).toEqual([]);
  });

  test("GARBAGE-6: an operation that the purge strands keeps no version; those of other branches keep theirs", async () => {
    const { catalog, drafts, branch, fork, checkpoint } = await shopCatalog();
    await fork("main", "a");
    await checkpoint("a", "two");
    const a = branch("a");
    await catalog.commit(drafts.checkpoint(a));
    await catalog.commit(drafts.move("rollback", branch("a"), v(2)));
    // A step of main over the same history: its undo needs v2, whoever made it.
    const promoted = await catalog.commit(drafts.move("promote", branch("main"), v(2)));
    await catalog.commit(drafts.reversal(planUndo(catalog, promoted.id)));
    const destroyed = await catalog.commit(drafts.destroy(branch("a")));
    const plan = planLater(catalog, 60 * DAY);
    expect(removed(plan)).toEqual([3]);
    expect(plan.purge.strands).toContain(destroyed.id);
    expect(plan.purge.strands).not.toContain(promoted.id);
    await catalog.commit(drafts.draft({ kind: "purge", purge: plan.purge }));
    // What is not stranded is still undone and redone.
    await catalog.commit(drafts.reversal(planRedo(catalog, present(catalog.operations.byId(promoted.id)))));
    expect(branch("main").head).toBe(2);
    expect(checkIntegrity(catalog)).toEqual([]);
  });

  test("GARBAGE-4: a plan is refused once anything happened since, be it an operation or a fact about a file", async () => {
    const { catalog, drafts, branch, fork, checkpoint } = await shopCatalog();
    await fork("main", "a");
    await checkpoint("a", "two");
    await catalog.commit(drafts.destroy(branch("a")));
    const plan = planLater(catalog);
    catalog.setFact(branch("main").id, { base: v(1), content: v(2), fingerprint: null });
    const commit = (): Promise<unknown> => catalog.commit(drafts.draft({ kind: "purge", purge: plan.purge }));
    expect((await failure(commit)).message).toContain("in the file of main");
    catalog.setFact(branch("main").id, null);
    await fork("main", "b");
    expect(await failure(commit)).toMatchObject({ code: "stale-precondition" });
    const live = { ...planLater(catalog).purge, branches: [branch("b").id] };
    expect((await failure(() => catalog.commit(drafts.draft({ kind: "purge", purge: live })))).message).toContain("branch b is live");
    expect(checkIntegrity(catalog)).toEqual([]);
  });

  test("GARBAGE-5: purging a database takes its branches, versions and segments, and leaves other databases alone", async () => {
    const { catalog, drafts, shop, branch, fork, checkpoint } = await shopCatalog();
    await fork("main", "a");
    await checkpoint("a", "two");
    await catalog.commit(drafts.destroy(branch("a")));
    await catalog.commit(drafts.create("other"));
    const dropped = {
      kind: "drop-database",
      database: shop.id,
      moves: [{ ref: "database-state", database: shop.id, before: "live", after: "trashed" }],
    } as const;
    await catalog.commit(drafts.draft(dropped));
    // What went to the trash with its database is not listed by itself.
    expect(catalog.branches.trashed()).toEqual([]);
    expect(catalog.databases.trashed().map(({ name }) => name)).toEqual(["shop"]);
    const plan = planLater(catalog);
    expect(plan.segmentBytes).toBe(5100);
    await catalog.commit(drafts.draft({ kind: "purge", purge: plan.purge }));
    expect(catalog.databases.live().map(({ name }) => name)).toEqual(["other"]);
    expect(catalog.databases.trashed()).toEqual([]);
    expect(catalog.versions.count(shop.id)).toBe(0);
    expect(catalog.branches.byId(branchId(1))).toBeNull();
    expect(planLater(catalog).empty).toBe(true);
    expect(checkIntegrity(catalog)).toEqual([]);
    // The name is free, the id is not.
    await catalog.commit(drafts.create("shop"));
    expect(present(catalog.databases.byName("shop")).id).toBeGreaterThan(shop.id);
  });

  test("INTEGRITY-1: whatever a row refers to and is not there is named", async () => {
    const { catalog, fork, checkpoint, branch } = await shopCatalog();
    await fork("main", "a");
    await checkpoint("a", "two");
    await checkpoint("a");
    catalog.setFact(branch("a").id, { base: v(3), content: v(3), fingerprint: null });
    expect(checkIntegrity(catalog)).toEqual([]);
    const found = (script: string): string => {
      catalog.connection.execute(`BEGIN; ${script}`);
      const text = checkIntegrity(catalog)
        .map(({ object, problem }) => `${object}: ${problem}`)
        .join("\n");
      catalog.connection.execute("ROLLBACK");
      return text;
    };
    const key = 2 ** 28;
    expect(found(`DELETE FROM versions WHERE key = ${key + 3}`)).toContain("head of shop@a: v3 is not stored");
    expect(found(`DELETE FROM versions WHERE key = ${key + 3}`)).toContain("content of the file of shop@a: v3 is not stored");
    expect(found(`DELETE FROM versions WHERE key = ${key + 2}`)).toContain("checkpoint of shop@a@two: v2 is not stored");
    expect(found(`DELETE FROM versions WHERE key = ${key + 2}`)).toContain("version v3 of shop: its parent v2 is not stored");
    expect(found(`DELETE FROM segments WHERE key = ${(key + 2) * 16}`)).toContain("version v2 of shop: has no segment");
    expect(found(`DELETE FROM segments WHERE key = ${(key + 2) * 16}`)).toContain(
      "version v3 of shop: its segment starts at v2, which cannot be rebuilt",
    );
    expect(found(`UPDATE segments SET data = x'00' WHERE key = ${(key + 2) * 16}`)).toContain(
      "database shop: its segments take 5101 bytes, recorded 5200",
    );
    expect(found("UPDATE operations SET detail = x'63' WHERE id = 2")).toContain(
      "operation 2: Reading an operation of the catalog: found an unknown entry 99",
    );
    expect(found("DELETE FROM operations WHERE id = 2")).toContain("operation 2: is missing");
    expect(found("UPDATE databases SET last_version = 1")).toContain("has v3, but only 1 were given out");
    expect(found("UPDATE branches SET database = 9 WHERE id = 2")).toContain("branch a: its database is not stored");
    expect(found(`INSERT INTO segments (key, data) VALUES (${(key + 9) * 16}, x'00')`)).toContain(
      "segment of v9 of shop: belongs to no version",
    );
    expect(checkIntegrity(catalog)).toEqual([]);
  });
});

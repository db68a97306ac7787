import { describe, expect, test } from "vitest";
import type { OperationDraft } from "#engine/catalog/records.ts";
import { describeMoves, namesAt, summariseOperation } from "#engine/catalog/summary.ts";
import { branchId, Drafts, operationId, START, v } from "./drafts.ts";
import { present, shopCatalog } from "./fixture.ts";

const HOUR = 3_600_000;

describe("queries", () => {
  test("QUERY-1: branches are paged in order of id, live ones only, and counted", async () => {
    const { catalog, drafts, shop, branch, fork } = await shopCatalog();
    await fork("main", "a", "b", "c", "d");
    await catalog.commit(drafts.create("other"));
    await catalog.commit(drafts.destroy(branch("b")));
    const first = catalog.branches.page(shop.id, 0, 2);
    expect(first.map(({ name }) => name)).toEqual(["main", "a"]);
    expect(catalog.branches.page(shop.id, present(first.at(-1)).id, 10).map(({ name }) => name)).toEqual(["c", "d"]);
    expect(catalog.branches.count(shop.id)).toBe(4);
    expect(catalog.branches.childrenCount(branch("main").id)).toBe(3);
    expect(catalog.branches.names(shop.id, "c", 10)).toEqual(["c"]);
    expect(catalog.databases.live().map(({ name }) => name)).toEqual(["other", "shop"]);
    expect(catalog.branches.trashed().map(({ name }) => name)).toEqual(["b"]);
  });

  test("QUERY-2: changes since an operation name every live branch that reads differently, and those that went", async () => {
    const { catalog, drafts, shop, branch, fork, checkpoint } = await shopCatalog();
    await fork("main", "a", "b", "c");
    await fork("a", "child");
    const since = catalog.lastOperation();
    const changes = (): [string[], number[]] => {
      const { changed, removed } = catalog.branches.changesSince(shop.id, since);
      return [changed.map(({ name }) => name), [...removed]];
    };
    expect(changes()).toEqual([[], []]);
    const c = branch("c");
    await catalog.commit(drafts.destroy(c));
    await checkpoint("b");
    await catalog.commit(drafts.on(branch("b"), "touch"));
    expect(changes()).toEqual([["b"], [c.id]]);
    // A parent's name is shown on its children, a version's name on every branch that stands there.
    await catalog.commit(drafts.rename(branch("a"), "renamed"));
    expect(changes()[0]).toEqual(["renamed", "b", "child"]);
    const main = branch("main");
    await catalog.commit(drafts.on(main, "checkpoint", { ref: "checkpoint", branch: main.id, name: "start", before: null, after: v(1) }));
    expect(changes()[0]).toEqual(["main", "renamed", "b", "child"]);
    await catalog.commit(drafts.create("other"));
    expect(changes()[0]).toHaveLength(4);
  });

  test("QUERY-3: lineage runs from a version to its first ancestor, in pages", async () => {
    const { catalog, shop, fork, checkpoint, branch } = await shopCatalog();
    await checkpoint("main");
    await fork("main", "a");
    await checkpoint("a");
    await checkpoint("main");
    const numbers = (from: number, limit: number): number[] =>
      catalog.versions.lineage(shop.id, v(from), limit).map(({ number }) => number);
    expect(numbers(3, 10)).toEqual([3, 2, 1]);
    expect(numbers(4, 2)).toEqual([4, 2]);
    expect(catalog.versions.lineageNumbers(shop.id, v(4))).toEqual([4, 2, 1]);
    expect(catalog.versions.lineageNumbers(shop.id, v(9))).toEqual([]);
    expect([1, 2, 3, 4].map((n) => catalog.versions.isAncestor(shop.id, v(n), v(4)))).toEqual([true, true, false, true]);
    expect(catalog.versions.madeBy(branch("main").id, null, 10).map(({ number }) => number)).toEqual([4, 2, 1]);
    expect(catalog.versions.madeBy(branch("main").id, v(4), 1).map(({ number }) => number)).toEqual([2]);
    expect(catalog.versions.page(shop.id, 1, 2).map(({ number }) => number)).toEqual([2, 3]);
    expect(catalog.versions.count(shop.id)).toBe(4);
    expect(catalog.versions.storedBytesOfBranch(branch("a").id)).toBe(100);
    expect(catalog.versions.storedBytes(shop.id, v(1))).toBe(5000);
    expect([...catalog.versions.segments(shop.id)].map(({ to, from, level }) => [to, from, level])).toEqual([
      [1, null, 15],
      [2, 1, 0],
      [3, 2, 0],
      [4, 2, 0],
    ]);
  });

  test("QUERY-4: a checkpoint's name means the branch's own, else the nearest ancestor's within the history it was forked with", async () => {
    const { catalog, drafts, branch, fork, checkpoint } = await shopCatalog();
    await checkpoint("main", "one");
    await checkpoint("main", "left-behind");
    await catalog.commit(drafts.move("rollback", branch("main"), v(2)));
    await fork("main", "a");
    await checkpoint("main", "later");
    await checkpoint("a", "two");
    await fork("a", "b");
    await checkpoint("a", "one");
    const find = (name: string, checkpointName: string): number | undefined =>
      catalog.checkpoints.find(branch(name), checkpointName)?.version;
    expect(find("main", "left-behind")).toBe(3);
    expect(find("a", "one")).toBe(6);
    expect(find("b", "one")).toBe(2);
    expect(find("b", "two")).toBe(5);
    expect(find("b", "left-behind")).toBeUndefined();
    expect(find("b", "later")).toBeUndefined();
    expect(catalog.checkpoints.inherited(branch("b")).map(({ name, version }) => [name, version])).toEqual([
      ["two", 5],
      ["one", 2],
    ]);
    expect(catalog.checkpoints.ofBranch(branch("a").id).map(({ name }) => name)).toEqual(["one", "two"]);
    expect(catalog.checkpoints.ofVersion(branch("a").database, v(2)).map(({ branch: id, name }) => [id, name])).toEqual([
      [branch("main").id, "one"],
    ]);
    expect(catalog.checkpoints.countOfBranch(branch("main").id)).toBe(3);
  });

  test("QUERY-5: a moment means the head that the branch had then, back through its forks", async () => {
    const { catalog, drafts, branch } = await shopCatalog();
    const at = async (hours: number, draft: OperationDraft): Promise<unknown> => catalog.commit({ ...draft, at: START + hours * HOUR });
    await at(1, drafts.checkpoint(branch("main"), "x"));
    await at(2, drafts.checkpoint(branch("main"), "y"));
    await at(3, drafts.move("rollback", branch("main"), v(2)));
    await at(4, drafts.fork(branch("main"), ["a"]));
    await at(5, drafts.checkpoint(branch("a")));
    const asOf = (name: string, hours: number): number | null => catalog.versions.asOf(branch(name), START + hours * HOUR);
    expect([-1, 0.5, 1, 1.5, 2.5, 3.5, 9].map((hours) => asOf("main", hours))).toEqual([null, 1, 2, 2, 3, 2, 2]);
    expect([-1, 0.5, 1.5, 4.5, 5, 9].map((hours) => asOf("a", hours))).toEqual([null, 1, 2, 2, 4, 4]);
    // The other branch's version was never in this one's history.
    expect(asOf("a", 2.5)).toBe(2);
  });

  test("QUERY-6: operations are paged newest first and filtered by database, branch and actor", async () => {
    const { catalog, drafts, shop, branch, fork } = await shopCatalog();
    await fork("main", "a");
    const eve = new Drafts(9, "eve");
    await catalog.commit(eve.checkpoint(branch("a"), "x"));
    await catalog.commit(drafts.create("other"));
    const ids = (filter: Parameters<typeof catalog.operations.page>[0], before: number | null = null, limit = 10): number[] =>
      catalog.operations.page(filter, before, limit).map(({ id }) => id);
    expect(ids({})).toEqual([4, 3, 2, 1]);
    expect(ids({}, 3, 1)).toEqual([2]);
    expect(ids({ database: shop.id })).toEqual([3, 2, 1]);
    expect(ids({ actor: "eve" })).toEqual([3]);
    expect(ids({ actor: "nobody" })).toEqual([]);
    expect(ids({ branch: branch("a").id, actor: "eve", database: shop.id })).toEqual([3]);
    expect(catalog.operations.count({ database: shop.id })).toBe(3);
    const last = present(catalog.operations.byId(operationId(3)));
    expect(catalog.operations.byUid(last.uid, operationId(2))).toEqual(last);
    expect(catalog.operations.byUid(last.uid, operationId(3))).toBeNull();
  });

  test("QUERY-7: what is due is found: expired branches, trash to purge", async () => {
    const { catalog, drafts, branch } = await shopCatalog();
    const made = await catalog.commit(drafts.fork(branch("main"), ["short"], { ttlMs: 1000 }));
    await catalog.commit(drafts.fork(branch("main"), ["long"], { ttlMs: HOUR }));
    const expired = (now: number): string[] => catalog.branches.dueExpiries(now).map(({ name }) => name);
    expect(expired(made.at + 999)).toEqual([]);
    expect(expired(made.at + 1000)).toEqual(["short"]);
    expect(expired(made.at + 2 * HOUR)).toEqual(["short", "long"]);
    const fact = { base: v(1), content: v(1), fingerprint: null };
    catalog.setFact(branch("short").id, fact, made.at + 3 * HOUR);
    expect(expired(made.at + 2 * HOUR)).toEqual(["long"]);
    const destroyed = await catalog.commit(drafts.destroy(branch("long")));
    expect(expired(made.at + 2 * HOUR)).toEqual([]);
    expect(catalog.branches.trashed()[0]).toMatchObject({ name: "long", trashedBy: destroyed.id, trashedAt: destroyed.at });
    expect(catalog.branches.duePurges(destroyed.at + 7 * 24 * HOUR - 1)).toEqual([]);
    expect(catalog.branches.duePurges(destroyed.at + 7 * 24 * HOUR).map(({ name }) => name)).toEqual(["long"]);
  });

  test("QUERY-8: operations read back as they were committed", async () => {
    const { catalog, drafts, branch, fork, checkpoint } = await shopCatalog();
    const made = [
      await fork("main", "a", "b"),
      await checkpoint("a", "überprüft"),
      await checkpoint("a"),
      await catalog.commit(drafts.move("promote", branch("main"), v(3), branch("a").id)),
      await catalog.commit(
        drafts.on(
          branch("a"),
          "set-meta",
          { ref: "meta", branch: branch("a").id, before: {}, after: { status: "pass", ünï: "✓" } },
          { ref: "epoch", branch: branch("a").id, before: 0, after: 2 ** 40 },
          { ref: "ttl", branch: branch("a").id, before: null, after: 1000 },
          { ref: "protected", branch: branch("a").id, before: false, after: true },
          { ref: "branch-name", branch: branch("a").id, before: "a", after: "x/y" },
        ),
      ),
      await catalog.commit(
        drafts.draft({
          kind: "destroy",
          database: branch("b").database,
          branch: branch("b").id,
          moves: [
            { ref: "branch-state", branch: branch("x/y").id, before: "live", after: "trashed" },
            { ref: "branch-state", branch: branch("b").id, before: "live", after: "trashed" },
          ],
          autosave: { branch: branch("b").id, version: v(2), base: v(1) },
        }),
      ),
    ];
    for (const operation of made) expect(catalog.operations.byId(operation.id)).toEqual(operation);
  });

  test("QUERY-9: summaries speak of names as they were then", async () => {
    const { catalog, drafts, branch, fork, checkpoint } = await shopCatalog();
    await fork("main", "attempt-1", "attempt-2");
    await fork("main", "single");
    await checkpoint("attempt-2", "good");
    await catalog.commit(drafts.move("promote", branch("main"), branch("attempt-2").head, branch("attempt-2").id));
    await catalog.commit(drafts.move("rollback", branch("main"), v(1)));
    await catalog.commit(drafts.rename(branch("attempt-2"), "winner"));
    await catalog.commit(drafts.destroy(branch("winner")));
    const { id } = branch("main");
    await catalog.commit(drafts.on(branch("main"), "touch", { ref: "ttl", branch: id, before: null, after: 5_400_000 }));
    const renamed = {
      kind: "rename-database",
      database: branch("main").database,
      moves: [{ ref: "database-name", database: branch("main").database, before: "shop", after: "store" }],
    } as const;
    await catalog.commit(drafts.draft(renamed));
    await catalog.commit(drafts.draft({ kind: "undo", database: branch("main").database, reverses: operationId(5), moves: [] }));
    const lines = catalog.operations
      .page({}, null, 99)
      .toReversed()
      .map((operation) => summariseOperation(operation, namesAt(catalog, operation.id)));
    expect(lines).toEqual([
      "Created shop",
      "Forked attempt-1 … attempt-2 (2) from main",
      "Forked single from main",
      "Checkpoint good (v2) on attempt-2",
      "Promoted attempt-2 → main",
      "Rolled back main v2 → v1",
      "Renamed attempt-2 → winner",
      "Moved winner to the trash",
      "Set the TTL of main to 1 h 30 m",
      "Renamed shop → store",
      "Undid: Promoted attempt-2 → main",
    ]);
    const rollback = present(catalog.operations.byId(operationId(6)));
    expect(describeMoves(rollback.moves, namesAt(catalog, rollback.id))).toEqual(["main: v2 → v1"]);
    const many = Array.from(
      { length: 1000 },
      (_, index) => ({ ref: "branch-state", branch: branchId(index + 1), before: "live", after: "trashed" }) as const,
    );
    expect(describeMoves(many, namesAt(catalog, rollback.id))).toEqual(["1000 branches: to the trash"]);
  });

  test("QUERY-10: what is asked often reads the rows it answers with, not the table", async () => {
    const { catalog, shop, branch } = await shopCatalog();
    const { connection } = catalog;
    const asked: [sql: string, values: (number | string | Uint8Array | null)[]][] = [];
    const { all, get } = { all: connection.all.bind(connection), get: connection.get.bind(connection) };
    Object.assign(connection, {
      all: (sql: string, ...values: number[]) => (asked.push([sql, values]), all(sql, ...values)),
      get: (sql: string, ...values: number[]) => (asked.push([sql, values]), get(sql, ...values)),
    });
    const main = branch("main");
    catalog.branches.page(shop.id, 0, 10);
    catalog.branches.childrenCount(main.id);
    catalog.branches.dueExpiries(START);
    catalog.branches.duePurges(START);
    catalog.branches.namesake(main.id);
    catalog.branches.nameAt(main.id, operationId(1));
    catalog.versions.byNumber(shop.id, v(1));
    catalog.versions.madeBy(main.id, null, 10);
    catalog.versions.segmentFor(shop.id, v(1));
    catalog.versions.isAncestor(shop.id, v(1), v(1));
    catalog.checkpoints.own(main.id, "auto-1");
    catalog.checkpoints.ofVersion(shop.id, v(1));
    catalog.checkpoints.countOfBranch(main.id);
    catalog.operations.page({}, null, 10);
    catalog.fact(main.id);
    expect(asked.length).toBeGreaterThan(15);
    for (const [sql, values] of asked) {
      const plan = all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values).map(({ detail }) => detail);
      const scans = plan.filter((step) => /^SCAN (?!c$|line|databases USING)/.test(step));
      expect(scans, sql).toEqual([]);
    }
  });
});

import { describe, expect, test } from "vitest";
import type { BranchId, OperationId } from "#shared/ids.ts";
import type { Catalog } from "#engine/catalog/catalog.ts";
import type { OperationRecord } from "#engine/catalog/records.ts";
import { lastRedoable, lastUndoable, planRedo, planUndo } from "#engine/catalog/undo.ts";
import { Drafts, operationId, START, v } from "./drafts.ts";
import { failure, present, shopCatalog } from "./fixture.ts";

/** Undo and redo as a person or agent does them, without naming an operation. */
function cursorOf(catalog: Catalog, drafts: Drafts): { undo(): Promise<OperationId | null>; redo(): Promise<OperationId | null> } {
  const scope = { actor: drafts.actor, since: START };
  return {
    undo: async () => {
      const operation = lastUndoable(catalog, scope);
      if (operation) await catalog.commit(drafts.reversal(planUndo(catalog, operation.id)));
      return operation?.id ?? null;
    },
    redo: async () => {
      const operation = lastRedoable(catalog, scope);
      if (operation) await catalog.commit(drafts.reversal(planRedo(catalog, operation)));
      return operation?.id ?? null;
    },
  };
}

/** Refs as text, without times and ids of operations, which an undo does not bring back. */
function refs(catalog: Catalog): string {
  const branches = catalog.connection.all<Record<string, unknown>>(
    "SELECT id, database, name, state, head, ttl, protected, meta, epoch FROM branches WHERE state = 0",
  );
  const databases = catalog.connection.all<Record<string, unknown>>("SELECT id, name, state FROM databases WHERE state = 0");
  const checkpoints = branches.map(({ id }) => catalog.checkpoints.ofBranch(id as BranchId).map(({ name, version }) => [name, version]));
  return JSON.stringify([branches, databases, checkpoints]);
}

describe("undo", () => {
  test("UNDO-1: every kind of operation is taken back and done again, ref by ref", async () => {
    const { catalog, drafts, shop, branch, fork, checkpoint } = await shopCatalog();
    await fork("main", "a", "b");
    const id = branch("a").id;
    const acts: (() => Promise<OperationRecord>)[] = [
      () => fork("a", "c", "d", "e"),
      () => checkpoint("a", "one"),
      () => checkpoint("a"),
      () => catalog.commit(drafts.move("rollback", branch("a"), v(2))),
      () => catalog.commit(drafts.move("promote", branch("main"), v(3), id)),
      () => catalog.commit(drafts.on(branch("a"), "touch", { ref: "ttl", branch: id, before: null, after: 60_000 })),
      () => catalog.commit(drafts.on(branch("a"), "set-meta", { ref: "meta", branch: id, before: {}, after: { k: "v" } })),
      () => catalog.commit(drafts.on(branch("a"), "protect", { ref: "protected", branch: id, before: false, after: true })),
      () => catalog.commit(drafts.on(branch("a"), "set-meta", { ref: "epoch", branch: id, before: 0, after: 1 })),
      () => catalog.commit(drafts.rename(branch("a"), "renamed")),
      () =>
        catalog.commit(
          drafts.on(branch("renamed"), "delete-checkpoint", { ref: "checkpoint", branch: id, name: "one", before: v(2), after: null }),
        ),
      () => catalog.commit(drafts.destroy(branch("b"))),
      () =>
        catalog.commit(
          drafts.draft({
            kind: "rename-database",
            database: shop.id,
            moves: [{ ref: "database-name", database: shop.id, before: "shop", after: "store" }],
          }),
        ),
      () =>
        catalog.commit(
          drafts.draft({
            kind: "drop-database",
            database: shop.id,
            moves: [{ ref: "database-state", database: shop.id, before: "live", after: "trashed" }],
          }),
        ),
    ];
    const states = [refs(catalog)];
    const operations: OperationRecord[] = [];
    for (const act of acts) {
      operations.push(await act());
      states.push(refs(catalog));
    }
    const { undo, redo } = cursorOf(catalog, drafts);
    for (let index = operations.length - 1; index >= 0; index -= 1) {
      expect(await undo()).toBe(operations[index]?.id);
      expect(refs(catalog), `undo of ${operations[index]?.kind}`).toBe(states[index]);
    }
    for (const [index, operation] of operations.entries()) {
      expect(await redo()).toBe(operation.id);
      expect(refs(catalog), `redo of ${operation.kind}`).toBe(states[index + 1]);
    }
    expect(await redo()).toBeNull();
  });

  test("UNDO-2: undo, undo, redo, undo walks like an editor, and something new clears redo", async () => {
    const { catalog, drafts, fork } = await shopCatalog();
    const [a, b, c] = [await fork("main", "a"), await fork("main", "b"), await fork("main", "c")];
    const { undo, redo } = cursorOf(catalog, drafts);
    expect(await undo()).toBe(c.id);
    expect(await undo()).toBe(b.id);
    expect(await redo()).toBe(b.id);
    expect(await undo()).toBe(b.id);
    expect(await redo()).toBe(b.id);
    expect(await redo()).toBe(c.id);
    expect(await redo()).toBeNull();
    expect(await undo()).toBe(c.id);
    const d = await fork("main", "d");
    expect(await redo()).toBeNull();
    expect(await undo()).toBe(d.id);
    expect(await redo()).toBe(d.id);
    expect(await undo()).toBe(d.id);
    expect(await undo()).toBe(b.id);
    expect(await undo()).toBe(a.id);
    expect(await undo()).toBe(1);
    expect(await undo()).toBeNull();
    expect(await redo()).toBe(1);
    expect(
      catalog.operations
        .page({}, null, 99)
        .filter(({ state }) => state === "undone")
        .map(({ id }) => id),
    ).toEqual([d.id, c.id, b.id, a.id]);
  });

  test("UNDO-3: each actor undoes what is their own, inside the database that is asked for", async () => {
    const { catalog, drafts, fork, branch, shop } = await shopCatalog();
    const eve = new Drafts(5, "eve");
    const mine = await fork("main", "mine");
    const hers = await catalog.commit(eve.fork(branch("main"), ["hers"]));
    await catalog.commit(drafts.create("other"));
    expect(lastUndoable(catalog, { actor: "eve", since: START })?.id).toBe(hers.id);
    expect(lastUndoable(catalog, { actor: "ada", since: START, database: shop.id })?.id).toBe(mine.id);
    expect(lastUndoable(catalog, { actor: "nobody", since: START })).toBeNull();
    expect(lastUndoable(catalog, { actor: "eve", since: hers.at + 1 })).toBeNull();
    // Whoever undid it can redo it; so does its author, once it is done again by nobody else.
    await catalog.commit(drafts.reversal(planUndo(catalog, hers.id)));
    expect(lastUndoable(catalog, { actor: "eve", since: START })).toBeNull();
    expect(lastRedoable(catalog, { actor: "eve", since: START })).toBeNull();
    expect(lastRedoable(catalog, { actor: "ada", since: START, database: shop.id })?.id).toBe(hers.id);
    const expired = await catalog.commit({ ...drafts.destroy(branch("mine")), kind: "expire" });
    expect(lastUndoable(catalog, { actor: "ada", since: START, database: shop.id })?.id).not.toBe(expired.id);
    expect(planUndo(catalog, expired.id).blockedBy).toEqual([]);
  });

  test("UNDO-4: later operations on the same refs stand in the way, with those that stand in theirs, newest first", async () => {
    const { catalog, drafts, branch, fork, checkpoint } = await shopCatalog();
    const forked = await fork("main", "a", "b");
    const first = await checkpoint("a", "one");
    await checkpoint("b", "elsewhere");
    const second = await checkpoint("a", "two");
    const renamed = await catalog.commit(drafts.rename(branch("a"), "c"));
    const blockers = (id: OperationId): number[] => planUndo(catalog, id).blockedBy.map((operation) => operation.id);
    expect(blockers(first.id)).toEqual([second.id]);
    expect(blockers(renamed.id)).toEqual([]);
    expect(blockers(forked.id)).toEqual([renamed.id, second.id, 4, first.id]);
    expect(blockers(operationId(1))).toHaveLength(5);
    // What is undone stands in nobody's way.
    const undone = await catalog.commit(drafts.reversal(planUndo(catalog, second.id)));
    expect(blockers(first.id)).toEqual([]);
    // What is redone stands where it was redone.
    await catalog.commit(drafts.reversal(planUndo(catalog, undone.id)));
    expect(blockers(first.id)).toEqual([second.id]);
    // The chain, newest first, goes through.
    const chain = planUndo(catalog, forked.id);
    for (const operation of [...chain.blockedBy, chain.operation]) await catalog.commit(drafts.reversal(planUndo(catalog, operation.id)));
    expect(catalog.branches.page(branch("main").database, 0, 9).map(({ name }) => name)).toEqual(["main"]);
  });

  test("UNDO-5: a taken name stands in the way of getting it back", async () => {
    const { catalog, drafts, branch, fork } = await shopCatalog();
    await fork("main", "a");
    const renamed = await catalog.commit(drafts.rename(branch("a"), "b"));
    const destroyed = await catalog.commit(drafts.destroy(branch("b")));
    await fork("main", "x");
    const taking = await catalog.commit(drafts.rename(branch("x"), "b"));
    expect(planUndo(catalog, destroyed.id).blockedBy.map(({ id }) => id)).toEqual([taking.id]);
    expect((await failure(() => catalog.commit(drafts.reversal(planUndo(catalog, destroyed.id))))).code).toBe("name-taken");
    const again = await fork("main", "a");
    expect(planUndo(catalog, renamed.id).blockedBy.map(({ id }) => id)).toEqual(
      [again.id, taking.id, destroyed.id].toSorted((one, two) => two - one),
    );
  });

  test("UNDO-6: the undo of an undo is a redo, and of a redo an undo", async () => {
    const { catalog, drafts, fork } = await shopCatalog();
    const forked = await fork("main", "a");
    const undone = await catalog.commit(drafts.reversal(planUndo(catalog, forked.id)));
    expect(undone).toMatchObject({ kind: "undo", reverses: forked.id });
    const plan = planUndo(catalog, undone.id);
    expect([plan.kind, plan.operation.id]).toEqual(["redo", forked.id]);
    const redone = await catalog.commit(drafts.reversal(plan));
    expect(redone).toMatchObject({ kind: "redo", reverses: forked.id });
    expect([planUndo(catalog, redone.id).kind, planUndo(catalog, redone.id).operation.id]).toEqual(["undo", forked.id]);
  });

  test("UNDO-11: asking twice to undo the same operation, or the same undo, is refused", async () => {
    const { catalog, drafts, fork } = await shopCatalog();
    const forked = await fork("main", "a");
    const undone = await catalog.commit(drafts.reversal(planUndo(catalog, forked.id)));
    expect(await failure(() => planUndo(catalog, forked.id))).toMatchObject({ code: "nothing-to-undo", hint: "Redo does it again" });
    const redone = await catalog.commit(drafts.reversal(planUndo(catalog, undone.id)));
    expect(await failure(() => planUndo(catalog, undone.id))).toMatchObject({ code: "nothing-to-undo", hint: null });
    await catalog.commit(drafts.reversal(planUndo(catalog, redone.id)));
    expect(await failure(() => planUndo(catalog, redone.id))).toMatchObject({ code: "nothing-to-undo" });
  });

  test("UNDO-7: an operation is undone once: of two who try, one is refused", async () => {
    const { catalog, drafts, fork } = await shopCatalog();
    const forked = await fork("main", "a");
    const plan = planUndo(catalog, forked.id);
    const results = await Promise.allSettled([catalog.commit(drafts.reversal(plan)), catalog.commit(new Drafts(3, "eve").reversal(plan))]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(results[1]).toMatchObject({ reason: { code: "stale-precondition" } });
  });

  test("UNDO-8: what cannot be undone says why", async () => {
    const { catalog, drafts, branch, fork } = await shopCatalog();
    await fork("main", "a");
    const touched = await catalog.commit(drafts.on(branch("a"), "touch"));
    expect(await failure(() => planUndo(catalog, touched.id))).toMatchObject({ code: "nothing-to-undo" });
    expect(await failure(() => planUndo(catalog, operationId(99)))).toMatchObject({ code: "operation-not-found" });
    const a = branch("a");
    const destroyed = await catalog.commit(drafts.destroy(a));
    const purge = { plannedAt: destroyed.id, branches: [a.id], databases: [], versions: [], strands: [destroyed.id] };
    const purged = await catalog.commit(drafts.draft({ kind: "purge", purge }));
    expect(await failure(() => planUndo(catalog, destroyed.id))).toMatchObject({ code: "undo-blocked" });
    expect(await failure(() => planUndo(catalog, purged.id))).toMatchObject({ code: "undo-blocked" });
    expect(present(catalog.operations.byId(destroyed.id)).state).toBe("permanent");
  });

  test("UNDO-12: what stands on an operation for good keeps it from being undone, unless it was taken back before", async () => {
    const { catalog, drafts, checkpoint } = await shopCatalog();
    const first = await checkpoint("main", "first");
    const second = await checkpoint("main", "second");
    const strand = async (): Promise<unknown> => {
      const purge = { plannedAt: catalog.lastOperation(), branches: [], databases: [], versions: [], strands: [second.id] };
      return catalog.commit(drafts.draft({ kind: "purge", purge }));
    };
    await catalog.commit(drafts.reversal(planUndo(catalog, second.id)));
    await strand();
    expect(planUndo(catalog, first.id).blockedBy).toEqual([]);
    const third = await checkpoint("main", "third");
    await catalog.commit(
      drafts.draft({ kind: "purge", purge: { plannedAt: third.id, branches: [], databases: [], versions: [], strands: [third.id] } }),
    );
    expect(await failure(() => planUndo(catalog, first.id))).toMatchObject({ code: "undo-blocked", details: { operations: [third.id] } });
  });

  test("UNDO-13: of many that are taken back one by one, none reads those that were before", async () => {
    const { catalog, drafts, branch, fork } = await shopCatalog();
    const names = ["a", "b", "c", "d"];
    const { id: before } = await fork("main", ...names);
    const destroyed: OperationRecord[] = [];
    for (const name of names) destroyed.push(await catalog.commit(drafts.destroy(branch(name))));
    const standing = () => [...catalog.operations.standing({}, before)].map(({ id }) => id);
    expect(standing()).toEqual(destroyed.map(({ id }) => id));
    const [first, second, third, fourth] = destroyed.map(({ id }) => id);
    const undone = await catalog.commit(drafts.reversal(planUndo(catalog, present(fourth))));
    await catalog.commit(drafts.reversal(planUndo(catalog, present(third))));
    expect(standing()).toEqual([first, second]);
    const redone = await catalog.commit(drafts.reversal(planUndo(catalog, undone.id)));
    expect(standing()).toEqual([first, second, fourth, redone.id]);
  });

  test("UNDO-9: undo of a fork of 20,000 is one small operation", async () => {
    const { catalog, drafts, branch, shop } = await shopCatalog();
    const forked = await catalog.commit(
      drafts.fork(
        branch("main"),
        Array.from({ length: 20_000 }, (_, index) => `n${index}`),
      ),
    );
    const undone = await catalog.commit(drafts.reversal(planUndo(catalog, forked.id)));
    expect(catalog.branches.count(shop.id)).toBe(1);
    expect(
      catalog.connection.get<{ bytes: number }>("SELECT length(detail) AS bytes FROM operations WHERE id = ?", undone.id)?.bytes,
    ).toBeLessThan(20);
    await catalog.commit(drafts.reversal(planUndo(catalog, undone.id)));
    expect(catalog.branches.count(shop.id)).toBe(20_001);
  });
});

/**
 * Random verbs of two actors, with undo and redo, against a model that keeps refs in a map and undo in plain stacks.
 * `COPPICE_SEED=n` repeats one run.
 */
import { mkdtempSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EngineError } from "#engine/io/errors.ts";
import type { Catalog } from "#engine/catalog/catalog.ts";
import { checkIntegrity } from "#engine/catalog/integrity.ts";
import type { BranchRecord, Move, OperationDraft, OperationRecord } from "#engine/catalog/records.ts";
import { lastRedoable, lastUndoable, planRedo, planUndo, type ReversalPlan } from "#engine/catalog/undo.ts";
import { Drafts, START, v } from "./drafts.ts";
import { emptyCatalog, shopCatalog, temporaryFolder, type Shop } from "./fixture.ts";

const STEPS = 60;
const RUNS = 12;

/** Mulberry32 (Tommy Ettinger, public domain). */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Value = string | number | boolean | null;
type Change = readonly [ref: string, value: Value];
interface Done {
  readonly id: number;
  readonly actor: string;
  /** Ref, what it was, what it became; null = not there. */
  readonly changes: readonly (readonly [ref: string, before: Value, after: Value])[];
  undone: boolean;
}

class Model {
  readonly refs = new Map<string, Value>();
  readonly log = new Map<number, Done>();
  readonly redo = new Map<string, number[]>();

  /** `born`: refs of new branches, which keep their values in the trash when the fork is undone. */
  act(id: number, actor: string, after: readonly Change[], born: readonly Change[] = []): void {
    const changes = after.map(([ref, value]) => [ref, this.refs.get(ref) ?? null, value] as const);
    this.log.set(id, { id, actor, changes, undone: false });
    this.redo.set(actor, []);
    for (const [ref, value] of [...after, ...born]) this.#set(ref, value);
  }

  reverse(actor: string, kind: "undo" | "redo", id: number): void {
    const done = this.log.get(id);
    if (!done || done.undone !== (kind === "redo")) throw new Error(`the model cannot ${kind} operation ${id}`);
    for (const [ref, before, after] of done.changes) {
      const [found, expected] = [this.refs.get(ref) ?? null, kind === "undo" ? after : before];
      if (found !== expected) throw new Error(`${kind} of ${id}: ${ref} is ${String(found)}, the model expects ${String(expected)}`);
      this.#set(ref, kind === "undo" ? before : after);
    }
    done.undone = kind === "undo";
    const stack = this.redo.get(actor) ?? [];
    this.redo.set(actor, kind === "undo" ? [...stack, id] : without(stack, id));
  }

  undoable(actor: string): number | null {
    const mine = [...this.log.values()].filter((done) => done.actor === actor && !done.undone);
    return mine.at(-1)?.id ?? null;
  }
  redoable(actor: string): number | null {
    return (this.redo.get(actor) ?? []).findLast((id) => this.log.get(id)?.undone) ?? null;
  }

  #set(ref: string, value: Value): void {
    if (value === null) this.refs.delete(ref);
    else this.refs.set(ref, value);
  }
  text(): string[] {
    return [...this.refs].map(([ref, value]) => `${ref} = ${String(value)}`).toSorted();
  }
}

function without(stack: readonly number[], id: number): number[] {
  const at = stack.lastIndexOf(id);
  return at < 0 ? [...stack] : stack.toSpliced(at, 1);
}

/** The catalog's refs in the model's words. A trashed branch keeps its refs. */
function refsOf(catalog: Catalog): string[] {
  const lines: string[] = [];
  const ids = catalog.connection.all<{ id: BranchRecord["id"] }>("SELECT id FROM branches ORDER BY id");
  for (const branch of ids.flatMap(({ id }) => catalog.branches.byId(id) ?? [])) {
    const { id, state, name, head, ttlMs } = branch;
    if (state === "live") lines.push(`${id} live = true`);
    lines.push(`${id} name = ${name}`, `${id} head = ${head}`);
    if (branch.protected) lines.push(`${id} protected = true`);
    if (ttlMs !== null) lines.push(`${id} ttl = ${ttlMs}`);
    for (const checkpoint of catalog.checkpoints.ofBranch(id)) lines.push(`${id} checkpoint ${checkpoint.name} = ${checkpoint.version}`);
  }
  return lines.toSorted();
}

/** One verb that could be done now, and the refs it sets. */
interface Act {
  readonly draft: OperationDraft;
  readonly changes: (operation: OperationRecord) => Change[];
  readonly born?: (operation: OperationRecord) => Change[];
}

function one(draft: OperationDraft, ...changes: Change[]): Act {
  return { draft, changes: () => changes };
}
function childOf({ newBranches }: OperationRecord, index: number): number {
  return (newBranches?.first ?? 0) + index;
}

function randomAct(shop: Shop, drafts: Drafts, random: (below: number) => number): Act {
  const { catalog } = shop;
  const live = catalog.branches.page(shop.shop.id, 0, 1000);
  const [main] = live;
  const branch = live[random(live.length)] ?? main;
  if (!branch) throw new Error("main is never destroyed");
  const { id } = branch;
  const name = `b${random(8)}`;
  const versions = catalog.versions.page(shop.shop.id, 0, 1000);
  const target = versions[random(versions.length)]?.number ?? v(1);
  switch (random(9)) {
    case 0: {
      const names = Array.from({ length: 1 + random(3) }, (_, index) => `${name}${index === 0 ? "" : `-${index}`}`);
      return {
        draft: drafts.fork(branch, names),
        changes: (operation) => names.map((_, index) => [`${childOf(operation, index)} live`, true]),
        born: (operation) =>
          names.flatMap((text, index): Change[] => [
            [`${childOf(operation, index)} name`, text],
            [`${childOf(operation, index)} head`, branch.head],
          ]),
      };
    }
    case 1:
      return {
        draft: drafts.checkpoint(branch),
        changes: ({ newVersions: [made = 0] }) => [
          [`${id} head`, made],
          [`${id} checkpoint auto-${made}`, made],
        ],
      };
    case 2:
      return {
        draft: drafts.checkpoint(branch, `c${random(4)}`),
        changes: ({ newVersions: [made = 0], moves }) => [
          [`${id} head`, made],
          [`${id} checkpoint ${nameIn(moves)}`, made],
        ],
      };
    case 3:
      return one(drafts.move("rollback", branch, target), [`${id} head`, target]);
    case 4: {
      const onto = live[random(live.length)] ?? branch;
      return one(drafts.move("promote", onto, branch.head, id), [`${onto.id} head`, branch.head]);
    }
    case 5:
      return one(drafts.rename(branch, name), [`${id} name`, name]);
    case 6:
      return one(drafts.on(branch, "protect", { ref: "protected", branch: id, before: branch.protected, after: !branch.protected }), [
        `${id} protected`,
        branch.protected ? null : true,
      ]);
    case 7: {
      const ttl = random(3) === 0 ? null : 60_000 + random(1000);
      return one(drafts.on(branch, "touch", { ref: "ttl", branch: id, before: branch.ttlMs, after: ttl }), [`${id} ttl`, ttl]);
    }
    default:
      return id === 1
        ? one(drafts.move("rollback", branch, target), [`${id} head`, target])
        : one(drafts.destroy(branch), [`${id} live`, null]);
  }
}

function nameIn(moves: readonly Move[]): string {
  return moves.find((move) => move.ref === "checkpoint")?.name ?? "";
}

/** Commits a reversal, in the catalog and in the model; with the chain in its way, if there is one. */
async function reverse(catalog: Catalog, model: Model, drafts: Drafts, plan: ReversalPlan): Promise<void> {
  for (const blocker of plan.blockedBy) {
    const first = planUndo(catalog, blocker.id);
    expect(
      first.blockedBy.map(({ id }) => id),
      `the chain of ${plan.operation.id} is in order`,
    ).toEqual([]);
    await catalog.commit(drafts.reversal(first));
    model.reverse(drafts.actor, "undo", blocker.id);
  }
  const current = plan.kind === "undo" ? planUndo(catalog, plan.operation.id) : planRedo(catalog, plan.operation);
  expect(current.blockedBy).toEqual([]);
  try {
    await catalog.commit(drafts.reversal(current));
  } catch (error) {
    // A redo can need another redo first: then it is refused, and nothing changed.
    expect([plan.kind, error instanceof EngineError && error.code]).toEqual([
      "redo",
      expect.stringMatching(/stale-precondition|name-taken/),
    ]);
    return;
  }
  model.reverse(drafts.actor, plan.kind, plan.operation.id);
}

async function step(shop: Shop, model: Model, drafts: Drafts, random: (below: number) => number): Promise<void> {
  const { catalog } = shop;
  const scope = { actor: drafts.actor, since: START };
  const choice = random(10);
  if (choice < 2) {
    const operation = lastUndoable(catalog, scope);
    expect(operation?.id ?? null).toBe(model.undoable(drafts.actor));
    if (operation) await reverse(catalog, model, drafts, planUndo(catalog, operation.id));
    return;
  }
  if (choice < 4) {
    const operation = lastRedoable(catalog, scope);
    expect(operation?.id ?? null).toBe(model.redoable(drafts.actor));
    if (operation) await reverse(catalog, model, drafts, planRedo(catalog, operation));
    return;
  }
  const act = randomAct(shop, drafts, random);
  try {
    const operation = await catalog.commit(act.draft);
    model.act(operation.id, drafts.actor, act.changes(operation), act.born?.(operation));
  } catch (error) {
    // A name that is in use, of a branch or of a checkpoint.
    expect(error).toMatchObject({ code: expect.stringMatching(/name-taken|stale-precondition/), untouched: "Nothing was changed." });
  }
}

async function run(seed: number, folder: string): Promise<void> {
  const random = randomNumbers(seed);
  const shop = await shopCatalog(emptyCatalog(folder));
  const model = new Model();
  // A third actor made the database, so that nobody undoes that.
  const actors = [new Drafts(1, "eve"), new Drafts(2, "ivy")];
  for (const [ref, value] of [
    ["1 live", true],
    ["1 name", "main"],
    ["1 head", 1],
  ] as const)
    model.refs.set(ref, value);
  for (let count = 0; count < STEPS; count += 1) {
    await step(shop, model, actors[random(2)] ?? shop.drafts, random);
    expect(refsOf(shop.catalog), `seed ${seed}, step ${count}`).toEqual(model.text());
  }
  expect(checkIntegrity(shop.catalog)).toEqual([]);
  shop.catalog.close();
}

test("UNDO-10: random verbs, undos and redos of two actors leave the refs that a plain model has", async () => {
  const base = temporaryFolder();
  const given = process.env["COPPICE_SEED"];
  const first = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  console.log(`COPPICE_SEED=${first}`);
  for (let index = 0; index < (given === undefined ? RUNS : 1); index += 1) {
    const folder = mkdtempSync(join(base, "run-"));
    try {
      await run(first + index, folder);
    } catch (error) {
      throw new Error(`COPPICE_SEED=${first + index}`, { cause: error });
    }
    expect(readdirSync(folder).includes("catalog.db"), "a run leaves its catalog").toBe(true);
  }
}, 120_000);

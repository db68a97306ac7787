/**
 * Random sequences of verbs against a model that keeps plain copies of everything. The model is as simple as the rules
 * of docs/SPEC.md: a branch has a head, checkpoints and perhaps a file; every state is a plain value.
 */
import { rmSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createStore, EngineError, type Store } from "#engine/store.ts";

const RUNS = Number(process.env["COPPICE_MODEL_RUNS"] ?? 1000);
const SEED = Number(process.env["COPPICE_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const NAMES = ["main", "a", "b", "c"] as const;

/** The whole content of a database: rows of its only table as text. */
type Content = string;

interface ModelBranch {
  head: Content;
  headNumber: number;
  checkpoints: Map<string, { content: Content; number: number }>;
  file: Content | null;
}
interface Done {
  readonly operation: number;
  undo(): void;
  redo(): void;
}

class Model {
  branches = new Map<string, ModelBranch>();
  trash = new Map<number, { name: string; branch: ModelBranch }>();
  done: Done[] = [];
  undone: Done[] = [];
  did(operation: number, undo: () => void, redo: () => void): void {
    this.done.push({ operation, undo, redo });
    this.undone = [];
  }
}

interface Real {
  store: Store;
}

type Step =
  | { do: "checkout"; branch: string }
  | { do: "write"; branch: string; key: number; value: number }
  | { do: "checkpoint"; branch: string; name: string | null }
  | { do: "fork"; branch: string; to: string; from: string | null; withUnsaved: boolean }
  | { do: "rollback"; branch: string; to: string }
  | { do: "promote"; branch: string; onto: string }
  | { do: "destroy"; branch: string }
  | { do: "rename"; branch: string; to: string }
  | { do: "undo" }
  | { do: "redo" };

const branchName = fc.constantFrom(...NAMES);
const checkpointName = fc.constantFrom("one", "two", "three");
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("checkout" as const), branch: branchName }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("write" as const), branch: branchName, key: fc.nat(5), value: fc.nat(9) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("checkpoint" as const), branch: branchName, name: fc.option(checkpointName) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("fork" as const),
      branch: branchName,
      to: branchName,
      from: fc.option(checkpointName),
      withUnsaved: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("rollback" as const), branch: branchName, to: checkpointName }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("promote" as const), branch: branchName, onto: branchName }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("destroy" as const), branch: branchName }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("rename" as const), branch: branchName, to: branchName }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("undo" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("redo" as const) }) },
);

test(`MODEL-1: random verbs leave the store as the plain model says (seed ${SEED})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepArbitrary, { minLength: 4, maxLength: 14 }), async (steps) => {
      const folder = mkdtempSync(join(tmpdir(), "coppice-model-"));
      const store = await createStore(join(folder, "store"), { actor: "anna", ownProcess: true }, { mergeFanIn: 2 });
      try {
        const model = new Model();
        const created = await store.create({ database: "shop" });
        model.branches.set("main", { head: "", headNumber: created.branch?.head ?? 0, checkpoints: new Map(), file: null });
        for (const step of steps) {
          await perform(step, model, { store });
          await compare(model, { store });
        }
        expect(await store.verify({})).toMatchObject({ ok: true, problems: [] });
      } finally {
        await store.close();
        rmSync(folder, { recursive: true, force: true });
      }
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: false },
  );
}, 900_000);

async function perform(step: Step, model: Model, real: Real): Promise<void> {
  switch (step.do) {
    case "checkout":
      return performCheckout(step.branch, model, real);
    case "write":
      return performWrite(step, model, real);
    case "checkpoint":
      return performCheckpoint(step, model, real);
    case "fork":
      return performFork(step, model, real);
    case "rollback":
      return performRollback(step, model, real);
    case "promote":
      return performPromote(step, model, real);
    case "destroy":
      return performDestroy(step.branch, model, real);
    case "rename":
      return performRename(step, model, real);
    case "undo":
      return performUndo(model, real);
    case "redo":
      return performRedo(model, real);
  }
}

const on = (branch: string) => ({ database: "shop", branch });

async function refused(code: string, act: () => Promise<unknown>): Promise<void> {
  const error = await act().then(
    () => null,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(EngineError);
  expect((error as EngineError).code).toBe(code);
}

async function performCheckout(name: string, model: Model, { store }: Real): Promise<void> {
  const branch = model.branches.get(name);
  if (!branch) return refused("branch-not-found", () => store.checkout(on(name)));
  await store.checkout(on(name));
  branch.file ??= branch.head;
}

/** Through a stock client; only where there is a file. */
function performWrite(step: Step & { do: "write" }, model: Model, { store }: Real): Promise<void> {
  const branch = model.branches.get(step.branch);
  if (branch?.file == null) return Promise.resolve();
  const database = new Database(store.checkoutPath("shop", step.branch));
  database.exec("CREATE TABLE IF NOT EXISTS kv (k INTEGER PRIMARY KEY, v INTEGER)");
  if (step.value === 0) database.prepare("DELETE FROM kv WHERE k = ?").run(step.key);
  else database.prepare("INSERT INTO kv VALUES (?, ?) ON CONFLICT DO UPDATE SET v = excluded.v").run(step.key, step.value);
  database.close();
  branch.file = readContent(store.checkoutPath("shop", step.branch));
  return Promise.resolve();
}

function readContent(path: string): Content {
  const database = new Database(path, { readonly: true });
  try {
    const exists = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'kv'").get();
    return exists ? `kv:${JSON.stringify(database.prepare("SELECT k, v FROM kv ORDER BY k").raw().all())}` : "";
  } finally {
    database.close();
  }
}

async function performCheckpoint(step: Step & { do: "checkpoint" }, model: Model, { store }: Real): Promise<void> {
  const branch = model.branches.get(step.branch);
  const name = step.name ?? undefined;
  if (!branch) return refused("branch-not-found", () => store.checkpoint({ ...on(step.branch), name }));
  if (name !== undefined && branch.checkpoints.has(name))
    return refused("name-taken", () => store.checkpoint({ ...on(step.branch), name }));
  const result = await store.checkpoint({ ...on(step.branch), name });
  if (!result.operation) return;
  const before = { head: branch.head, headNumber: branch.headNumber };
  const after = { head: branch.file ?? branch.head, headNumber: result.version };
  const redo = () => {
    Object.assign(branch, after);
    if (name !== undefined) branch.checkpoints.set(name, { content: after.head, number: result.version });
  };
  redo();
  model.did(
    result.operation.id,
    () => {
      Object.assign(branch, before);
      if (name !== undefined) branch.checkpoints.delete(name);
    },
    redo,
  );
}

async function performFork(step: Step & { do: "fork" }, model: Model, { store }: Real): Promise<void> {
  const parent = model.branches.get(step.branch);
  const at = step.from ?? undefined;
  const withUnsaved = step.withUnsaved && at === undefined;
  const input = { ...on(step.branch), newBranch: step.to, at, withUnsaved };
  if (!parent) return refused("branch-not-found", () => store.fork(input));
  if (model.branches.has(step.to)) return refused("name-taken", () => store.fork(input));
  // Inherited checkpoints are covered by the verbs' own tests; the model only names own ones.
  const start = at === undefined ? null : parent.checkpoints.get(at);
  if (at !== undefined && !start) return;
  const before = { head: parent.head, headNumber: parent.headNumber };
  const result = await store.fork(input);
  const child: ModelBranch = {
    head: start?.content ?? parent.head,
    headNumber: result.branch?.head ?? 0,
    checkpoints: new Map(),
    file: null,
  };
  if (withUnsaved && parent.file !== null) Object.assign(parent, { head: parent.file, headNumber: child.headNumber });
  const after = { head: parent.head, headNumber: parent.headNumber };
  if (withUnsaved) child.head = parent.head;
  model.branches.set(step.to, child);
  model.did(
    result.operation?.id ?? 0,
    () => {
      model.branches.delete(nameOf(model, child));
      if (withUnsaved) Object.assign(parent, before);
    },
    () => {
      model.branches.set(step.to, child);
      if (withUnsaved) Object.assign(parent, after);
    },
  );
}

function nameOf(model: Model, wanted: ModelBranch): string {
  for (const [name, branch] of model.branches) if (branch === wanted) return name;
  throw new Error("the branch is in the model");
}

async function performRollback(step: Step & { do: "rollback" }, model: Model, { store }: Real): Promise<void> {
  const branch = model.branches.get(step.branch);
  const target = branch?.checkpoints.get(step.to);
  if (!branch || !target) return;
  const result = await store.rollback({ ...on(step.branch), to: step.to });
  moved(model, branch, { head: target.content, headNumber: target.number }, result.operation?.id ?? null);
}

async function performPromote(step: Step & { do: "promote" }, model: Model, { store }: Real): Promise<void> {
  const source = model.branches.get(step.branch);
  const target = model.branches.get(step.onto);
  const input = { database: "shop", source: step.branch, onto: step.onto };
  if (!source || !target) return refused("branch-not-found", () => store.promote(input));
  if (source === target) return refused("bad-argument", () => store.promote(input));
  const result = await store.promote(input);
  moved(model, target, { head: source.head, headNumber: source.headNumber }, result.operation?.id ?? null);
}

/** The file follows the head; its unsaved work comes back with the undo. */
function moved(model: Model, branch: ModelBranch, after: Pick<ModelBranch, "head" | "headNumber">, operation: number | null): void {
  const before = { head: branch.head, headNumber: branch.headNumber };
  const file = branch.file;
  if (operation === null) return;
  const redo = () => {
    Object.assign(branch, after);
    if (branch.file !== null) branch.file = after.head;
  };
  redo();
  model.did(
    operation,
    () => {
      Object.assign(branch, before);
      if (branch.file !== null) branch.file = file ?? before.head;
    },
    redo,
  );
}

async function performDestroy(name: string, model: Model, { store }: Real): Promise<void> {
  const branch = model.branches.get(name);
  if (!branch) return refused("branch-not-found", () => store.destroy(on(name)));
  const result = await store.destroy(on(name));
  model.branches.delete(name);
  model.did(
    result.operation?.id ?? 0,
    () => model.branches.set(name, branch),
    () => model.branches.delete(name),
  );
}

async function performRename(step: Step & { do: "rename" }, model: Model, { store }: Real): Promise<void> {
  const branch = model.branches.get(step.branch);
  const input = { ...on(step.branch), to: step.to };
  if (!branch) return refused("branch-not-found", () => store.rename(input));
  if (step.branch === step.to) return;
  if (model.branches.has(step.to)) return refused("name-taken", () => store.rename(input));
  const result = await store.rename(input);
  const apply = (from: string, to: string) => {
    model.branches.delete(from);
    model.branches.set(to, branch);
  };
  apply(step.branch, step.to);
  model.did(
    result.operation?.id ?? 0,
    () => apply(step.to, step.branch),
    () => apply(step.branch, step.to),
  );
}

async function performUndo(model: Model, { store }: Real): Promise<void> {
  const last = model.done.at(-1);
  // The first operation made the database itself: undoing it is covered elsewhere.
  if (!last) return;
  await store.undo({});
  last.undo();
  model.done.pop();
  model.undone.push(last);
}

async function performRedo(model: Model, { store }: Real): Promise<void> {
  const last = model.undone.at(-1);
  if (!last) return refused("nothing-to-undo", () => store.redo({}));
  await store.redo({});
  last.redo();
  model.undone.pop();
  model.done.push(last);
}

async function compare(model: Model, { store }: Real): Promise<void> {
  const { branches } = await store.branches({ database: "shop" });
  expect(new Set(branches.map((branch) => branch.name))).toEqual(new Set(model.branches.keys()));
  for (const view of branches) {
    const expected = model.branches.get(view.name);
    if (!expected) continue;
    expect({ name: view.name, head: view.head }).toEqual({ name: view.name, head: expected.headNumber });
    if (expected.file === null) {
      expect(["none", "missing"]).toContain(view.checkout.state);
    } else {
      expect({ name: view.name, file: readContent(view.checkout.path) }).toEqual({ name: view.name, file: expected.file });
      if (expected.file !== expected.head)
        expect({ name: view.name, state: view.checkout.state }).toEqual({ name: view.name, state: "unsaved" });
    }
  }
}

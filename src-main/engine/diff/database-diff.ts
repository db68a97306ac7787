/**
 * Two states of a database, compared in three steps that each leave out what the one before showed to be equal: pages,
 * then tables, then rows. Works on anything whose pages can be read.
 */
import type { DiffColumnView, SchemaChangeView, TableDiffView } from "#shared/diff-views.ts";
import { looksLikeBtreePage } from "../format/btree-page.ts";
import { EngineError } from "../io/errors.ts";
import type { Work } from "../segments/page-source.ts";
import { breathe } from "../transfer/long-work.ts";
import { findCandidates, type Candidates } from "./candidate-pages.ts";
import { ChangedPages } from "./changed-pages.ts";
import { pairObjects, schemaChanges, type ObjectPair } from "./compare-schema.ts";
import type { DatabasePages } from "./database-pages.ts";
import { isKnownCollation } from "./key-order.ts";
import { markOwners } from "./overwritten-values.ts";
import { ReadAhead } from "./read-ahead.ts";
import { isVirtual, readSchema, shadowOwners, type SchemaObject } from "./read-schema.ts";
import { PageSet } from "./page-set.ts";
import type { RowMatcher } from "./row-matcher.ts";
import { TableComparison, type SharedPages } from "./table-comparison.ts";
import { pairTables, type TablePair } from "./table-pair.ts";
import { readShapes, type TableShape } from "./table-shape.ts";
import type { Tree } from "./tree-cursor.ts";
import type { OrderedTree } from "./tree-seek.ts";

export interface DiffState {
  readonly pages: DatabasePages;
  readonly schema: readonly SchemaObject[];
}

/** A table whose rows may differ. */
export interface DiffTable {
  readonly view: TableDiffView;
  /** Null when it cannot be compared: the view says why. */
  readonly pair: TablePair | null;
  readonly objects: ObjectPair;
  /** Null when both trees are compared as wholes. */
  readonly shared: SharedPages | null;
}

export interface DatabaseDiff {
  readonly left: DiffState;
  readonly right: DiffState;
  readonly comparison: "shared" | "full";
  readonly changedPages: number | null;
  readonly schema: readonly SchemaChangeView[];
  readonly tables: readonly DiffTable[];
  readonly equalTables: number;
  readonly notes: readonly string[];
}

/**
 * `differing`: numbers of the pages that differ; null when the two states have no pages in common that are known to be
 * equal. Throws `database-corrupt` when a schema cannot be read, and `cancelled`.
 */
export async function compareDatabases(
  left: DatabasePages,
  right: DatabasePages,
  differing: readonly number[] | null,
  work: Work,
): Promise<DatabaseDiff> {
  await breathe(work);
  const isComparable = left.pageSize === right.pageSize && left.usable === right.usable && left.header.encoding === right.header.encoding;
  const numbers = isComparable ? differing : null;
  const states = { left: { pages: left, schema: readSchema(left) }, right: { pages: right, schema: readSchema(right) } };
  const pairs = pairObjects(states.left.schema, states.right.schema, numbers !== null);
  const tablePairs = pairs.filter(({ left: a, right: b }) => isStored(a ?? b));
  const keys = keyedTrees(states.right);
  const changes = numbers && (await ChangedPages.read(left, right, numbers, [...rowidTrees(states.right, keys), ...keys.values()], work));
  const found = changes ? await findShared(changes, tablePairs, keys, work) : new Map<ObjectPair, SharedPages>();
  const open = tablePairs.filter((pair) => mayDiffer(pair, found.get(pair) ?? null));
  const tables = describeTables(states, open, found);
  return {
    ...states,
    comparison: changes ? "shared" : "full",
    changedPages: changes ? changes.changed.size : null,
    schema: schemaChanges(pairs, states.left, states.right),
    tables,
    equalTables: tablePairs.length - open.length,
    notes: notesOf(pairs, tables),
  };
}

export function compareTable(table: DiffTable, makeMatcher: () => RowMatcher, only: ReadonlySet<number> | null = null): TableComparison {
  if (!table.pair) {
    throw new EngineError("unsupported", `Rows of ${table.view.name} cannot be compared: ${table.view.notComparable ?? "unknown"}`, {
      details: { name: table.view.name },
    });
  }
  return new TableComparison(table.pair, table.shared, makeMatcher, only);
}

function isStored(object: SchemaObject | null): boolean {
  return object !== null && object.type === "table" && !isVirtual(object);
}

function saysWithoutRowid({ sql }: SchemaObject): boolean {
  return /\bwithout\s+rowid\b/i.test(sql ?? "");
}

/** Trees of tables WITHOUT ROWID whose order is known here, by root page. */
function keyedTrees({ pages, schema }: DiffState): Map<number, OrderedTree> {
  const tables = schema.filter((object) => isStored(object) && object.root > 0 && saysWithoutRowid(object));
  const trees = new Map<number, OrderedTree>();
  if (tables.length === 0) return trees;
  const shapes = readShapes(tables, schema, pages.header.schemaFormat);
  for (const { name, root } of tables) {
    const shape = shapes.get(name);
    if (!shape || typeof shape === "string" || shape.hasRowid || !shape.primaryKey) continue;
    if (shape.primaryKey.every(({ collation }) => isKnownCollation(collation)))
      trees.set(root, { pages, root, isTable: false, key: shape.primaryKey });
  }
  return trees;
}

function rowidTrees({ pages, schema }: DiffState, keyed: ReadonlyMap<number, OrderedTree>): OrderedTree[] {
  const roots = schema.filter((object) => isStored(object) && object.root > 0 && !keyed.has(object.root)).map(({ root }) => root);
  return [1, ...roots].map((root) => ({ pages, root, isTable: true, key: null }));
}

/** Candidates of each pair of trees, once the owners of values that were overwritten in place are known. */
async function findShared(
  changes: ChangedPages,
  pairs: readonly ObjectPair[],
  keyed: ReadonlyMap<number, OrderedTree>,
  work: Work,
): Promise<Map<ObjectPair, SharedPages>> {
  const both = pairs.filter(({ left, right }) => left !== null && right !== null && left.root > 0 && right.root > 0);
  const first = await findAllCandidates(changes, both, keyed, work);
  if (changes.overwritten.size === 0) return first;
  const compared = [...first].flatMap(([pair, { candidates }]) => {
    const tree = treeOf(pair.right, changes.right.pages);
    return tree && candidates.right.size > 0 ? [{ tree, compared: candidates.right }] : [];
  });
  const trees = both.flatMap(({ right }) => treeOf(right, changes.right.pages) ?? []);
  for (const _ of markOwners(changes, compared, trees)) await breathe(work);
  return findAllCandidates(changes, both, keyed, work);
}

/** Tables between two breaths. */
const TABLES_A_BREATH = 64;

async function findAllCandidates(
  changes: ChangedPages,
  pairs: readonly ObjectPair[],
  keyed: ReadonlyMap<number, OrderedTree>,
  work: Work,
): Promise<Map<ObjectPair, SharedPages>> {
  const found = new Map<ObjectPair, SharedPages>();
  for (const [index, pair] of pairs.entries()) {
    if (index % TABLES_A_BREATH === 0) await breathe(work);
    const [left, right] = [treeOf(pair.left, changes.left.pages), treeOf(pair.right, changes.right.pages)];
    if (!left || !right || left.isTable !== right.isTable) continue;
    const isOrderKnown = right.isTable || keyed.has(right.root);
    const dirty = isOrderKnown ? changes.dirty : { ...changes.dirty, isBlind: true };
    const candidates = await tryCandidates(left, right, dirty, work);
    if (candidates) found.set(pair, { changes, candidates });
  }
  return found;
}

/** Null for a damaged tree: who compares it says so. */
async function tryCandidates(left: Tree, right: Tree, dirty: ChangedPages["dirty"], work: Work): Promise<Candidates | null> {
  if (left.root === right.root && !dirty.isBlind && !dirty.pages.has(left.root)) return { left: new PageSet(0), right: new PageSet(0) };
  try {
    const search = findCandidates(left, right, dirty);
    const ahead = new ReadAhead(left.pages, right.pages);
    for (;;) {
      const step = search.next();
      if (step.done) return step.value;
      await ahead.read(step.value, work);
    }
  } catch (error) {
    if (error instanceof EngineError && error.code === "database-corrupt") return null;
    throw error;
  }
}

function treeOf(object: SchemaObject | null, pages: DatabasePages): Tree | null {
  if (!object || object.root === 0 || object.root > pages.pageCount) return null;
  return { pages, root: object.root, isTable: !saysWithoutRowid(object) || isRowidPage(pages, object.root) };
}

/** The words may stand in a comment. */
function isRowidPage(pages: DatabasePages, root: number): boolean {
  return !looksLikeBtreePage(pages.bytes(root), root) || pages.page(root).isTable;
}

function mayDiffer({ left, right }: ObjectPair, shared: SharedPages | null): boolean {
  if (!left || !right || !shared || left.sql !== right.sql) return true;
  return shared.candidates.left.size + shared.candidates.right.size > 0;
}

function describeTables(
  states: { readonly left: DiffState; readonly right: DiffState },
  open: readonly ObjectPair[],
  found: ReadonlyMap<ObjectPair, SharedPages>,
): DiffTable[] {
  const shapesOf = ({ pages, schema }: DiffState, objects: readonly (SchemaObject | null)[]) =>
    readShapes(
      objects.filter((object) => object !== null),
      schema,
      pages.header.schemaFormat,
    );
  const shapes = {
    left: shapesOf(
      states.left,
      open.map(({ left }) => left),
    ),
    right: shapesOf(
      states.right,
      open.map(({ right }) => right),
    ),
  };
  const owners = new Map([...shadowOwners(states.left.schema), ...shadowOwners(states.right.schema)]);
  return open
    .map((objects) => describeTable(states, objects, shapes, owners, found.get(objects) ?? null))
    .toSorted((a, b) => (a.view.name < b.view.name ? -1 : 1));
}

function describeTable(
  states: { readonly left: DiffState; readonly right: DiffState },
  objects: ObjectPair,
  shapes: Readonly<Record<"left" | "right", ReadonlyMap<string, TableShape | string>>>,
  owners: ReadonlyMap<string, string>,
  shared: SharedPages | null,
): DiffTable {
  const sideOf = (which: "left" | "right") => {
    const object = objects[which];
    const shape = object && shapes[which].get(object.name);
    if (!object) return null;
    if (!shape || typeof shape === "string") return `SQLite here cannot read its definition: ${shape ?? "it is not there"}`;
    if (object.root === 0) return "it has no pages";
    return { pages: states[which].pages, object, shape };
  };
  const [left, right] = [sideOf("left"), sideOf("right")];
  const name = (objects.right ?? objects.left)?.name ?? "";
  const former = objects.left && objects.right && objects.left.name !== objects.right.name ? objects.left.name : null;
  const view = { name, formerName: former, owner: owners.get(name) ?? null, side: sideName(objects) };
  const problem = typeof left === "string" ? left : typeof right === "string" ? right : null;
  if (typeof left === "string" || typeof right === "string")
    return { view: { ...view, columns: [], matchedBy: "whole row", notComparable: problem }, pair: null, objects, shared: null };
  const pair = pairTables(left, right);
  return { view: { ...view, columns: columnViews(pair), matchedBy: pair.identity.by, notComparable: null }, pair, objects, shared };
}

function sideName({ left, right }: ObjectPair): "both" | "left" | "right" {
  return left && right ? "both" : left ? "left" : "right";
}

export function columnViews({ columns, identity }: TablePair): DiffColumnView[] {
  return columns.map(({ name, formerName, type, generated, left, right }, index) => ({
    name,
    formerName,
    type,
    isKey: identity.parts.some(({ column }) => column === index),
    side: left < 0 ? "right" : right < 0 ? "left" : "both",
    generated,
  }));
}

function notesOf(pairs: readonly ObjectPair[], tables: readonly DiffTable[]): string[] {
  const virtual = pairs.filter(({ left, right }) => [left, right].some((object) => object !== null && isVirtual(object)));
  const names = virtual.map(({ left, right }) => (right ?? left)?.name ?? "");
  const computed = tables.filter(({ view }) => view.columns.some(({ generated }) => generated === "virtual")).map(({ view }) => view.name);
  return [
    ...(names.length > 0 ? [`Virtual tables are compared by their shadow tables: ${listNames(names)}`] : []),
    ...(computed.length > 0 ? [`Virtual columns are computed, not stored, and not compared: ${listNames(computed)}`] : []),
    ...tables.flatMap(({ view }) => (view.notComparable === null ? [] : [`${view.name} is not comparable: ${view.notComparable}`])),
  ];
}

/** Names that a note lists. */
const NAMES_MAX = 10;

function listNames(names: readonly string[]): string {
  const rest = names.length - NAMES_MAX;
  return names.slice(0, NAMES_MAX).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/**
 * The versions in which one row changed. From version to version only the pages that lead to the row are looked at: as
 * long as none of them is among those that differ, the row is the same, and nothing is read.
 */
import type { RequestInput } from "#shared/contract.ts";
import type { RowHistoryView, RowVersionView } from "#shared/diff-views.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Parts } from "../branches/parts.ts";
import { findBranch, resolveAt, type Place } from "../branches/resolve.ts";
import type { VersionRecord } from "../catalog/records.ts";
import type { SqlValue } from "../format/record.ts";
import { EngineError } from "../io/errors.ts";
import { breathe, type PhasedWork } from "../transfer/long-work.ts";
import { columnViews } from "./database-diff.ts";
import { DatabasePages } from "./database-pages.ts";
import { isKnownCollation, isSameValue, type KeyPart } from "./key-order.ts";
import { viewChange } from "./open-diff.ts";
import { readSchema, type SchemaObject } from "./read-schema.ts";
import { RowReader } from "./row-reader.ts";
import { rowidBehindKey, seekKey, seekRowid, type FoundRow } from "./seek-row.ts";
import { pairTables, type TablePair } from "./table-pair.ts";
import { readShapes, type TableShape } from "./table-shape.ts";

/** A table at one version. */
interface TableAt {
  readonly pages: DatabasePages;
  readonly object: SchemaObject;
  readonly shape: TableShape;
  readonly schema: readonly SchemaObject[];
}

/** One version with what is known of the row there. */
interface RowAt {
  readonly version: VersionRecord;
  /** Null when the table is not there. */
  readonly table: TableAt | null;
  readonly row: FoundRow;
}

const NO_ROW: FoundRow = { place: null, pages: [] };

/**
 * The newest version first. Errors: those of resolving a name, `bad-argument` for a table or key that the state does not
 * have, `unsupported` for a table without a key, `database-corrupt`, `cancelled`.
 */
export async function rowHistory(parts: Parts, input: RequestInput<"row.history">, work: PhasedWork): Promise<RowHistoryView> {
  const place = findBranch(parts, input.database, input.branch);
  const from = resolveAt(parts, place, input.at);
  const lineage = parts.catalog.versions.lineage(place.database.id, from, input.versions ?? LIMITS.rowHistoryVersionsMax);
  const [newest] = lineage;
  if (!newest) throw new EngineError("version-not-found", `Database "${input.database}" has no version v${from}`);
  const finder = new RowFinder(parts, place, input.table, input.key);
  let here = await finder.first(newest);
  const columns = here.table ? columnViews(alone(here.table)) : [];
  const found: RowVersionView[] = [];
  const limit = input.limit ?? LIMITS.pageRowsMax;
  for (const [index, version] of lineage.entries()) {
    if (found.length >= limit) break;
    await breathe(work);
    work.progress?.(index, lineage.length);
    const parent = lineage[index + 1] ?? null;
    // What came before the versions that are looked at is not known.
    if (!parent && version.parent !== null) break;
    const before = parent ? await finder.before(here, parent) : null;
    const change = changeOf(before, here);
    if (change) found.push({ ...describeVersion(parts, place, version), change });
    if (before) here = before;
  }
  const isComplete = found.length < limit && lineage.at(-1)?.parent === null;
  return { table: input.table, columns, versions: found, examined: lineage.length, isComplete };
}

function describeVersion(parts: Parts, place: Place, version: VersionRecord): Omit<RowVersionView, "change"> {
  const { number, createdAt, actor, message } = version;
  const checkpoints = parts.catalog.checkpoints.ofVersion(place.database.id, number).map(({ name }) => name);
  return { version: number, createdAt, actor, message, checkpoints };
}

function alone({ pages, object, shape }: TableAt): TablePair {
  return pairTables(null, { pages, object, shape });
}

/** Null when the row is the same in both, or in neither. */
function changeOf(before: RowAt | null, after: RowAt): RowVersionView["change"] | null {
  const [old, now] = [before?.row.place ?? null, after.row.place];
  if (old === null && now === null) return null;
  const left = old === null ? null : (before?.table ?? null);
  const pair = pairTables(left, now === null ? null : after.table);
  const oldValues = left && old !== null ? new RowReader(left, pair.columns, "left").read(old) : null;
  const newValues = after.table && now !== null ? new RowReader(after.table, pair.columns, "right").read(now) : null;
  const changed = pair.columns.flatMap(({ right, generated }, index) =>
    right < 0 || generated === "virtual" || isSameValue(oldValues?.[index] ?? null, newValues?.[index] ?? null) ? [] : [index],
  );
  if (oldValues && newValues && changed.length === 0) return null;
  const kind = !oldValues ? "insert" : !newValues ? "delete" : "update";
  return viewChange({ kind, old: oldValues, new: newValues, changed: kind === "update" ? changed : [] }, LIMITS.diffValueBytesMax);
}

class RowFinder {
  readonly #parts: Parts;
  readonly #place: Place;
  readonly #table: string;
  readonly #key: readonly string[];

  constructor(parts: Parts, place: Place, table: string, key: readonly string[]) {
    this.#parts = parts;
    this.#place = place;
    this.#table = table;
    this.#key = key;
  }

  /** Where the search begins: the table and its key must be there. */
  async first(version: VersionRecord): Promise<RowAt> {
    const pages = await this.#open(version);
    const table = this.#readTable(pages);
    if (!table) {
      const choices = readSchema(pages).flatMap(({ type, name }) => (type === "table" ? [name] : []));
      throw new EngineError("bad-argument", `There is no table "${this.#table}" in v${version.number}`, {
        details: { name: this.#table, choices: choices.slice(0, 20) },
      });
    }
    const key = keyOf(table.shape);
    if (!key)
      throw new EngineError("unsupported", `Rows of ${this.#table} have no key by which one of them is found again in other versions`, {
        hint: "Give the table a PRIMARY KEY or a UNIQUE constraint over plain columns",
      });
    if (key.length !== this.#key.length) {
      const names = key.map(({ column }) => table.shape.columns[column]?.name ?? "");
      throw new EngineError(
        "bad-argument",
        `The key of ${this.#table} has ${key.length} values (${names.join(", ")}), ${this.#key.length} given`,
      );
    }
    return { version, table, row: this.#seek(table) };
  }

  /** The row in the version before one where it is known. */
  async before(after: RowAt, version: VersionRecord): Promise<RowAt> {
    const pages = await this.#open(version);
    const table = this.#sameTable(after, pages) ?? this.#readTable(pages);
    if (!table) return { version, table: null, row: NO_ROW };
    if (after.table && table.object === after.table.object && (await this.#isUntouched(after, version)))
      return { version, table, row: after.row };
    return { version, table, row: this.#seek(table) };
  }

  async #open(version: VersionRecord): Promise<DatabasePages> {
    const chain = await this.#parts.lineages.reader(this.#place.database.id, version.number);
    return new DatabasePages(`${this.#place.database.name} v${version.number}`, chain);
  }

  /** The schema is the same while its cookie is: SQLite counts it up with every change, VACUUM included. */
  #sameTable({ table }: RowAt, pages: DatabasePages): TableAt | null {
    if (!table) return null;
    const [a, b] = [table.pages.header, pages.header];
    const isSame = a.schemaCookie === b.schemaCookie && a.encoding === b.encoding && table.pages.usable === pages.usable;
    return isSame ? { ...table, pages } : null;
  }

  async #isUntouched(after: RowAt, version: VersionRecord): Promise<boolean> {
    if (after.version.pageSize !== version.pageSize) return false;
    const differing = new Set(await this.#parts.lineages.differing(this.#place.database.id, version.number, after.version.number));
    return after.row.pages.every((page) => !differing.has(page) && page <= version.pageCount);
  }

  #readTable(pages: DatabasePages): TableAt | null {
    const schema = readSchema(pages);
    const object = schema.find(({ type, name }) => type === "table" && name.toLowerCase() === this.#table.toLowerCase());
    if (!object || object.root === 0) return null;
    const shape = readShapes([object], schema, pages.header.schemaFormat).get(object.name);
    return shape && typeof shape !== "string" ? { pages, object, shape, schema } : null;
  }

  #seek(table: TableAt): FoundRow {
    const { pages, object, shape, schema } = table;
    const parts = keyOf(shape);
    if (!parts || parts.length !== this.#key.length) return NO_ROW;
    const key = parts.map(({ column }, index) => parseKey(this.#key[index] ?? "", shape.columns[column]?.type ?? ""));
    if (shape.rowidColumn >= 0) {
      const [rowid] = key;
      return typeof rowid === "bigint" ? seekRowid(pages, object.root, exact(rowid)) : NO_ROW;
    }
    if (!shape.hasRowid) return seekKey(pages, object.root, key, parts);
    const index = schema.find(({ type, name }) => type === "index" && name === shape.keyIndexes[0]?.name);
    if (!index) return NO_ROW;
    const entry = seekKey(pages, index.root, key, parts);
    const rowid = entry.place === null ? null : rowidBehindKey(pages, entry.place, parts);
    if (rowid === null) return { place: null, pages: entry.pages };
    const row = seekRowid(pages, object.root, rowid);
    return { place: row.place, pages: [...entry.pages, ...row.pages] };
  }
}

/** Null without a key whose order is known here. */
function keyOf(shape: TableShape): readonly KeyPart[] | null {
  const key = shape.rowidColumn >= 0 || !shape.hasRowid ? shape.primaryKey : (shape.keyIndexes[0]?.parts ?? null);
  return key?.every(({ collation }) => isKnownCollation(collation)) ? key : null;
}

function exact(rowid: bigint): number | bigint {
  const number = Number(rowid);
  return Number.isSafeInteger(number) ? number : rowid;
}

/** A value as somebody writes it: x'…' is a blob; a number is one unless the column holds text. */
function parseKey(text: string, type: string): SqlValue {
  const blob = /^x'((?:[0-9a-f]{2})*)'$/i.exec(text);
  if (blob) return Buffer.from(blob[1] ?? "", "hex");
  if (/CHAR|CLOB|TEXT/i.test(type) && !/INT/i.test(type)) return text;
  if (/^[+-]?\d+$/.test(text)) {
    const integer = BigInt(text);
    if (integer === BigInt.asIntN(64, integer)) return integer;
  }
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}

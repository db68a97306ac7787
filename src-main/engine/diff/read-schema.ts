/** sqlite_schema of one state, read without SQLite: so that nothing of it is run, and a damaged one is told from an empty one. */
import { LIMITS } from "#shared/limits.ts";
import { InvalidText, readLayout, valueAt, type SqlValue } from "../format/record.ts";
import type { DatabasePages } from "./database-pages.ts";
import { TreeCursor } from "./tree-cursor.ts";

export type ObjectType = "table" | "index" | "view" | "trigger";

export interface SchemaObject {
  readonly type: ObjectType;
  readonly name: string;
  /** The table it belongs to. */
  readonly table: string;
  /** 0 for what has no b-tree: views, triggers, virtual tables. */
  readonly root: number;
  /** Null for indexes that a constraint made. */
  readonly sql: string | null;
}

const TYPES: ReadonlySet<string> = new Set(["table", "index", "view", "trigger"]);

function isObjectType(value: SqlValue | undefined): value is ObjectType {
  return typeof value === "string" && TYPES.has(value);
}

/** In order of their creation. Throws `database-corrupt`. */
export function readSchema(pages: DatabasePages): SchemaObject[] {
  const objects: SchemaObject[] = [];
  const cursor = new TreeCursor({ pages, root: 1, isTable: true }, null);
  while (cursor.next()) {
    const { place } = cursor;
    const payload = pages.payload(cursor.cell, place);
    const fail = pages.failAt(1);
    const layout = readLayout(payload, fail);
    const [type, name, table, root, sql] = [0, 1, 2, 3, 4].map((column) => valueAt(payload, layout, column, pages.header.encoding, fail));
    if (!isObjectType(type)) continue;
    objects.push({
      type,
      name: text(name),
      table: text(table),
      root: rootOf(root),
      sql: sql == null ? null : text(sql),
    });
    if (objects.length > LIMITS.diffSchemaObjectsMax) fail(`more than ${LIMITS.diffSchemaObjectsMax} objects in the schema`, "fewer");
  }
  return objects;
}

/** Names and SQL that are not valid in their encoding are read as far as they are. */
function text(value: SqlValue | undefined): string {
  if (typeof value === "string") return value;
  return value instanceof InvalidText ? Buffer.from(value.bytes).toString() : "";
}

function rootOf(value: SqlValue | undefined): number {
  return typeof value === "bigint" && value > 0n && value < 2n ** 32n ? Number(value) : 0;
}

/** True for CREATE VIRTUAL TABLE. */
export function isVirtual({ type, sql }: SchemaObject): boolean {
  return type === "table" && sql !== null && /^\s*create\s+virtual\s/i.test(sql);
}

/** The module of a virtual table, lower case. */
export function moduleOf({ sql }: SchemaObject): string {
  return (/\busing\s+["'`[]?(\w+)/i.exec(sql ?? "")?.[1] ?? "").toLowerCase();
}

const SHADOWS: Readonly<Record<string, readonly string[]>> = {
  fts3: ["content", "docsize", "segdir", "segments", "stat"],
  fts4: ["content", "docsize", "segdir", "segments", "stat"],
  fts5: ["config", "content", "data", "docsize", "idx"],
  rtree: ["node", "parent", "rowid"],
  rtree_i32: ["node", "parent", "rowid"],
  geopoly: ["node", "parent", "rowid"],
};

/** Shadow table → the virtual table that keeps its data there. */
export function shadowOwners(objects: readonly SchemaObject[]): Map<string, string> {
  const owners = new Map<string, string>();
  const names = new Map(objects.filter(({ type }) => type === "table").map(({ name }) => [name.toLowerCase(), name]));
  for (const object of objects) {
    if (!isVirtual(object)) continue;
    for (const ending of SHADOWS[moduleOf(object)] ?? []) {
      const shadow = names.get(`${object.name}_${ending}`.toLowerCase());
      if (shadow !== undefined) owners.set(shadow, object.name);
    }
  }
  return owners;
}

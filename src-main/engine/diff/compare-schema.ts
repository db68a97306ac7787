import type { SchemaChangeView, SchemaObjectType } from "#shared/diff-views.ts";
import type { DatabasePages } from "./database-pages.ts";
import { isVirtual, shadowOwners, type SchemaObject } from "./read-schema.ts";

/** Two states of one object; one of them is there. */
export interface ObjectPair {
  readonly left: SchemaObject | null;
  readonly right: SchemaObject | null;
}

/**
 * Objects of both schemas by type and name. A table that is on one side only, and whose b-tree begins on the page where
 * another one's did that is on the other side only, is the same table with another name: `isSamePage` says whether page
 * numbers of the two sides mean the same.
 */
export function pairObjects(left: readonly SchemaObject[], right: readonly SchemaObject[], isSamePage: boolean): ObjectPair[] {
  const lefts = new Map(left.map((object) => [key(object), object]));
  const rights = new Set(right.map(key));
  const lost = new Map(left.filter((object) => object.root > 0 && !rights.has(key(object))).map((object) => [object.root, object]));
  const taken = new Set<SchemaObject>();
  const pairs = right.map((object): ObjectPair => {
    const same = lefts.get(key(object));
    const former = same ?? (isSamePage && object.type === "table" && object.root > 0 ? lost.get(object.root) : undefined);
    if (!former || former.type !== object.type || !(same || sameAfterRenaming(former, object))) return { left: null, right: object };
    taken.add(former);
    return { left: former, right: object };
  });
  return [...pairs, ...left.filter((object) => !taken.has(object)).map((object) => ({ left: object, right: null }))];
}

function key({ type, name }: SchemaObject): string {
  return `${type} ${name.toLowerCase()}`;
}

/** Everything behind the name is equal. */
function sameAfterRenaming(left: SchemaObject, right: SchemaObject): boolean {
  return bodyOf(left.sql) === bodyOf(right.sql);
}

/** From the first parenthesis on. */
function bodyOf(sql: string | null): string {
  return sql?.slice(Math.max(0, sql.indexOf("("))) ?? "";
}

/** What changed in the schema and in the header, objects in the order of their types and names. */
export function schemaChanges(
  pairs: readonly ObjectPair[],
  left: { readonly pages: DatabasePages; readonly schema: readonly SchemaObject[] },
  right: { readonly pages: DatabasePages; readonly schema: readonly SchemaObject[] },
): SchemaChangeView[] {
  const [leftOwners, rightOwners] = [shadowOwners(left.schema), shadowOwners(right.schema)];
  const objects = pairs.flatMap((pair): SchemaChangeView[] => {
    const object = pair.right ?? pair.left;
    // Indexes of constraints come and go with the definition of their table.
    if (!object || object.sql === null || isUnchanged(pair)) return [];
    const owner = (pair.right ? rightOwners : leftOwners).get(object.name) ?? null;
    const isRenamed = pair.left !== null && pair.right !== null && pair.left.name !== pair.right.name;
    return [
      {
        type: typeOf(object),
        name: object.name,
        change: !pair.left ? "added" : !pair.right ? "dropped" : isRenamed ? "renamed" : "changed",
        table: object.type === "index" || object.type === "trigger" ? object.table : owner,
        formerName: isRenamed ? (pair.left?.name ?? null) : null,
        left: pair.left?.sql ?? null,
        right: pair.right?.sql ?? null,
      },
    ];
  });
  objects.sort((a, b) => TYPE_ORDER.indexOf(a.type) - TYPE_ORDER.indexOf(b.type) || (a.name < b.name ? -1 : 1));
  return [...objects, ...pragmaChanges(left.pages, right.pages)];
}

const TYPE_ORDER: readonly SchemaObjectType[] = ["table", "virtual table", "index", "view", "trigger", "pragma"];

function typeOf(object: SchemaObject): SchemaObjectType {
  return isVirtual(object) ? "virtual table" : object.type;
}

function isUnchanged({ left, right }: ObjectPair): boolean {
  return left !== null && right !== null && left.sql === right.sql && left.name === right.name && left.table === right.table;
}

function pragmaChanges(left: DatabasePages, right: DatabasePages): SchemaChangeView[] {
  const before = new Map(pragmasOf(left));
  return pragmasOf(right).flatMap(([name, value]): SchemaChangeView[] => {
    const former = before.get(name) ?? null;
    if (former === value) return [];
    return [{ type: "pragma", name, change: "changed", table: null, formerName: null, left: former, right: value }];
  });
}

function pragmasOf({ header }: DatabasePages): (readonly [string, string])[] {
  return [
    ["application_id", String(header.applicationId)],
    ["user_version", String(header.userVersion)],
    ["encoding", header.encoding],
    ["page_size", String(header.pageSize)],
    ["auto_vacuum", header.autoVacuum],
  ];
}

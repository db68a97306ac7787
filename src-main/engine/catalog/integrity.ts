/**
 * Checks the catalog against itself, for `verify`: SQLite's own check of the file, then that everything a row refers to
 * is there. Reads every row of the refs and versions, no segment's content.
 */
import type { VerifyProblem } from "#shared/views.ts";
import { EngineError } from "../io/errors.ts";
import type { Catalog } from "./catalog.ts";
import { BASE_LEVEL } from "./records.ts";
import { operationOfRow, SELECT_OPERATION, type OperationRow } from "./rows.ts";
import { versionKey, versionOfKey } from "./schema.ts";

const PROBLEMS_MAX = 100;

/** Empty when all is well; at most 100 problems. */
export function checkIntegrity(catalog: Catalog): VerifyProblem[] {
  const fileProblems = checkFile(catalog);
  // Rows of a damaged file prove nothing.
  if (fileProblems.length > 0) return fileProblems;
  return catalog
    .snapshot(() => [...checkOperations(catalog), ...checkChains(catalog), ...checkReferences(catalog), ...checkTotals(catalog)])
    .slice(0, PROBLEMS_MAX);
}

function checkFile(catalog: Catalog): VerifyProblem[] {
  let rows: { integrity_check: string }[] = [];
  const problem = problemOf(() => (rows = catalog.connection.all(`PRAGMA integrity_check(${PROBLEMS_MAX})`)));
  if (problem !== null) return [{ object: "catalog.db", problem }];
  return rows.filter((row) => row.integrity_check !== "ok").map((row) => ({ object: "catalog.db", problem: row.integrity_check }));
}

function problemOf(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof EngineError && error.code === "store-corrupt") return error.message;
    throw error;
  }
}

function checkOperations(catalog: Catalog): VerifyProblem[] {
  const problems: VerifyProblem[] = [];
  let expected = 1;
  for (const { id, ...row } of catalog.connection.iterate<OperationRow>(`${SELECT_OPERATION} ORDER BY o.id`)) {
    const problem = problemOf(() => operationOfRow({ id, ...row }));
    if (problem !== null) problems.push({ object: `operation ${id}`, problem });
    if (id !== expected) problems.push({ object: `operation ${expected}`, problem: `is missing: operation ${id} follows ${expected - 1}` });
    expected = id + 1;
  }
  const unknown = "SELECT id FROM operations WHERE actor NOT IN (SELECT id FROM actors)";
  for (const { id } of catalog.connection.iterate<{ id: number }>(unknown))
    problems.push({ object: `operation ${id}`, problem: "has an unknown actor" });
  return problems;
}

/** Every segment stands on a version that is rebuilt itself, down to a base, and every version has one. */
function checkChains(catalog: Catalog): VerifyProblem[] {
  const problems: VerifyProblem[] = [];
  const { connection } = catalog;
  const whole = new Set<number>();
  const sql = `SELECT v.key, v.parent, s.key % 16 AS level, s.from_version AS source
    FROM versions v LEFT JOIN segments s ON s.key BETWEEN v.key * 16 AND v.key * 16 + 15 ORDER BY v.key, s.key`;
  type Row = { key: number; parent: number | null; level: number | null; source: number | null };
  let before = 0;
  for (const { key, parent, level, source } of connection.iterate<Row>(sql)) {
    const { database, number } = versionOfKey(key);
    const object = `version v${number} of ${nameOf(catalog, database)}`;
    const from = level === 0 ? parent : source;
    const isFirst = key !== before;
    before = key;
    if (isFirst && parent !== null && (parent >= number || !isStored(catalog, versionKey(database, parent))))
      problems.push({ object, problem: `its parent v${parent} is not stored` });
    if (level === null) problems.push({ object, problem: "has no segment" });
    else if (level === BASE_LEVEL) whole.add(key);
    else if (from === null || from >= number || !whole.has(versionKey(database, from))) {
      const what = level === 0 ? "its segment" : `its merged segment of level ${level}`;
      problems.push({ object, problem: `${what} starts at ${from === null ? "nothing" : `v${from}`}, which cannot be rebuilt` });
    } else whole.add(key);
  }
  const orphans = "SELECT key FROM segments WHERE key / 16 NOT IN (SELECT key FROM versions)";
  for (const { key } of connection.iterate<{ key: number }>(orphans)) {
    const { database, number } = versionOfKey(Math.floor(key / 16));
    problems.push({ object: `segment of v${number} of ${nameOf(catalog, database)}`, problem: "belongs to no version" });
  }
  return problems;
}

function isStored(catalog: Catalog, key: number): boolean {
  return catalog.connection.get("SELECT 1 FROM versions WHERE key = ?", key) !== undefined;
}

function nameOf(catalog: Catalog, database: number): string {
  return catalog.connection.get<{ name: string }>("SELECT name FROM databases WHERE id = ?", database)?.name ?? `database ${database}`;
}

/** Versions are looked up by key: `database << 28 | number`. */
const REFERENCES: readonly { readonly what: string; readonly sql: string }[] = [
  { what: "head", sql: "SELECT name, head AS version, database FROM branches WHERE state < 2" },
  { what: "fork point", sql: "SELECT name, fork_version AS version, database FROM branches WHERE state < 2 AND fork_version IS NOT NULL" },
  {
    what: "checkpoint",
    sql: "SELECT b.name || '@' || c.name AS name, c.version & 268435455 AS version, c.version >> 28 AS database FROM checkpoints c JOIN branches b ON b.id = c.branch",
  },
  { what: "base of the file", sql: "SELECT b.name, f.base AS version, b.database FROM facts f JOIN branches b ON b.id = f.branch" },
  { what: "content of the file", sql: "SELECT b.name, f.content AS version, b.database FROM facts f JOIN branches b ON b.id = f.branch" },
];

function checkReferences(catalog: Catalog): VerifyProblem[] {
  const problems: VerifyProblem[] = [];
  const { connection } = catalog;
  for (const { what, sql } of REFERENCES) {
    const missing = `SELECT name, version, database FROM (${sql}) WHERE (database << 28) + version NOT IN (SELECT key FROM versions)`;
    for (const row of connection.iterate<{ name: string; version: number; database: number }>(missing)) {
      problems.push({ object: `${what} of ${nameOf(catalog, row.database)}@${row.name}`, problem: `v${row.version} is not stored` });
    }
  }
  const homeless = "SELECT name FROM branches WHERE state < 2 AND database NOT IN (SELECT id FROM databases WHERE state < 2)";
  for (const { name } of connection.iterate<{ name: string }>(homeless))
    problems.push({ object: `branch ${name}`, problem: "its database is not stored" });
  return problems;
}

function checkTotals(catalog: Catalog): VerifyProblem[] {
  const problems: VerifyProblem[] = [];
  const sql = `SELECT d.name, d.stored_bytes AS told, d.last_version AS last,
    (SELECT coalesce(sum(coalesce(bytes, length(data))), 0) FROM segments WHERE key BETWEEN d.id << 32 AND (d.id + 1 << 32) - 1) AS found,
    (SELECT coalesce(max(key) & 268435455, 0) FROM versions WHERE key BETWEEN d.id << 28 AND (d.id + 1 << 28) - 1) AS highest FROM databases d`;
  for (const row of catalog.connection.iterate<{ name: string; told: number; found: number; last: number; highest: number }>(sql)) {
    if (row.told !== row.found)
      problems.push({ object: `database ${row.name}`, problem: `its segments take ${row.found} bytes, recorded ${row.told}` });
    if (row.highest > row.last)
      problems.push({ object: `database ${row.name}`, problem: `has v${row.highest}, but only ${row.last} were given out` });
  }
  return problems;
}

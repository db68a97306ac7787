/** Two files compared by the engine, and the same done by SQL over ATTACH: what the answer must be. */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { onTestFinished } from "vitest";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { compareDatabases, compareTable, type DatabaseDiff } from "#engine/diff/database-diff.ts";
import { DatabasePages } from "#engine/diff/database-pages.ts";
import { RowMatcher } from "#engine/diff/row-matcher.ts";
import { InvalidText, type SqlValue } from "#engine/format/record.ts";
import { FilePages } from "#engine/transfer/file-pages.ts";
import { quoteName } from "../../support/dump.ts";

export function filePages(path: string): FilePages {
  const head = Buffer.alloc(100);
  const file = openSync(path, "r");
  readSync(file, head, 0, 100, 0);
  closeSync(file);
  const pageSize = head.readUInt16BE(16) === 1 ? 65_536 : head.readUInt16BE(16);
  const pages = new FilePages(nodeDisk, path, { pageSize, pageCount: readFileSync(path).length / pageSize });
  onTestFinished(() => pages.close());
  return pages;
}

/** Numbers of the pages in which two files of one page size differ; null for other page sizes. */
export function differingPagesOf(left: FilePages, right: FilePages): number[] | null {
  if (left.pageSize !== right.pageSize) return null;
  const numbers: number[] = [];
  const [a, b] = [new Uint8Array(left.pageSize), new Uint8Array(left.pageSize)];
  for (let number = 1; number <= Math.max(left.pageCount, right.pageCount); number += 1) {
    if (number <= left.pageCount && number <= right.pageCount) {
      left.readPages(number, a);
      right.readPages(number, b);
      if (Buffer.compare(a, b) === 0) continue;
    }
    numbers.push(number);
  }
  return numbers;
}

export async function compareFiles(left: string, right: string, mode: "shared" | "full" = "shared"): Promise<DatabaseDiff> {
  const [a, b] = [filePages(left), filePages(right)];
  return compareDatabases(new DatabasePages(left, a), new DatabasePages(right, b), mode === "shared" ? differingPagesOf(a, b) : null, {});
}

/** Table → lines like "insert [1,'x']", sorted; tables without differences are left out. */
export function rowsOf(diff: DatabaseDiff, folder: string): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const table of diff.tables) {
    const comparison = compareTable(table, () => new RowMatcher(nodeDisk, join(folder, "match.db")));
    const lines: string[] = [];
    for (const difference of comparison.differences()) {
      if (!difference) continue;
      const { kind, old, new: current } = comparison.read(difference);
      lines.push(`${kind} ${old ? show(old) : ""}${old && current ? " → " : ""}${current ? show(current) : ""}`);
    }
    if (lines.length > 0) found[table.view.name] = lines.toSorted();
  }
  return found;
}

export function show(values: readonly SqlValue[]): string {
  return values
    .map((value) => {
      if (value === null) return "null";
      if (typeof value === "bigint") return `i:${value}`;
      if (typeof value === "number") return `r:${value === 0 ? 0 : value}`;
      if (typeof value === "string") return `t:${value}`;
      if (value instanceof InvalidText) return `u:${Buffer.from(value.bytes).toString("hex")}`;
      return `b:${Buffer.from(value).toString("hex")}`;
    })
    .join("|");
}

/** A plain full comparison in SQL: everything of both tables, matched by `key`, or as whole rows with counts when there is none. */
export function referenceRows(left: string, right: string, table: string, key: readonly string[]): string[] {
  const database = new Database(right);
  try {
    database.prepare("ATTACH ? AS other").run(left);
    const columns = (database.prepare("SELECT name FROM pragma_table_xinfo(?) WHERE hidden IN (0, 3)").pluck().all(table) as string[]).map(
      quoteName,
    );
    const all = (schema: string): SqlValue[][] =>
      database
        .prepare(`SELECT ${columns.join(", ")} FROM ${schema}.${quoteName(table)}`)
        .raw()
        .safeIntegers()
        .all() as SqlValue[][];
    const positions = key.map((name) => columns.indexOf(quoteName(name)));
    return positions.length > 0 ? byKey(all("other"), all("main"), positions) : byCount(all("other"), all("main"));
  } finally {
    database.close();
  }
}

function byKey(left: readonly SqlValue[][], right: readonly SqlValue[][], key: readonly number[]): string[] {
  const keyOf = (row: readonly SqlValue[]) => show(key.map((position) => row[position] ?? null)).toLowerCase();
  const before = new Map(left.map((row) => [keyOf(row), show(row)]));
  const after = new Map(right.map((row) => [keyOf(row), show(row)]));
  const lines: string[] = [];
  for (const [each, row] of before) {
    const now = after.get(each);
    if (now === undefined) lines.push(`delete ${row}`);
    else if (now !== row) lines.push(`update ${row} → ${now}`);
  }
  for (const [each, row] of after) if (!before.has(each)) lines.push(`insert ${row}`);
  return lines.toSorted();
}

function byCount(left: readonly SqlValue[][], right: readonly SqlValue[][]): string[] {
  const counts = new Map<string, number>();
  for (const row of left) counts.set(show(row), (counts.get(show(row)) ?? 0) + 1);
  for (const row of right) counts.set(show(row), (counts.get(show(row)) ?? 0) - 1);
  return [...counts]
    .flatMap(([row, net]) => Array.from({ length: Math.abs(net) }, () => `${net > 0 ? "delete" : "insert"} ${row}`))
    .toSorted();
}

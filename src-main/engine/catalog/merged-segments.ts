/**
 * Rows of merged segments. They move no ref and change no version, so they are no operation and not in the log: a merged
 * segment only says again, shorter, what others say. It leaves with the version at its end.
 */
import { assert } from "#shared/assert.ts";
import type { DatabaseId, VersionNumber } from "#shared/ids.ts";
import type { ChainLink } from "../segments/merge-plan.ts";
import type { Connection } from "./connection.ts";
import { BASE_LEVEL, type SegmentRecord } from "./records.ts";
import { segmentKey, segmentOfKey, versionKey, versionOfKey } from "./schema.ts";

/** A level 0 segment leads from its version's parent, which is not stored twice. */
const SOURCE = "CASE WHEN s.key % 16 = 0 THEN (SELECT parent FROM versions WHERE key = s.key / 16) ELSE s.from_version END";
/** Row by row from a version down; CROSS JOIN keeps SQLite from starting with all segments. */
const CHAIN = `WITH RECURSIVE chain (key, source, bytes) AS (
  SELECT s.key, ${SOURCE}, coalesce(s.bytes, length(s.data)) FROM segments s
    WHERE s.key = (SELECT max(key) FROM segments WHERE key BETWEEN ? AND ?)
  UNION ALL
  SELECT s.key, ${SOURCE}, coalesce(s.bytes, length(s.data)) FROM chain CROSS JOIN segments s
    WHERE s.key = (SELECT max(key) FROM segments WHERE key BETWEEN (? + chain.source) * 16 AND (? + chain.source) * 16 + 15)
) SELECT key, source, bytes FROM chain`;

export type StoredLink = ChainLink & {
  /** Stored bytes of the segment. */
  readonly bytes: number;
};

/** The chain of a version, newest first, without the segments themselves. Ends early where a segment is missing. */
export function chainOf(catalog: Connection, database: DatabaseId, version: VersionNumber): StoredLink[] {
  const first = segmentKey(versionKey(database, version), 0);
  const base = versionKey(database, 0);
  return catalog
    .all<{ key: number; source: VersionNumber | null; bytes: number }>(CHAIN, first, first + BASE_LEVEL, base, base)
    .map(({ key, source, bytes }) => ({ ...placeOf(key), from: source, bytes }));
}

/** All segments that end at a version, the highest level first. */
export function linksTo(catalog: Connection, database: DatabaseId, version: VersionNumber): ChainLink[] {
  const first = segmentKey(versionKey(database, version), 0);
  const sql = `SELECT s.key, ${SOURCE} AS source FROM segments s WHERE s.key BETWEEN ? AND ? ORDER BY s.key DESC`;
  return catalog
    .all<{ key: number; source: VersionNumber | null }>(sql, first, first + BASE_LEVEL)
    .map(({ key, source }) => ({ ...placeOf(key), from: source }));
}

function placeOf(key: number): { to: VersionNumber; level: number } {
  const { version, level } = segmentOfKey(key);
  return { to: versionOfKey(version).number as VersionNumber, level };
}

/**
 * Versions of a database at which a merged segment is missing, the oldest first: where the count of versions from the
 * base is a multiple of the fan-in and nothing of that level ends. Reads every version's row.
 */
export function versionsToMerge(catalog: Connection, database: DatabaseId, fanIn: number): VersionNumber[] {
  const range = [versionKey(database, 0), versionKey(database + 1, 0) - 1] as const;
  const last = catalog.get<{ last: number }>("SELECT last_version AS last FROM databases WHERE id = ?", database)?.last ?? 0;
  const depths = new Uint32Array(last + 1);
  const found: VersionNumber[] = [];
  const sql = `SELECT v.key, v.parent, (SELECT max(s.key) % 16 FROM segments s WHERE s.key BETWEEN v.key * 16 AND v.key * 16 + 15) AS level
    FROM versions v WHERE v.key BETWEEN ? AND ? ORDER BY v.key`;
  type Row = { key: number; parent: number | null; level: number | null };
  for (const { key, parent, level } of catalog.iterate<Row>(sql, ...range)) {
    const { number } = versionOfKey(key);
    if (level === BASE_LEVEL || parent === null) continue;
    const depth = (depths[parent] ?? 0) + 1;
    depths[number] = depth;
    if ((level ?? 0) < levelAt(depth, fanIn)) found.push(number as VersionNumber);
  }
  return found;
}

/** The highest level that ends so many versions above a base. */
function levelAt(depth: number, fanIn: number): number {
  let level = 0;
  for (let span = fanIn; depth % span === 0 && level + 1 < BASE_LEVEL; span *= fanIn) level += 1;
  return level;
}

/**
 * Adds a merged segment, or a base of a version that has its own change. False, and nothing is changed, when a version
 * it names is gone or somebody else added one that reaches as far.
 */
export function insertMerged(catalog: Connection, segment: SegmentRecord): boolean {
  const { database, to, from, level, bytes, inline, file, parts } = segment;
  assert(level > 0 && (level === BASE_LEVEL) === (from === null), "a merged segment leads from a version, a base from none");
  assert((inline === null) !== (file === null), "a segment is inline or in files");
  const version = versionKey(database, to);
  const key = segmentKey(version, level);
  if (!isStored(catalog, version) || (from !== null && !isStored(catalog, versionKey(database, from)))) return false;
  if (catalog.get("SELECT 1 FROM segments WHERE key BETWEEN ? AND ?", key, segmentKey(version, BASE_LEVEL))) return false;
  catalog.run(
    "INSERT INTO segments (key, from_version, bytes, parts, data) VALUES (?, ?, ?, ?, ?)",
    key,
    from,
    inline === null ? bytes : null,
    parts,
    inline ?? file,
  );
  catalog.run("UPDATE databases SET stored_bytes = stored_bytes + ? WHERE id = ?", bytes, database);
  return true;
}

/**
 * Removes a segment that the others at its version say again. False, and nothing is changed, when it is gone, another
 * stands in its place, or no other does.
 */
export function deleteMerged(catalog: Connection, { database, to, level, bytes, inline, file }: SegmentRecord): boolean {
  const version = versionKey(database, to);
  const key = segmentKey(version, level);
  if (!catalog.get("SELECT 1 FROM segments WHERE key >= ? AND key < ?", segmentKey(version, 0), key)) return false;
  if (catalog.run("DELETE FROM segments WHERE key = ? AND data = ?", key, inline ?? file).changes === 0) return false;
  catalog.run("UPDATE databases SET stored_bytes = stored_bytes - ? WHERE id = ?", bytes, database);
  return true;
}

/** Places of a database's merged segments, and of bases of versions that have their own change, oldest first. */
export function mergedLinks(catalog: Connection, database: DatabaseId): { readonly to: VersionNumber; readonly level: number }[] {
  const sql = `SELECT s.key FROM segments s WHERE s.key BETWEEN ? AND ? AND s.key % 16 > 0
    AND EXISTS (SELECT 1 FROM segments o WHERE o.key >= s.key - s.key % 16 AND o.key < s.key) ORDER BY s.key`;
  const range = [segmentKey(versionKey(database, 0), 0), segmentKey(versionKey(database + 1, 0), 0) - 1] as const;
  return catalog.all<{ key: number }>(sql, ...range).map(({ key }) => placeOf(key));
}

function isStored(catalog: Connection, version: number): boolean {
  return catalog.get("SELECT 1 FROM versions WHERE key = ?", version) !== undefined;
}

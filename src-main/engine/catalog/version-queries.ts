import type { BranchId, DatabaseId, UnixMs, VersionNumber } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import type { ChainLink } from "../segments/merge-plan.ts";
import type { Connection } from "./connection.ts";
import { chainOf, linksTo, mergedLinks, versionsToMerge, type StoredLink } from "./merged-segments.ts";
import { decodeDetail } from "./operation-detail.ts";
import type { BranchRecord, SegmentRecord, VersionRecord } from "./records.ts";
import { SELECT_SEGMENT, SELECT_VERSION, segmentOfRow, versionOfRow, type SegmentRow, type VersionRow } from "./rows.ts";
import { segmentKey, versionKey, versionOfKey } from "./schema.ts";

const BY_KEY = `${SELECT_VERSION} WHERE v.key = ?`;

export class VersionQueries {
  readonly #catalog: Connection;
  readonly #makers = new Map<number, { readonly createdAt: UnixMs; readonly actor: string }>();
  constructor(catalog: Connection) {
    this.#catalog = catalog;
  }

  byNumber(database: DatabaseId, number: VersionNumber): VersionRecord | null {
    const row = this.#catalog.get<VersionRow>(BY_KEY, versionKey(database, number));
    return row ? versionOfRow(row) : null;
  }

  /** When and by whom a version was made. That never changes, and is asked for each row of a list: so it is remembered. */
  maker(database: DatabaseId, number: VersionNumber): { readonly createdAt: UnixMs; readonly actor: string } | null {
    const key = versionKey(database, number);
    const known = this.#makers.get(key);
    if (known) return known;
    const version = this.byNumber(database, number);
    if (!version) return null;
    if (this.#makers.size >= LIMITS.versionsRemembered) this.#makers.clear();
    const made = { createdAt: version.createdAt, actor: version.actor };
    this.#makers.set(key, made);
    return made;
  }

  /** Stored versions of a database with a greater number than `after`, in order. */
  page(database: DatabaseId, after: number, limit: number): VersionRecord[] {
    const sql = `${SELECT_VERSION} WHERE v.key > ? AND v.key < ? ORDER BY v.key LIMIT ?`;
    return this.#catalog.all<VersionRow>(sql, versionKey(database, after), versionKey(database + 1, 0), limit).map(versionOfRow);
  }

  /** Versions still stored. */
  count(database: DatabaseId): number {
    const sql = "SELECT count(*) AS n FROM versions WHERE key BETWEEN ? AND ?";
    return this.#catalog.get<{ n: number }>(sql, versionKey(database, 0), versionKey(database + 1, 0))?.n ?? 0;
  }

  /** A version and its ancestors, the newest first. A page continues at the last one's parent. */
  lineage(database: DatabaseId, from: VersionNumber, limit: number): VersionRecord[] {
    const versions: VersionRecord[] = [];
    for (let number: VersionNumber | null = from; number !== null && versions.length < limit;) {
      const version: VersionRecord | null = this.byNumber(database, number);
      if (!version) break;
      versions.push(version);
      number = version.parent;
    }
    return versions;
  }

  /** Numbers of a version and all its ancestors, the newest first. */
  lineageNumbers(database: DatabaseId, from: VersionNumber): VersionNumber[] {
    const base = versionKey(database, 0);
    const sql = `WITH RECURSIVE line (key, parent) AS (
      SELECT key, parent FROM versions WHERE key = ?
      UNION ALL SELECT v.key, v.parent FROM line JOIN versions v ON v.key = line.parent + ?
    ) SELECT key FROM line`;
    return this.#catalog.all<{ key: number }>(sql, base + from, base).map(({ key }) => (key - base) as VersionNumber);
  }

  /** True when `ancestor` is `version` or one of its ancestors. Walks no further back than `ancestor`: parents are older. */
  isAncestor(database: DatabaseId, ancestor: VersionNumber, version: VersionNumber): boolean {
    const base = versionKey(database, 0);
    const sql = `WITH RECURSIVE line (key, parent) AS (
      SELECT key, parent FROM versions WHERE key = ?
      UNION ALL SELECT v.key, v.parent FROM line JOIN versions v ON v.key = line.parent + ? WHERE v.key >= ?
    ) SELECT 1 FROM line WHERE key = ?`;
    return this.#catalog.get(sql, base + version, base, base + ancestor, base + ancestor) !== undefined;
  }

  /** Versions that a branch made, the newest first, from below `before` on (null: from the newest). */
  madeBy(branch: BranchId, before: VersionNumber | null, limit: number): VersionRecord[] {
    const owner = this.#catalog.get<{ database: number }>("SELECT database FROM branches WHERE id = ?", branch);
    if (!owner) return [];
    const below = before === null ? versionKey(owner.database + 1, 0) : versionKey(owner.database, before);
    const sql = `${SELECT_VERSION} WHERE v.branch = ? AND v.key < ? ORDER BY v.key DESC LIMIT ?`;
    return this.#catalog.all<VersionRow>(sql, branch, below, limit).map(versionOfRow);
  }

  /** Bytes of the segments of versions that a branch made. */
  storedBytesOfBranch(branch: BranchId): number {
    const sql = `SELECT sum(coalesce(s.bytes, length(s.data))) AS bytes
      FROM versions v JOIN segments s ON s.key BETWEEN v.key * 16 AND v.key * 16 + 15 WHERE v.branch = ?`;
    return this.#catalog.get<{ bytes: number | null }>(sql, branch)?.bytes ?? 0;
  }

  /** Bytes of a version's own change, or of its base: what was stored when it was made, merged segments left out. */
  storedBytes(database: DatabaseId, number: VersionNumber): number {
    const first = segmentKey(versionKey(database, number), 0);
    const sql = "SELECT coalesce(bytes, length(data)) AS bytes FROM segments WHERE key BETWEEN ? AND ? ORDER BY key LIMIT 1";
    return this.#catalog.get<{ bytes: number | null }>(sql, first, first + 15)?.bytes ?? 0;
  }

  /** The segment that ends at a version and reaches back furthest; null when the version is not stored. */
  segmentFor(database: DatabaseId, number: VersionNumber): SegmentRecord | null {
    const first = segmentKey(versionKey(database, number), 0);
    const row = this.#catalog.get<SegmentRow>(
      `${SELECT_SEGMENT} WHERE s.key BETWEEN ? AND ? ORDER BY s.key DESC LIMIT 1`,
      first,
      first + 15,
    );
    return row ? segmentOfRow(row) : null;
  }

  /** One segment by its place; null when there is none. */
  segmentAt(database: DatabaseId, number: VersionNumber, level: number): SegmentRecord | null {
    const row = this.#catalog.get<SegmentRow>(`${SELECT_SEGMENT} WHERE s.key = ?`, segmentKey(versionKey(database, number), level));
    return row ? segmentOfRow(row) : null;
  }

  /** The segments that rebuild a version, newest first, the highest level of each; without their bytes. */
  chain(database: DatabaseId, number: VersionNumber): StoredLink[] {
    return chainOf(this.#catalog, database, number);
  }

  /** Every segment that ends at a version, the highest level first; without their bytes. */
  links(database: DatabaseId, number: VersionNumber): ChainLink[] {
    return linksTo(this.#catalog, database, number);
  }

  /** Places of segments that say again what others at the same version say. */
  mergedLinks(database: DatabaseId): { readonly to: VersionNumber; readonly level: number }[] {
    return mergedLinks(this.#catalog, database);
  }

  /** Versions that lack a merged segment, the oldest first. */
  toMerge(database: DatabaseId, fanIn: number): VersionNumber[] {
    return versionsToMerge(this.#catalog, database, fanIn);
  }

  /** Segments of a database in order of version and level, one by one. Nothing may be committed meanwhile. */
  *segments(database: DatabaseId): Generator<SegmentRecord, void> {
    const first = segmentKey(versionKey(database, 0), 0);
    const sql = `${SELECT_SEGMENT} WHERE s.key >= ? AND s.key < ? ORDER BY s.key`;
    for (const row of this.#catalog.iterate<SegmentRow>(sql, first, segmentKey(versionKey(database + 1, 0), 0))) yield segmentOfRow(row);
  }

  /** Names of all segment files that the catalog knows, with their number of parts. */
  files(): Map<string, number> {
    const rows = this.#catalog.all<{ file: string; parts: number }>("SELECT data AS file, parts FROM segments WHERE typeof(data) = 'text'");
    return new Map(rows.map(({ file, parts }) => [file, parts]));
  }

  /**
   * The version that was a branch's head at a moment; before its fork, the newest version of its history that existed
   * then; null when there was none yet. Follows the order of the log: where clocks disagree, the last operation that is
   * not after `at` counts.
   */
  asOf(branch: BranchRecord, at: UnixMs): VersionNumber | null {
    if (branch.createdAt <= at) return this.#headAt(branch, at);
    return branch.forkVersion === null ? null : this.#newestBefore(branch.database, branch.forkVersion, at);
  }

  #headAt(branch: BranchRecord, at: UnixMs): VersionNumber {
    let head = branch.head;
    const sql = "SELECT at, detail FROM operations WHERE branch = ? AND id > ? ORDER BY id DESC";
    for (const row of this.#catalog.iterate<{ at: number; detail: Uint8Array | null }>(sql, branch.id, branch.createdBy)) {
      if (row.at <= at) return head;
      for (const move of decodeDetail(row.detail).moves) {
        if (move.ref === "head" && move.branch === branch.id && typeof move.before === "number") head = move.before;
      }
    }
    return head;
  }

  /** The newest ancestor-or-self of `from` that existed at a moment. */
  #newestBefore(database: DatabaseId, from: VersionNumber, at: UnixMs): VersionNumber | null {
    const base = versionKey(database, 0);
    const sql = `WITH RECURSIVE line (key, parent, operation) AS (
      SELECT key, parent, operation FROM versions WHERE key = ?
      UNION ALL SELECT v.key, v.parent, v.operation FROM line JOIN versions v ON v.key = line.parent + ?
    ) SELECT line.key FROM line JOIN operations o ON o.id = line.operation WHERE o.at <= ? LIMIT 1`;
    const row = this.#catalog.get<{ key: number }>(sql, base + from, base, at);
    return row ? (versionOfKey(row.key).number as VersionNumber) : null;
  }
}

/**
 * Who needs which segments. A segment lives as long as the version it ends at, and a version as long as something keeps it
 * (`catalog/claims.ts`) or one that descends from it. One pass over the versions, children first, gathers for each what
 * keeps it, as far as it matters: the one branch whose purge would free it, if there is one, and whether live branches,
 * the trash or only undo are behind it.
 */
import type { DatabaseId, VersionNumber } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import type { UsagePartName } from "#shared/usage-views.ts";
import type { Parts } from "../branches/parts.ts";
import { visitClaims } from "../catalog/claims.ts";
import { segmentOfKey, STATE, versionOfKey } from "../catalog/schema.ts";
import { purgeTime } from "./clock-guard.ts";
import { VersionTree } from "./version-tree.ts";

export type SegmentPart = Extract<UsagePartName, "unique" | "shared" | "history" | "trash" | "garbage">;

export interface BranchRefs {
  readonly id: number;
  readonly database: DatabaseId;
  readonly name: string;
  readonly isLive: boolean;
  readonly isProtected: boolean;
  readonly parent: number | null;
  readonly head: VersionNumber;
  /** Versions that it refers to; some may be named twice. */
  readonly refs: readonly number[];
}

/** Nobody keeps it; more than one does, or something that no purge of a single branch ends. */
export const NOBODY = 0;
export const SEVERAL = -1;

/** Who keeps what each of two keeps. */
export function joinOwners(one: number, other: number): number {
  return one === NOBODY || one === other ? other : SEVERAL;
}

const BY = { live: 1, trash: 2, undo: 4 } as const;

/** The versions of one database and what keeps them. */
export class KeptTree {
  readonly tree: VersionTree;
  /** Size of the database at each version, by number. */
  readonly logicalBytes: Float64Array;
  readonly #owners: Int32Array;
  readonly #by: Uint8Array;

  constructor(tree: VersionTree, logicalBytes: Float64Array) {
    this.tree = tree;
    this.logicalBytes = logicalBytes;
    this.#owners = new Int32Array(tree.bytes.length);
    this.#by = new Uint8Array(tree.bytes.length);
  }

  keep(version: number, branches: readonly number[], by: keyof typeof BY): void {
    const [only] = branches;
    this.#add(version, branches.length === 1 && only !== undefined ? only : SEVERAL, BY[by]);
  }

  /** What keeps a version keeps its parent. Once, when everything is known. */
  spread(): void {
    for (let index = this.tree.numbers.length - 1; index >= 0; index -= 1) {
      const number = this.tree.numbers[index] ?? 0;
      const parent = this.tree.parents[number] ?? 0;
      const owner = this.ownerOf(number);
      if (parent > 0 && owner !== NOBODY) this.#add(parent, owner, this.#by[number] ?? 0);
    }
  }

  #add(version: number, owner: number, by: number): void {
    this.#owners[version] = joinOwners(this.ownerOf(version), owner);
    this.#by[version] = (this.#by[version] ?? 0) | by;
  }

  /** The branch whose purge alone would free the version; 0 or less when there is none. */
  ownerOf(version: number): number {
    return this.#owners[version] ?? NOBODY;
  }

  isInUse(version: number): boolean {
    return ((this.#by[version] ?? 0) & BY.live) !== 0;
  }

  partOf(version: number): SegmentPart {
    const by = this.#by[version] ?? 0;
    if ((by & BY.live) !== 0) return this.ownerOf(version) > 0 ? "unique" : "shared";
    if ((by & BY.trash) !== 0) return "trash";
    return by === 0 ? "garbage" : "history";
  }
}

/** One state of the catalog, looked at as a whole. */
export interface SegmentUsage {
  readonly trees: ReadonlyMap<DatabaseId, KeptTree>;
  readonly names: ReadonlyMap<DatabaseId, string>;
  /** Live ones and those in the trash, by id. */
  readonly branches: ReadonlyMap<number, BranchRefs>;
}

/** Call inside a snapshot. Single scans of branches, versions, segments' sizes, and of the operations of the undo window. */
export function readSegmentUsage(parts: Parts): SegmentUsage {
  const { catalog } = parts;
  const databases = catalog.connection.all<{ id: DatabaseId; name: string; state: number; last: number }>(
    `SELECT id, name, state, last_version AS last FROM databases WHERE state < ${STATE.purged}`,
  );
  const live = new Set(databases.filter(({ state }) => state === STATE.live).map(({ id }) => id));
  const trees = readTrees(parts, new Map(databases.map(({ id, last }) => [id, last])));
  const branches = readBranches(parts, live);
  visitClaims(catalog, { now: purgeTime(parts), undoWindowMs: LIMITS.undoWindowMs }, ({ database, version, by, branches: owners }) => {
    const branch = by === "undo" ? undefined : branches.get(owners[0] ?? 0);
    branch?.refs.push(version);
    trees.get(database as DatabaseId)?.keep(version, owners, by === "undo" ? "undo" : branch?.isLive ? "live" : "trash");
  });
  for (const tree of trees.values()) tree.spread();
  return { trees, branches, names: new Map(databases.map(({ id, name }) => [id, name])) };
}

function readTrees({ catalog: { connection } }: Pick<Parts, "catalog">, lasts: ReadonlyMap<DatabaseId, number>): Map<DatabaseId, KeptTree> {
  type Building = { versions: { number: number; parent: number | null }[]; bytes: Float64Array; logical: Float64Array };
  const building = new Map<DatabaseId, Building>();
  for (const [id, last] of lasts)
    building.set(id, { versions: [], bytes: new Float64Array(last + 1), logical: new Float64Array(last + 1) });
  type Version = { key: number; parent: number | null; size: number; count: number };
  const versions = "SELECT key, parent, page_size AS size, page_count AS count FROM versions ORDER BY key";
  for (const { key, parent, size, count } of connection.iterate<Version>(versions)) {
    const { database, number } = versionOfKey(key);
    const into = building.get(database as DatabaseId);
    into?.versions.push({ number, parent });
    if (into) into.logical[number] = 2 ** size * count;
  }
  const segments = "SELECT key / 16 AS version, sum(coalesce(bytes, length(data))) AS bytes FROM segments GROUP BY key / 16";
  for (const { version, bytes } of connection.iterate<{ version: number; bytes: number }>(segments)) {
    const { database, number } = versionOfKey(version);
    const into = building.get(database as DatabaseId);
    if (into) into.bytes[number] = bytes;
  }
  return new Map(
    [...building].map(([id, { versions: found, bytes, logical }]) => [id, new KeptTree(new VersionTree(found, bytes), logical)]),
  );
}

type Refs = BranchRefs & { readonly refs: number[] };

/** A branch is live when its database is, too. */
function readBranches({ catalog }: Pick<Parts, "catalog">, liveDatabases: ReadonlySet<DatabaseId>): Map<number, Refs> {
  type Row = { id: number; database: DatabaseId; name: string; state: number; head: VersionNumber; parent: number | null; guarded: number };
  const sql = `SELECT id, database, name, state, head, parent, protected AS guarded FROM branches WHERE state < ${STATE.purged} ORDER BY id`;
  const branches = new Map<number, Refs>();
  for (const { state, guarded, ...row } of catalog.connection.all<Row>(sql)) {
    const isLive = state === STATE.live && liveDatabases.has(row.database);
    branches.set(row.id, { ...row, isLive, isProtected: guarded === 1, refs: [] });
  }
  return branches;
}

export interface SegmentPlace {
  readonly database: DatabaseId;
  readonly part: SegmentPart;
  /** Bytes inside the catalog; null when it is in files. */
  readonly inlineBytes: number | null;
  readonly file: string | null;
  readonly parts: number;
}

/** Where each segment is, and who needs it. Call inside the snapshot of `usage`. */
export function* segmentPlaces({ catalog }: Pick<Parts, "catalog">, usage: SegmentUsage): Generator<SegmentPlace, void> {
  type Row = { key: number; bytes: number | null; parts: number; file: string | null };
  const sql = `SELECT key, parts, CASE typeof(data) WHEN 'text' THEN NULL ELSE length(data) END AS bytes,
    CASE typeof(data) WHEN 'text' THEN data END AS file FROM segments`;
  for (const { key, bytes, parts, file } of catalog.connection.iterate<Row>(sql)) {
    const { database, number } = versionOfKey(segmentOfKey(key).version);
    const tree = usage.trees.get(database as DatabaseId);
    yield { database: database as DatabaseId, part: tree?.partOf(number) ?? "garbage", inlineBytes: bytes, file, parts };
  }
}

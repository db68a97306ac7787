/**
 * What a store takes on its disk, and for what: segments by who needs them (`usage-segments.ts`), and every file of its
 * folder. See docs/decisions/0020-usage.md.
 */
import { relative, sep } from "node:path";
import type { RequestInput } from "#shared/contract.ts";
import type { CacheUsage, UsagePartName, UsageRow, UsageView } from "#shared/usage-views.ts";
import type { Parts } from "../branches/parts.ts";
import { findDatabase } from "../branches/resolve.ts";
import type { DatabaseRecord } from "../catalog/records.ts";
import { shadowPaths } from "../checkouts/shadow-files.ts";
import { partName } from "../segments/segment-parts.ts";
import { breathe, type PhasedWork } from "../transfer/long-work.ts";
import { countRepeats } from "./usage-blocks.ts";
import { visitFiles, type FoundFile } from "./usage-files.ts";
import { PartSums } from "./usage-parts.ts";
import { makeRows, type SegmentRow } from "./usage-rows.ts";
import { readSegmentUsage, segmentPlaces, type SegmentPart, type SegmentUsage } from "./usage-segments.ts";

/**
 * Of the whole store every byte of its folder, or of one database what is its own: not its share of what all databases use
 * together (catalog, temporary files, what was put aside). Bytes of one state of the catalog; files as they are met. Errors:
 * `database-not-found`, `cancelled`, and those of reading folders.
 */
export async function storeUsage(parts: Parts, input: RequestInput<"usage.store">, work: PhasedWork = {}): Promise<UsageView> {
  const database = input.database === undefined ? null : findDatabase(parts, input.database);
  work.phase?.("Reading the catalog");
  const { rows, segments, sums, expected } = parts.catalog.snapshot(() => readCatalog(parts, database));
  await breathe(work);
  work.phase?.("Looking at files");
  const progress = (done: number): void => work.progress?.(done, Math.max(done, expected));
  const files = await readFiles(parts, database, segments, sums, { ...work, progress });
  work.phase?.("Looking for shared blocks");
  await subtractRepeats(parts, files, sums, work);
  const list = sums.list();
  const sum = (of: (part: (typeof list)[number]) => number | null): number | null =>
    list.reduce<number | null>((total, part) => addKnown(total, of(part)), 0);
  return {
    database: database?.name ?? null,
    measuredAt: parts.clock.now(),
    logicalBytes: rows.reduce((total, { logicalBytes }) => total + logicalBytes, 0),
    storedBytes: sum((part) => part.storedBytes) ?? 0,
    physicalBytes: sum((part) => part.physicalBytes),
    parts: list,
    caches: files.caches,
    rows: rows.map((found): UsageRow => {
      const { id: _, ...row } = found;
      return { ...row, fileBytes: fileBytes(parts, row, files.checkouts) };
    }),
  };
}

function addKnown(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

/** Names of segment files, and the part each belongs to; null: of another database. */
type SegmentFiles = ReadonlyMap<string, SegmentPart | null>;

interface CatalogLook {
  readonly rows: SegmentRow[];
  readonly segments: SegmentFiles;
  readonly sums: PartSums;
  /** Files to be looked at, about. */
  readonly expected: number;
}

function readCatalog(parts: Parts, database: DatabaseRecord | null): CatalogLook {
  const usage = readSegmentUsage(parts);
  const rows = makeRows(usage, database?.id ?? null);
  const sums = new PartSums();
  const files = new Map<string, SegmentPart | null>();
  let inline = 0;
  for (const place of segmentPlaces(parts, usage)) {
    const isOwn = database === null || place.database === database.id;
    if (place.inlineBytes !== null && isOwn) {
      sums.add(place.part, place.part === "garbage" ? 1 : 0, place.inlineBytes, place.inlineBytes);
      inline += place.inlineBytes;
    }
    if (place.file !== null)
      for (let part = 0; part < place.parts; part += 1) files.set(partName(place.file, part), isOwn ? place.part : null);
  }
  // They lie inside the catalog's file, which is counted as a whole.
  if (database === null) sums.add("catalog", 0, -inline, -inline);
  countHolders(usage, rows, database, sums);
  return { rows, segments: files, sums, expected: files.size + 2 * parts.catalog.facts().length };
}

function countHolders(usage: SegmentUsage, rows: readonly SegmentRow[], database: DatabaseRecord | null, sums: PartSums): void {
  sums.add("unique", rows.filter(({ uniqueBytes }) => uniqueBytes > 0).length, 0, 0);
  sums.add("shared", rows.filter(({ sharedBytes }) => sharedBytes > 0).length, 0, 0);
  for (const branch of usage.branches.values())
    if (!branch.isLive && (database === null || branch.database === database.id)) sums.add("trash", 1, 0, 0);
  for (const [id, kept] of usage.trees) {
    if (database !== null && id !== database.id) continue;
    for (const number of kept.tree.numbers) if (kept.partOf(number) === "history") sums.add("history", 1, 0, 0);
  }
}

interface FilesLook {
  /** Sizes of what lies among the files of branches, by path. */
  readonly checkouts: ReadonlyMap<string, number>;
  readonly caches: readonly CacheUsage[];
  /** Paths of files that may share blocks, by the part they are counted in. */
  readonly sharing: { readonly files: string[]; readonly caches: string[]; readonly temporary: string[] };
}

type CacheName = CacheUsage["name"];

async function readFiles(
  parts: Parts,
  database: DatabaseRecord | null,
  segments: SegmentFiles,
  sums: PartSums,
  work: PhasedWork,
): Promise<FilesLook> {
  const classify = new FileClasses(parts, segments, database);
  const checkouts = new Map<string, number>();
  const sharing = { files: [] as string[], caches: [] as string[], temporary: [] as string[] };
  const caches = new Map<CacheName, { files: number; bytes: number }>();
  for (const name of CACHE_NAMES) caches.set(name, { files: 0, bytes: 0 });
  await visitFiles(parts.disk, parts.paths.root, work, (file) => {
    const found = classify.of(file);
    if (!found) return;
    sums.add(found.part, isCountedByFile(found.part) ? 1 : 0, file.size, file.allocated);
    if (found.part === "files") checkouts.set(file.path, file.size);
    const sum = found.cache && caches.get(found.cache);
    if (sum) sum.files += 1;
    if (sum) sum.bytes += file.size;
    if (found.part === "files" || found.part === "caches" || found.part === "temporary")
      if (SHARING.test(file.path)) sharing[found.part].push(file.path);
  });
  return { checkouts, sharing, caches: [...caches].map(([name, sum]) => ({ name, ...sum })) };
}

const CACHE_NAMES: readonly CacheName[] = ["ready files", "read-only files", "shadows", "change counts"];
/** What is ever cloned. */
const SHARING = /\.(?:db|shadow)$/;

function isCountedByFile(part: UsagePartName): boolean {
  return part !== "unique" && part !== "shared" && part !== "history" && part !== "trash";
}

/** Which part a file of the store belongs to, by where it is. */
class FileClasses {
  readonly #parts: Parts;
  readonly #segments: SegmentFiles;
  readonly #database: DatabaseRecord | null;
  /** Shadows of the files of the one database. */
  readonly #shadows = new Set<string>();

  constructor(parts: Parts, segments: SegmentFiles, database: DatabaseRecord | null) {
    this.#parts = parts;
    this.#segments = segments;
    this.#database = database;
    if (database) this.#findShadows(database);
  }

  #findShadows(database: DatabaseRecord): void {
    const { catalog, disk, paths } = this.#parts;
    for (const { branch: id } of catalog.facts()) {
      const branch = catalog.branches.byId(id);
      const stat = branch?.database === database.id ? disk.stat(paths.checkout(database.name, branch.name)) : null;
      if (stat) for (const path of Object.values<string>({ ...shadowPaths(paths.shadows, stat) })) this.#shadows.add(path);
    }
  }

  /** Null: none of the database's own. */
  of(file: FoundFile): { readonly part: UsagePartName; readonly cache?: CacheName } | null {
    const [top = "", second = "", third = ""] = relative(this.#parts.paths.root, file.path).split(sep);
    const name = this.#database?.name ?? null;
    const uid = this.#database && Buffer.from(this.#database.uid).toString("hex");
    switch (top) {
      case "segments": {
        const part = this.#segments.get(second);
        if (part === undefined) return name === null ? { part: "garbage" } : null;
        return part && { part };
      }
      case "checkouts":
        return name === null || second === name ? { part: "files" } : null;
      case "readonly":
        return uid === null || second === uid ? { part: "caches", cache: "read-only files" } : null;
      case "cache":
        if (second === "ready") return uid === null || third === uid ? { part: "caches", cache: "ready files" } : null;
        if (second === "shadows") return name === null || this.#shadows.has(file.path) ? { part: "caches", cache: "shadows" } : null;
        if (second === "changes") return name === null ? { part: "caches", cache: "change counts" } : null;
        return name === null ? { part: "caches" } : null;
      case "tmp":
        return name === null ? { part: "temporary" } : null;
      case "kept":
      case "benchmarks":
        return name === null ? { part: "kept" } : null;
      default:
        return name === null ? { part: "catalog" } : null;
    }
  }
}

async function subtractRepeats(parts: Parts, { sharing }: FilesLook, sums: PartSums, work: PhasedWork): Promise<void> {
  const names = ["files", "caches", "temporary"] as const;
  const repeats = await countRepeats(
    parts,
    names.map((name) => sharing[name]),
    work,
  );
  names.forEach((name, index) => {
    const repeated = repeats[index] ?? null;
    sums.add(name, 0, 0, repeated === null ? null : -repeated);
  });
}

function fileBytes(parts: Parts, row: Pick<UsageRow, "database" | "branch">, sizes: ReadonlyMap<string, number>): number {
  if (sizes.size === 0) return 0;
  const path = parts.paths.checkout(row.database, row.branch);
  return (sizes.get(path) ?? 0) + (sizes.get(`${path}-wal`) ?? 0);
}

import { setImmediate } from "node:timers/promises";
import { parseSqliteHeader, SQLITE_HEADER_BYTES, stampPage1 } from "../format/sqlite-header.ts";
import type { BranchRecord, VersionRecord } from "../catalog/records.ts";
import type { Disk, FileDescriptor } from "../io/disk.ts";
import type { Work } from "../segments/page-source.ts";
import type { Parts } from "./parts.ts";
import type { Place } from "./resolve.ts";

/** Checkouts of other branches that are looked at, besides the parent's. */
const NEIGHBOURS_CONSIDERED_MAX = 8;
const BATCH_PAGES = 64;

/** How a file was made of another one, and the pages that it was given then. */
export interface MadeFile {
  readonly how: "cloned" | "copied";
  readonly patched: number;
}

/**
 * Makes a file of `version` at `path` from the clean checkout of a relative: copied (reflinked where the filesystem
 * can), then given the pages that the two versions do not share. Far cheaper than decoding a chain. Null, with nothing
 * left behind, when there is no such checkout or it changed meanwhile.
 */
export async function cloneOfNeighbour(
  parts: Parts,
  place: Place,
  version: VersionRecord,
  path: string,
  work: Work,
): Promise<MadeFile | null> {
  for (const { branch, content, fingerprint } of neighbours(parts, place)) {
    const known = parts.catalog.versions.byNumber(place.database.id, content);
    if (!known || known.pageSize !== version.pageSize) continue;
    const differing = await parts.lineages.differing(place.database.id, content, version.number);
    if (!isMostlyShared(version, differing)) continue;
    const how = await parts.files.copy(parts.paths.checkout(place.database.name, branch.name), fingerprint, path, work);
    if (how === null) continue;
    await overwriteFile(parts, version, path, differing);
    return { how, patched: differing.length };
  }
  return null;
}

/** Changing a file that holds another version is cheaper than making one. Of an empty database nothing can be kept. */
export function isMostlyShared(version: VersionRecord, differing: Uint32Array): boolean {
  return version.pageCount > 0 && differing.length <= version.pageCount / 2;
}

/** The parent first, then branches of a like age: those share most. */
function neighbours(parts: Parts, place: Place): { branch: BranchRecord; content: VersionRecord["number"]; fingerprint: string }[] {
  const { parent } = place.branch;
  const parentFact = parent === null ? null : parts.catalog.fact(parent);
  const candidates = [
    ...(parent !== null && parentFact ? [{ branch: parent, fact: parentFact }] : []),
    ...parts.catalog.factsNear(place.branch.id, NEIGHBOURS_CONSIDERED_MAX),
  ];
  return candidates.flatMap(({ branch: id, fact }) => {
    if (fact.fingerprint === null) return [];
    const branch = parts.catalog.branches.byId(id);
    if (branch?.state !== "live" || branch.database !== place.database.id) return [];
    return [{ branch, content: fact.content, fingerprint: fact.fingerprint }];
  });
}

/** Nobody else knows the file yet, so its pages are written in place. `pause` is awaited between batches; it may throw. */
export async function overwriteFile(
  { disk, lineages }: Pick<Parts, "disk" | "lineages">,
  version: VersionRecord,
  path: string,
  differing: Uint32Array,
  pause: () => Promise<unknown> = setImmediate,
): Promise<void> {
  const { database, number, pageSize, pageCount } = version;
  const reader = await lineages.reader(database, number);
  const file = disk.open(path, "r+");
  try {
    disk.truncate(file, pageCount * pageSize);
    for (let from = 0; from < differing.length; from += BATCH_PAGES) {
      const numbers = differing.subarray(from, from + BATCH_PAGES);
      const bytes = new Uint8Array(numbers.length * pageSize);
      reader.readScattered(numbers, bytes);
      for (const [index, page] of numbers.entries())
        disk.write(file, bytes.subarray(index * pageSize, (index + 1) * pageSize), (page - 1) * pageSize);
      if (from + BATCH_PAGES < differing.length) await pause();
    }
    restamp(disk, file, pageSize);
  } finally {
    disk.close(file);
  }
}

/** WAL mode, and a change counter that no page cache has seen with this file. */
function restamp(disk: Disk, file: FileDescriptor, pageSize: number): void {
  const page = new Uint8Array(pageSize);
  disk.read(file, page, 0);
  const header = parseSqliteHeader(page.subarray(0, SQLITE_HEADER_BYTES));
  const counter = typeof header === "string" ? 0 : header.changeCounter;
  stampPage1(page, { journal: "wal", changeCounter: (counter + 1) >>> 0 });
  disk.write(file, page, 0);
}

import { parseSqliteHeader, SQLITE_HEADER_BYTES, stampPage1 } from "../format/sqlite-header.ts";
import type { BranchRecord, VersionRecord } from "../catalog/records.ts";
import type { FileDescriptor } from "../io/disk.ts";
import type { Parts } from "./parts.ts";
import type { Place } from "./resolve.ts";

/** Checkouts of other branches that are looked at, besides the parent's. */
const NEIGHBOURS_CONSIDERED_MAX = 8;
const BATCH_PAGES = 64;

/**
 * Makes a file of `version` at `path` from the clean checkout of a relative: copied (reflinked where the filesystem
 * can), then given the pages that the two versions do not share. Far cheaper than decoding a chain. False, with nothing
 * left behind, when there is no such checkout or it changed meanwhile.
 */
export async function cloneOfNeighbour(parts: Parts, place: Place, version: VersionRecord, path: string): Promise<boolean> {
  for (const { branch, content, fingerprint } of neighbours(parts, place)) {
    const known = parts.catalog.versions.byNumber(place.database.id, content);
    if (!known || known.pageSize !== version.pageSize) continue;
    const differing = await parts.lineages.differing(place.database.id, content, version.number);
    if (!isMostlyShared(version, differing)) continue;
    if (!(await parts.files.copy(parts.paths.checkout(place.database.name, branch.name), fingerprint, path))) continue;
    await overwrite(parts, place, version, path, differing);
    return true;
  }
  return false;
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

/** Nobody else knows the file yet, so its pages are written in place. */
async function overwrite(parts: Parts, place: Place, version: VersionRecord, path: string, differing: Uint32Array): Promise<void> {
  const reader = await parts.lineages.reader(place.database.id, version.number);
  const file = parts.disk.open(path, "r+");
  try {
    parts.disk.truncate(file, version.pageCount * version.pageSize);
    for (let from = 0; from < differing.length; from += BATCH_PAGES) {
      const numbers = differing.subarray(from, from + BATCH_PAGES);
      const bytes = new Uint8Array(numbers.length * version.pageSize);
      reader.readScattered(numbers, bytes);
      for (const [index, number] of numbers.entries())
        parts.disk.write(file, bytes.subarray(index * version.pageSize, (index + 1) * version.pageSize), (number - 1) * version.pageSize);
    }
    restamp(parts, file, version.pageSize);
  } finally {
    parts.disk.close(file);
  }
}

/** WAL mode, and a change counter that no page cache has seen with this file. */
function restamp(parts: Parts, file: FileDescriptor, pageSize: number): void {
  const page = new Uint8Array(pageSize);
  parts.disk.read(file, page, 0);
  const header = parseSqliteHeader(page.subarray(0, SQLITE_HEADER_BYTES));
  const counter = typeof header === "string" ? 0 : header.changeCounter;
  stampPage1(page, { journal: "wal", changeCounter: (counter + 1) >>> 0 });
  parts.disk.write(file, page, 0);
}

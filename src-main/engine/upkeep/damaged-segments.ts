/**
 * Takes damaged merged segments out of the store, so that they are made anew. They say again, shorter, what other segments
 * say, so readers go round a damaged one meanwhile (`branches/lineages.ts`); but only as long as those others are sound,
 * which is why one is removed only after everything in it was read from them.
 */
import type { Parts } from "../branches/parts.ts";
import type { SegmentRecord } from "../catalog/records.ts";
import { EngineError } from "../io/errors.ts";
import { reach } from "../io/faults.ts";
import { SegmentReader } from "../segments/segment-reader.ts";
import { breathe, type PhasedWork } from "../transfer/long-work.ts";

/** Pages of one read: half a megabyte of the usual size. */
const PAGES_READ = 128;

/**
 * Reads the stored bytes of every merged segment and removes the rows of those that are damaged; their files are orphans
 * then. Returns how many. Throws `cancelled`, `store-busy`.
 */
export async function removeDamagedSegments(parts: Parts, work: PhasedWork): Promise<number> {
  const { catalog, lineages } = parts;
  let removed = 0;
  for (const { id } of [...catalog.databases.live(), ...catalog.databases.trashed()]) {
    const links = catalog.versions.mergedLinks(id);
    if (links.length > 0) work.phase?.("Checking merged segments");
    for (const [index, { to, level }] of links.entries()) {
      work.progress?.(index, links.length);
      await breathe(work);
      const record = catalog.versions.segmentAt(id, to, level);
      if (record && (await isDamaged(parts, record)) && (await isReadBelow(parts, record, work)) && catalog.removeMerged(record))
        removed += 1;
    }
  }
  reach("gc:damage-removed");
  if (removed > 0) lineages.forget();
  return removed;
}

async function isDamaged(parts: Parts, record: SegmentRecord): Promise<boolean> {
  const isKnown = parts.lineages.damaged.some(
    ({ record: { database, to, level } }) => database === record.database && to === record.to && level === record.level,
  );
  if (isKnown) return true;
  try {
    (await SegmentReader.open(parts.native, parts.segments.objects, record)).checkStored();
    return false;
  } catch (error) {
    if (error instanceof EngineError) return true;
    throw error;
  }
}

/** Whether the whole version at its end can be read without it. */
async function isReadBelow(parts: Parts, record: SegmentRecord, work: PhasedWork): Promise<boolean> {
  try {
    const chain = parts.lineages.openBelow(record);
    for (let first = 1; first <= chain.pageCount; first += PAGES_READ) {
      const numbers = Uint32Array.from({ length: Math.min(PAGES_READ, chain.pageCount - first + 1) }, (_, index) => first + index);
      await chain.readInSlices(numbers, new Uint8Array(numbers.length * chain.pageSize), () => breathe(work));
    }
    return true;
  } catch (error) {
    if (error instanceof EngineError && error.code !== "cancelled") return false;
    throw error;
  }
}

/**
 * Versions out of segment files alone, for a store whose catalog is lost. A file does not say which versions it leads
 * from and to, but it proves it: its first frame decodes to pages that have their hashes only over the right state. So
 * every base is a state, and every delta is tried on the states that are known, until none fits any more. Deltas that
 * stand on a segment which was inside the catalog fit nowhere.
 */
import type { DatabaseId, VersionNumber } from "#shared/ids.ts";
import { BASE_LEVEL, type SegmentRecord } from "../catalog/records.ts";
import { SEGMENT_HEADER_BYTES } from "../format/segment-index.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import { EngineError } from "../io/errors.ts";
import { ChainReader } from "../segments/chain-reader.ts";
import { Pace } from "../segments/pace.ts";
import type { Work } from "../segments/page-source.ts";
import type { SegmentParts } from "../segments/segment-parts.ts";
import { SegmentReader } from "../segments/segment-reader.ts";
import { StateSum } from "../segments/state-sum.ts";

const PART_NAME = /^([0-9a-f]{32})-(\d{1,5})\.seg$/;
const KIND_BASE = 1;
const CHUNK_BYTES = 1024 * 1024;

export interface RecoveredState {
  readonly chain: ChainReader;
  /** Index of the state it leads from; null for a base. */
  readonly parent: number | null;
  readonly segment: { readonly file: string; readonly parts: number; readonly bytes: number; readonly pages: number };
  readonly checksum: Uint8Array;
  readonly storedAt: number;
}

export interface Recovered {
  /** Parents before children. */
  readonly states: readonly RecoveredState[];
  /** Object names that belong to no state, and why. */
  readonly left: readonly Left[];
}

interface Left {
  readonly name: string;
  /** Null: nothing is, its state is in other segments as well, as that of a merged one always is. */
  readonly problem: string | null;
}

/** Reads every segment file once or more; changes nothing. Throws `cancelled`. */
export async function recoverSegments(parts: SegmentParts, work: Work = {}): Promise<Recovered> {
  const left: Left[] = [];
  const readers = await openAll(parts, left);
  const states: RecoveredState[] = [];
  const pace = new Pace(
    "Reading segments",
    work,
    readers.reduce((sum, { reader }) => sum + reader.record.bytes, 0),
  );
  let waiting: Found[] = [];
  for (const found of readers) {
    if (found.reader.index.kind === "base") await attach(parts, states, found, null, left);
    else waiting.push(found);
    await pace.advance(found.reader.record.bytes);
  }
  for (let fitted = true; fitted && waiting.length > 0;) {
    const before = waiting.length;
    const unfitting: Found[] = [];
    for (const found of waiting) {
      const parent = findParent(parts, states, found.reader);
      if (parent === null) unfitting.push(found);
      else await attach(parts, states, found, parent, left);
      await pace.advance(found.reader.record.bytes);
    }
    waiting = unfitting;
    fitted = waiting.length < before;
  }
  for (const { reader } of waiting) left.push(...namesOf(reader.record, "it leads from a version that is not in a file"));
  return { states, left };
}

interface Found {
  readonly reader: SegmentReader;
  readonly storedAt: number;
}

/** Oldest first: a delta is written after what it stands on. */
async function openAll(parts: SegmentParts, left: Left[]): Promise<Found[]> {
  const groups = new Map<string, { count: number; last: number; bytes: number; storedAt: number }>();
  for (const { name, size, storedAt } of await parts.objects.list()) {
    const [, file, part] = PART_NAME.exec(name) ?? [];
    if (file === undefined || part === undefined) {
      left.push({ name, problem: "it is no segment" });
      continue;
    }
    const group = groups.get(file) ?? { count: 0, last: 0, bytes: 0, storedAt };
    groups.set(file, {
      count: group.count + 1,
      last: Math.max(group.last, Number(part)),
      bytes: group.bytes + size,
      storedAt: Math.max(group.storedAt, storedAt),
    });
  }
  const found: Found[] = [];
  for (const [file, { count, last, bytes, storedAt }] of groups) {
    const record = await recordOf(parts, { file, parts: last + 1, bytes, number: found.length + 1 });
    try {
      if (count !== last + 1) throw new EngineError("segment-missing", `${count} of ${last + 1} parts are there`);
      found.push({ reader: await SegmentReader.open(parts.native, parts.objects, record), storedAt });
    } catch (error) {
      if (!isDamage(error)) throw error;
      left.push(...namesOf(record, error.message));
    }
  }
  return found.toSorted((a, b) => a.storedAt - b.storedAt);
}

/** The record that the catalog would have: its numbers only tell the segments apart. */
async function recordOf(
  parts: SegmentParts,
  { file, parts: count, bytes, number }: { file: string; parts: number; bytes: number; number: number },
): Promise<SegmentRecord> {
  const header = new Uint8Array(SEGMENT_HEADER_BYTES);
  const first = parts.objects.open(`${file}-0.seg`);
  first?.read(0, header);
  const isBase = header[3] === KIND_BASE;
  return {
    database: 0 as DatabaseId,
    to: number as VersionNumber,
    level: isBase ? BASE_LEVEL : 0,
    from: isBase ? null : (0 as VersionNumber),
    bytes,
    inline: null,
    file,
    parts: count,
  };
}

/** Latest state first: a delta mostly stands on what was written shortly before. */
function findParent(parts: SegmentParts, states: readonly RecoveredState[], reader: SegmentReader): number | null {
  for (let index = states.length - 1; index >= 0; index -= 1) {
    const below = states[index]?.chain;
    if (!below || below.pageSize !== reader.index.pageSize) continue;
    try {
      const chain = new ChainReader(parts.frames, [reader, ...below.segments], below.segments.length);
      const { first, end } = reader.frameRange(0);
      const numbers = Uint32Array.from({ length: end - first }, (_, ordinal) => reader.pageNumberAt(first + ordinal));
      chain.readScattered(numbers, new Uint8Array(numbers.length * chain.pageSize));
      return index;
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }
  return null;
}

/** Reads all of a segment: a state that is taken over is whole. */
async function attach(
  parts: SegmentParts,
  states: RecoveredState[],
  { reader, storedAt }: Found,
  parent: number | null,
  left: Left[],
): Promise<void> {
  const below = parent === null ? null : (states[parent] ?? null);
  const { record, index } = reader;
  try {
    const chain = new ChainReader(parts.frames, [reader, ...(below?.chain.segments ?? [])], below?.chain.segments.length ?? 0);
    const checksum = checksumOf(parts, chain, reader, below);
    // Of a merged segment the state is there already.
    if (states.some((state) => state.chain.pageCount === chain.pageCount && Buffer.compare(state.checksum, checksum) === 0)) {
      left.push(...namesOf(record, null));
      return;
    }
    const segment = { file: record.file ?? "", parts: record.parts, bytes: record.bytes, pages: index.pages };
    states.push({ chain, parent, segment, checksum, storedAt });
  } catch (error) {
    if (!isDamage(error)) throw error;
    left.push(...namesOf(record, error.message));
  }
}

/** Pages that the segment stores, and those that the database lost, leave the parent's sum; the new ones enter. */
function checksumOf(parts: SegmentParts, chain: ChainReader, reader: SegmentReader, below: RecoveredState | null): Uint8Array {
  const sum = new StateSum(parts.native, below?.checksum);
  const toggle = (source: ChainReader, numbers: Uint32Array): void => {
    const bytes = new Uint8Array(numbers.length * source.pageSize);
    source.readScattered(numbers, bytes);
    sum.toggle(parts.native.hashPages(bytes, source.pageSize), numbers);
  };
  const pagesAtOnce = CHUNK_BYTES / chain.pageSize;
  for (let first = 0; first < reader.index.pages; first += pagesAtOnce) {
    const count = Math.min(pagesAtOnce, reader.index.pages - first);
    const numbers = Uint32Array.from({ length: count }, (_, ordinal) => reader.pageNumberAt(first + ordinal));
    if (below)
      toggle(
        below.chain,
        numbers.filter((pageNumber) => pageNumber <= below.chain.pageCount),
      );
    toggle(chain, numbers);
  }
  if (!below) return sum.bytes();
  const lockPage = lockPageNumber(chain.pageSize);
  for (let first = chain.pageCount + 1; first <= below.chain.pageCount; first += pagesAtOnce) {
    const count = Math.min(pagesAtOnce, below.chain.pageCount - first + 1);
    const numbers = Uint32Array.from({ length: count }, (_, offset) => first + offset);
    toggle(
      below.chain,
      numbers.filter((pageNumber) => pageNumber !== lockPage),
    );
  }
  return sum.bytes();
}

function isDamage(error: unknown): error is EngineError {
  return error instanceof EngineError && (error.code === "segment-corrupt" || error.code === "segment-missing");
}

function namesOf(record: SegmentRecord, problem: string | null): Left[] {
  return Array.from({ length: record.parts }, (_, part) => ({ name: `${record.file}-${part}.seg`, problem }));
}

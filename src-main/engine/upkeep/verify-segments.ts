/**
 * Verifies what a database's segments say: every segment of every level is decoded once, each page compared with its
 * hash, and the state checksum that it leads to, derived from the one it stands on, with the version's. Versions come
 * in order of number, so that what a segment stands on was verified before it.
 */
import type { VersionNumber } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Parts } from "../branches/parts.ts";
import type { DatabaseRecord, SegmentRecord, VersionRecord } from "../catalog/records.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import { EngineError } from "../io/errors.ts";
import { ChainReader } from "../segments/chain-reader.ts";
import { FrameCache } from "../segments/frame-cache.ts";
import type { Advance } from "../segments/merge-segments.ts";
import { SegmentReader } from "../segments/segment-reader.ts";
import { StateSum } from "../segments/state-sum.ts";

/** Chains kept for the segments that stand on them: others are put together again. */
const CHAINS_KEPT_MAX = 64;
const RUN_BYTES = 512 * 1024;
const SAID_ELSEWHERE = "nothing is lost: other segments say the same, and gc makes this one anew";

export interface SegmentTally {
  segments: number;
  pages: number;
  bytesRead: number;
}

export class SegmentVerifier {
  readonly #parts: Parts;
  readonly #database: DatabaseRecord;
  readonly #tally: SegmentTally;
  readonly #advance: Advance;
  readonly #frames = new FrameCache(LIMITS.pageCacheBytes);
  /** Least recently used first. */
  readonly #chains = new Map<VersionNumber, ChainReader>();
  /** Indexes that are read already, by segment. Held while a chain holds them. */
  readonly #readers = new Map<string, WeakRef<SegmentReader>>();
  /** Segments that could not be decoded, by version and level: no chain goes through them. */
  readonly #damaged = new Set<string>();

  /** `advance` may wait between frames, or throw `cancelled`. */
  constructor(parts: Parts, database: DatabaseRecord, tally: SegmentTally, advance: Advance) {
    this.#parts = parts;
    this.#database = database;
    this.#tally = tally;
    this.#advance = advance;
  }

  /** What is wrong with a version's segments, each in a sentence; empty when nothing is. Throws what `advance` throws. */
  async verify(version: VersionRecord): Promise<string[]> {
    const { versions } = this.#parts.catalog;
    const problems: string[] = [];
    const links = versions.links(this.#database.id, version.number);
    if (links.length === 0) problems.push("it has no segment");
    // Its own change first: what lies behind merged segments is verified by then.
    for (const { level } of links.toReversed()) {
      try {
        const record = versions.segmentAt(this.#database.id, version.number, level);
        const problem = record && (await this.#verifySegment(version, record));
        if (problem) problems.push(problem);
      } catch (error) {
        if (!(error instanceof EngineError) || error.code === "cancelled") throw error;
        this.#damaged.add(`${version.number}.${level}`);
        problems.push(links.at(-1)?.level === level ? error.message : `${error.message} (${SAID_ELSEWHERE})`);
      }
    }
    // Purged meanwhile: what is not there is no damage.
    return versions.byNumber(this.#database.id, version.number) ? problems : [];
  }

  async #verifySegment(version: VersionRecord, record: SegmentRecord): Promise<string | null> {
    const reader = await this.#open(record);
    const { index } = reader;
    this.#tally.segments += 1;
    this.#tally.pages += index.pages;
    this.#tally.bytesRead += record.bytes;
    const before = record.from === null ? null : await this.#chainOf(record.from);
    const chain = new ChainReader(this.#frames, [reader, ...(before?.segments ?? [])], before?.segments.length ?? 0);
    if (index.pageSize !== version.pageSize || index.pageCount !== version.pageCount)
      return `its segment describes ${index.pageCount} pages of ${index.pageSize} bytes, its record ${version.pageCount} of ${version.pageSize}`;
    const found = await this.#checksumOver(reader, before);
    const isSound = Buffer.compare(found, version.checksum) === 0;
    const isMerged = record.level > 0 && record.from !== null;
    if (isSound || !isMerged) this.#keep(version.number, chain);
    else this.#damaged.add(`${version.number}.${record.level}`);
    if (isSound) return null;
    const what = isMerged ? "the state checksum of its merged segment" : "its state checksum";
    return `${what} is ${hex(found)}, recorded is ${hex(version.checksum)}`;
  }

  /** The checksum before, less what changed and dropped pages were, plus what they are. */
  async #checksumOver(reader: SegmentReader, before: ChainReader | null): Promise<Uint8Array> {
    const { native } = this.#parts;
    const { pageSize, pageCount, frameBytes } = reader.index;
    const sum = new StateSum(native, before ? this.#recordedChecksum(before.version) : undefined);
    for (let frame = 0; frame < frameBytes.length; frame += 1) {
      const numbers = reader.framePages(frame);
      const known = Uint32Array.from(before ? numbers.filter((pageNumber) => pageNumber <= before.pageCount) : []);
      const dictionary = new Uint8Array(known.length * pageSize);
      if (before && known.length > 0) {
        await before.readInSlices(known, dictionary, this.#advance);
        sum.toggle(native.hashPages(dictionary, pageSize), known);
      }
      const { pages, hashes } = reader.decodeFrame(frame, dictionary);
      sum.toggle(hashes, numbers);
      this.#frames.put(`${reader.cacheKey}:${frame}`, pages);
      await this.#advance(pages.length);
    }
    if (before) await this.#toggleDropped(sum, before, pageCount);
    return sum.bytes();
  }

  async #toggleDropped(sum: StateSum, before: ChainReader, pageCount: number): Promise<void> {
    const { pageSize } = before;
    const lockPage = lockPageNumber(pageSize);
    for (let first = pageCount + 1; first <= before.pageCount; first += RUN_BYTES / pageSize) {
      const count = Math.min(RUN_BYTES / pageSize, before.pageCount - first + 1);
      const numbers = Uint32Array.from({ length: count }, (_, index) => first + index).filter((pageNumber) => pageNumber !== lockPage);
      const bytes = new Uint8Array(numbers.length * pageSize);
      await before.readInSlices(numbers, bytes, this.#advance);
      sum.toggle(this.#parts.native.hashPages(bytes, pageSize), numbers);
    }
  }

  #recordedChecksum(version: VersionNumber): Uint8Array {
    const record = this.#parts.catalog.versions.byNumber(this.#database.id, version);
    if (!record) throw new EngineError("segment-missing", `v${version}, which its segment starts at, is not in the catalog`);
    return record.checksum;
  }

  /** The chain of a version that was verified: the highest levels, as every reader takes them. */
  async #chainOf(version: VersionNumber): Promise<ChainReader> {
    const known = this.#chains.get(version);
    if (known) {
      this.#keep(version, known);
      return known;
    }
    const readers: SegmentReader[] = [];
    let sound = 0;
    for (let next: VersionNumber | null = version; next !== null;) {
      const below = this.#chains.get(next);
      if (below) {
        for (const segment of below.segments) readers.push(segment);
        sound = below.segments.length;
        break;
      }
      const record = this.#soundSegment(next);
      if (!record || (record.from !== null && record.from >= next))
        throw new EngineError("segment-missing", `it cannot be rebuilt: no segment ends at v${next}`);
      readers.push(await this.#open(record));
      next = record.from;
    }
    const chain = new ChainReader(this.#frames, readers, sound);
    this.#keep(version, chain);
    return chain;
  }

  /** The one that reaches back furthest of those that end at a version. */
  #soundSegment(version: VersionNumber): SegmentRecord | null {
    const { versions } = this.#parts.catalog;
    const links = versions.links(this.#database.id, version);
    const sound = links.find(({ level }) => !this.#damaged.has(`${version}.${level}`));
    if (links.length > 0 && !sound) throw new EngineError("segment-corrupt", `it cannot be rebuilt: v${version} is damaged`);
    return sound ? versions.segmentAt(this.#database.id, version, sound.level) : null;
  }

  /** Never from an index that was read before this verification began. */
  async #open(record: SegmentRecord): Promise<SegmentReader> {
    const key = `${record.to}.${record.level}`;
    const known = this.#readers.get(key)?.deref();
    if (known) return known;
    const reader = await SegmentReader.open(this.#parts.native, this.#parts.segments.objects, record);
    this.#readers.set(key, new WeakRef(reader));
    return reader;
  }

  #keep(version: VersionNumber, chain: ChainReader): void {
    this.#chains.delete(version);
    this.#chains.set(version, chain);
    for (const oldest of this.#chains.keys()) {
      if (this.#chains.size <= CHAINS_KEPT_MAX) return;
      this.#chains.delete(oldest);
    }
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

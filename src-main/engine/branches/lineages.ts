import type { DatabaseId, VersionNumber } from "#shared/ids.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { BASE_LEVEL, type SegmentRecord } from "../catalog/records.ts";
import { EngineError } from "../io/errors.ts";
import { openChain, openChainNow, type ChainReader } from "../segments/chain-reader.ts";
import type { FrameCache } from "../segments/frame-cache.ts";
import type { ChainLink } from "../segments/merge-plan.ts";
import { pagesDiffering, segmentsApart } from "../segments/pages-differing.ts";
import type { SegmentParts } from "../segments/segment-parts.ts";
import { nameSegment, SegmentReader, type StandIn } from "../segments/segment-reader.ts";

/** Open chains kept: one for each branch that is being worked on. Versions are immutable, so nothing expires. */
const OPEN_CHAINS_MAX = 16;
/** Indexes of segments kept for chains that are opened anew, and the pages that they list: 12 bytes each. */
const INDEXES_MAX = 256;
const INDEX_PAGES_MAX = 1_000_000;
/** A chain that grew by so many segments is looked up again: another process may have merged some. */
const GROWTH_MAX = 32;
/** Pages of segments that are compared by hash without looking for a shorter way between two versions. */
const PAGES_COMPARED_MAX = 512;
/** Steps between two versions beyond which their chains are compared instead. */
const STEPS_MAX = 1_000;

export interface DamagedSegment {
  readonly record: SegmentRecord;
  readonly name: string;
  readonly problem: string;
}

interface OpenChain {
  readonly database: DatabaseId;
  readonly chain: ChainReader;
  /** Segments that stand on what was last looked up. */
  readonly growth: number;
}

/** Versions as readable states, and what sets two of them apart. */
export class Lineages {
  readonly #catalog: Catalog;
  readonly #segments: SegmentParts;
  /** Least recently used first. */
  readonly #open = new Map<string, OpenChain>();
  readonly #indexes = new Map<string, SegmentReader>();
  #indexPages = 0;
  /** Segments that could not be read and need not be, because others say the same. */
  readonly #damaged = new Map<string, DamagedSegment>();

  constructor(catalog: Catalog, segments: SegmentParts) {
    this.#catalog = catalog;
    this.#segments = segments;
  }

  /** Throws `segment-missing` or `segment-corrupt`. */
  async reader(database: DatabaseId, version: VersionNumber): Promise<ChainReader> {
    const key = `${database}:${version}`;
    const known = this.#open.get(key) ?? (await this.#openChain(database, version));
    this.#open.delete(key);
    this.#open.set(key, known);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= OPEN_CHAINS_MAX) break;
      this.#open.delete(oldest);
    }
    return known.chain;
  }

  /** Page numbers, ascending, to write over a file that holds `held` so that it holds `wanted` (see `pagesDiffering`). */
  async differing(database: DatabaseId, held: VersionNumber, wanted: VersionNumber): Promise<Uint32Array> {
    if (held === wanted) return new Uint32Array(0);
    const [from, to] = [await this.reader(database, held), await this.reader(database, wanted)];
    const apart = segmentsApart(from, to);
    const isCheap = apart.every((segment) => segment.index.kind === "delta") && countPages(apart) <= PAGES_COMPARED_MAX;
    return pagesDiffering(from, to, isCheap ? apart : ((await this.#shortestWay(database, from, to)) ?? apart));
  }

  /** A merged segment was added: chains that it makes shorter are opened anew when they are next wanted. */
  renew(database: DatabaseId, merged: Pick<ChainLink, "to" | "level">): void {
    for (const [key, open] of this.#open) {
      if (open.database !== database) continue;
      const { segments } = open.chain;
      if (segments.some(({ record }) => record.to === merged.to && record.level < merged.level)) this.#open.delete(key);
    }
  }

  /** Found damaged while something was read. What was read is whole: it was taken from what these segments were made of. */
  get damaged(): readonly DamagedSegment[] {
    return [...this.#damaged.values()];
  }

  forget(): void {
    this.#damaged.clear();
    this.#open.clear();
    this.#indexes.clear();
    this.#indexPages = 0;
  }

  async #openChain(database: DatabaseId, version: VersionNumber): Promise<OpenChain> {
    let growth = 0;
    const chain = await openChain(
      this.#segments,
      version,
      (to) => {
        const below = this.#open.get(`${database}:${to}`);
        if (below && below.growth + growth < GROWTH_MAX) {
          growth += below.growth;
          return below.chain;
        }
        growth += 1;
        return this.#lookUp(database, to);
      },
      (record) => this.#openUsable(record),
    );
    const isWhole = chain.segments.length === growth;
    return { database, chain, growth: isWhole ? 0 : growth };
  }

  /** A chain of its own, made of the highest levels there are and decoded into `frames`: for work that passes through once. */
  async openDetached(database: DatabaseId, version: VersionNumber, frames: FrameCache): Promise<ChainReader> {
    return openChain(
      { ...this.#segments, frames },
      version,
      (to) => this.#lookUp(database, to),
      (record) => this.#openUsable(record),
    );
  }

  /** A segment's index, kept for the next chain that stands on it. Throws `segment-missing` or `segment-corrupt`. */
  openSegment(record: SegmentRecord): SegmentReader {
    const key = fullKeyOf(record);
    const known = this.#indexes.get(key);
    const reader = known ?? SegmentReader.openNow(this.#segments.native, this.#segments.objects, record, this.#standInFor(record));
    if (!known) this.#indexPages += reader.index.pages;
    this.#indexes.delete(key);
    this.#indexes.set(key, reader);
    for (const [oldest, { index }] of this.#indexes) {
      if (this.#indexes.size <= INDEXES_MAX && this.#indexPages <= INDEX_PAGES_MAX) break;
      this.#indexes.delete(oldest);
      this.#indexPages -= index.pages;
    }
    return reader;
  }

  /** Null for one that is damaged and not needed: the next look-up answers with another. */
  #openUsable(record: SegmentRecord): SegmentReader | null {
    try {
      return this.openSegment(record);
    } catch (error) {
      if (!(error instanceof EngineError) || !this.#isSaidElsewhere(record)) throw error;
      this.#noteDamage(record, error);
      return null;
    }
  }

  /** The segment that ends at a version and reaches back furthest, of those below a level; a damaged one if there is no other. */
  #lookUp(database: DatabaseId, version: VersionNumber, belowLevel = BASE_LEVEL + 1): SegmentRecord | null {
    const { versions } = this.#catalog;
    const first = versions.segmentFor(database, version);
    if (!first || (first.level < belowLevel && !this.#damaged.has(fullKeyOf(first)))) return first;
    const below = versions.links(database, version).filter(({ level }) => level < belowLevel);
    const usable = below.find(({ level }) => !this.#damaged.has(fullKeyOf({ database, to: version, level }))) ?? below.at(-1);
    return usable ? versions.segmentAt(database, version, usable.level) : null;
  }

  #isSaidElsewhere({ database, to, level }: SegmentRecord): boolean {
    return level > 0 && this.#catalog.versions.links(database, to).some((link) => link.level < level);
  }

  #noteDamage(record: SegmentRecord, problem: EngineError): void {
    const key = fullKeyOf(record);
    if (this.#damaged.has(key)) return;
    this.#damaged.set(key, { record, name: nameSegment(record), problem: problem.message });
    // Chains that are opened from now on go round it.
    for (const [name, { database, chain }] of this.#open)
      if (database === record.database && chain.segments.some((segment) => fullKeyOf(segment.record) === key)) this.#open.delete(name);
  }

  /** The chain below a merged segment, opened when it is first needed. */
  #standInFor(record: SegmentRecord): StandIn | null {
    if (record.level === 0) return null;
    let below: ChainReader | null = null;
    return (numbers, problem) => {
      if (!this.#isSaidElsewhere(record)) throw problem;
      this.#noteDamage(record, problem);
      below ??= this.openBelow(record);
      const bytes = new Uint8Array(numbers.length * below.pageSize);
      below.readScattered(numbers, bytes);
      return bytes;
    };
  }

  /** The version at a merged segment's end, without it and what reaches further. Throws `segment-missing` or `segment-corrupt`. */
  openBelow(record: SegmentRecord): ChainReader {
    const { database, to, level } = record;
    return openChainNow(
      this.#segments,
      to,
      (version) => this.#lookUp(database, version, version === to ? level : undefined),
      (other) => this.#openUsable(other),
    );
  }

  /**
   * Segments that lead from either version to their nearest common ancestor. Chains share less than versions do: two
   * neighbours with a merged segment's end between them have only the segment before its whole range in common.
   * Null where a base is in the way, or the way is long.
   */
  async #shortestWay(database: DatabaseId, from: ChainReader, to: ChainReader): Promise<SegmentReader[] | null> {
    const known = new Map([...from.segments, ...to.segments].map((segment) => [keyOf(segment.record), segment]));
    const way: SegmentReader[] = [];
    let [newer, older] = [from.version, to.version];
    while (newer !== older && way.length < STEPS_MAX) {
      if (newer < older) [newer, older] = [older, newer];
      const [end, limit] = [newer, older];
      // Whatever starts at or after the older one cannot reach over the common ancestor, nor can the step to a parent.
      const step = this.#catalog.versions
        .links(database, end)
        .filter(({ level }) => !this.#damaged.has(fullKeyOf({ database, to: end, level })))
        .find(({ level, from: start }) => level !== BASE_LEVEL && start !== null && (level === 0 || start >= limit));
      const record = step && this.#catalog.versions.segmentAt(database, step.to, step.level);
      if (!record || record.from === null) return null;
      const segment = known.get(keyOf(record)) ?? this.#openUsable(record);
      if (!segment) continue;
      way.push(segment);
      newer = record.from;
    }
    return newer === older ? way : null;
  }
}

function keyOf({ to, level }: Pick<SegmentRecord, "to" | "level">): string {
  return `${to}.${level}`;
}

function fullKeyOf(segment: Pick<SegmentRecord, "database" | "to" | "level">): string {
  return `${segment.database}.${keyOf(segment)}`;
}

function countPages(segments: readonly SegmentReader[]): number {
  return segments.reduce((sum, segment) => sum + segment.index.pages, 0);
}

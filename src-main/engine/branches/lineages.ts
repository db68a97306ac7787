import type { DatabaseId, VersionNumber } from "#shared/ids.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { BASE_LEVEL, type SegmentRecord } from "../catalog/records.ts";
import { openChain, type ChainReader } from "../segments/chain-reader.ts";
import type { FrameCache } from "../segments/frame-cache.ts";
import type { ChainLink } from "../segments/merge-plan.ts";
import { pagesDiffering, segmentsApart } from "../segments/pages-differing.ts";
import type { SegmentParts } from "../segments/segment-parts.ts";
import { SegmentReader } from "../segments/segment-reader.ts";

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

  forget(): void {
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
        return this.#catalog.versions.segmentFor(database, to);
      },
      (record) => this.openSegment(record),
    );
    const isWhole = chain.segments.length === growth;
    return { database, chain, growth: isWhole ? 0 : growth };
  }

  /** A chain of its own, made of the highest levels there are and decoded into `frames`: for work that passes through once. */
  async openDetached(database: DatabaseId, version: VersionNumber, frames: FrameCache): Promise<ChainReader> {
    return openChain(
      { ...this.#segments, frames },
      version,
      (to) => this.#catalog.versions.segmentFor(database, to),
      (record) => this.openSegment(record),
    );
  }

  /** A segment's index, kept for the next chain that stands on it. */
  async openSegment(record: SegmentRecord): Promise<SegmentReader> {
    const key = `${record.database}.${keyOf(record)}`;
    const known = this.#indexes.get(key);
    const reader = known ?? (await SegmentReader.open(this.#segments.native, this.#segments.objects, record));
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
      const limit = older;
      // Whatever starts at or after the older one cannot reach over the common ancestor, nor can the step to a parent.
      const step = this.#catalog.versions
        .links(database, newer)
        .find(({ level, from: start }) => level !== BASE_LEVEL && start !== null && (level === 0 || start >= limit));
      const record = step && this.#catalog.versions.segmentAt(database, step.to, step.level);
      if (!record || record.from === null) return null;
      way.push(known.get(keyOf(record)) ?? (await this.openSegment(record)));
      newer = record.from;
    }
    return newer === older ? way : null;
  }
}

function keyOf({ to, level }: SegmentRecord): string {
  return `${to}.${level}`;
}

function countPages(segments: readonly SegmentReader[]): number {
  return segments.reduce((sum, segment) => sum + segment.index.pages, 0);
}

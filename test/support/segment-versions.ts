/** Versions of one database kept as segments, beside a plain model of them: each version as the array of its pages. */
import { join } from "node:path";
import type { DatabaseId, VersionNumber } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { BASE_LEVEL, type SegmentRecord } from "#engine/catalog/records.ts";
import { lockPageNumber, normalisePage1 } from "#engine/format/sqlite-header.ts";
import type { PageBatch } from "#engine/format/page-batch.ts";
import { systemRandomness } from "#engine/io/clock.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { LocalObjectStore } from "#engine/objects/local-object-store.ts";
import { openChain, type ChainReader } from "#engine/segments/chain-reader.ts";
import { encodeDelta } from "#engine/segments/encode-delta.ts";
import { FrameCache } from "#engine/segments/frame-cache.ts";
import { materialise } from "#engine/segments/materialise.ts";
import type { PageSource } from "#engine/segments/page-source.ts";
import type { SegmentParts } from "#engine/segments/segment-parts.ts";
import { StateSum } from "#engine/segments/state-sum.ts";
import { writeBase, type WrittenVersion } from "#engine/segments/write-base.ts";

/** Pages of a state, page 1 first and normalised. */
export type Pages = readonly Uint8Array[];

export const native = loadNative();

export function makeSegmentParts(folder: string, overrides: Partial<SegmentParts> = {}): SegmentParts {
  const disk = overrides.disk ?? nodeDisk;
  for (const name of ["segments", "tmp"]) nodeDisk.makeDirectory(join(folder, name));
  return {
    disk,
    native,
    randomness: systemRandomness,
    objects: new LocalObjectStore(disk, join(folder, "segments")),
    frames: new FrameCache(LIMITS.pageCacheBytes),
    temporaryFolder: join(folder, "tmp"),
    ...overrides,
  };
}

export class SegmentVersions {
  readonly folder: string;
  readonly parts: SegmentParts;
  readonly records = new Map<number, SegmentRecord>();
  readonly written = new Map<number, WrittenVersion>();
  /** The chain that was stored against last: the next version stands on it. */
  #last: { readonly version: number; readonly chain: ChainReader } | null = null;
  #newest = 0;
  #files = 0;

  constructor(folder: string, parts: SegmentParts = makeSegmentParts(folder)) {
    this.folder = folder;
    this.parts = parts;
  }

  async addBase(source: PageSource): Promise<number> {
    return this.#keep(await writeBase(source, this.parts), null);
  }

  /** Stores `pages` against version `from`; gives every page for a candidate unless told which. Null when nothing changed. */
  async addDelta(from: number, pages: Pages, candidates?: readonly number[]): Promise<number | null> {
    const written = await this.encode(from, pages, candidates);
    return written && this.#keep(written, written.segment.level === BASE_LEVEL ? null : from);
  }

  async encode(from: number, pages: Pages, candidates?: readonly number[]): Promise<WrittenVersion | null> {
    const pageSize = pages[0]?.length ?? 4096;
    const previous = await openChain(this.parts, from as VersionNumber, (to) =>
      this.#last?.version === to ? this.#last.chain : (this.records.get(to) ?? null),
    );
    this.#last = { version: from, chain: previous };
    return encodeDelta(
      {
        previous,
        previousChecksum: this.written.get(from)?.checksum ?? new Uint8Array(16),
        pageSize,
        pageCount: pages.length,
        pages: batchesOf(pages, candidates),
      },
      this.parts,
    );
  }

  chain(version: number): Promise<ChainReader> {
    return openChain(this.parts, version as VersionNumber, (to) => this.records.get(to) ?? null);
  }

  /** Writes a version out and returns the file's path. */
  async writeOut(version: number): Promise<string> {
    this.#files += 1;
    const path = join(this.folder, `v${version}-${this.#files}.db`);
    const checksum = this.written.get(version)?.checksum ?? new Uint8Array(16);
    await materialise(await this.chain(version), { disk: this.parts.disk, native, path, journal: "wal", changeCounter: 7, checksum });
    return path;
  }

  #keep(written: WrittenVersion, from: number | null): number {
    this.#newest += 1;
    this.written.set(this.#newest, written);
    this.records.set(this.#newest, {
      ...written.segment,
      database: 1 as DatabaseId,
      to: this.#newest as VersionNumber,
      from: from as VersionNumber | null,
    });
    return this.#newest;
  }
}

/** Pages at `numbers` (all when left out) in batches of 50, the lock page left out. */
export async function* batchesOf(pages: Pages, numbers: readonly number[] = pages.map((_, index) => index + 1)): AsyncGenerator<PageBatch> {
  const stored = numbers.filter((pageNumber) => pageNumber !== lockPageNumber(pages[0]?.length ?? 4096));
  for (let from = 0; from < stored.length; from += 50) {
    const some = stored.slice(from, from + 50);
    yield { numbers: Uint32Array.from(some), bytes: Buffer.concat(some.map((pageNumber) => pages[pageNumber - 1] ?? new Uint8Array(0))) };
  }
}

export function sourceOf(pages: Pages, pageSize = pages[0]?.length ?? 4096): PageSource {
  return {
    pageSize,
    pageCount: pages.length,
    readPages: (first, buffer) => {
      for (let index = 0; index < buffer.length / pageSize; index += 1)
        buffer.set(pages[first - 1 + index] ?? new Uint8Array(pageSize), index * pageSize);
    },
  };
}

/** The pages of a database file, page 1 normalised. */
export function pagesOfFile(bytes: Uint8Array, pageSize: number): Uint8Array[] {
  const pages = Array.from({ length: bytes.length / pageSize }, (_, index) =>
    Uint8Array.from(bytes.subarray(index * pageSize, (index + 1) * pageSize)),
  );
  if (pages[0]) normalisePage1(pages[0]);
  return pages;
}

/** The state checksum by its definition: over all pages at once. */
export function checksumOf(pages: Pages): Uint8Array {
  const sum = new StateSum(native);
  for (const [index, page] of pages.entries()) {
    if (index + 1 !== lockPageNumber(page.length)) sum.toggle(native.hashPages(page, page.length), [index + 1]);
  }
  return sum.bytes();
}

/** All pages of a chain, read one by one in the given order. */
export function readAll(
  chain: ChainReader,
  order: readonly number[] = Array.from({ length: chain.pageCount }, (_, index) => index + 1),
): Uint8Array[] {
  const pages: Uint8Array[] = [];
  for (const pageNumber of order) {
    const page = new Uint8Array(chain.pageSize);
    chain.readPages(pageNumber, page);
    pages[pageNumber - 1] = page;
  }
  return pages;
}

/** Page numbers at which two states differ; one comparison for a matcher, however large the states. */
export function differencesOf(a: Pages, b: Pages): number[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, index) => index + 1).filter((pageNumber) => {
    const [first, second] = [a[pageNumber - 1], b[pageNumber - 1]];
    return !first || !second || Buffer.compare(first, second) !== 0;
  });
}

/** Reads a version every way there is and compares it with the model: page by page, as a file, checksum, hashes. */
export async function compareVersion(versions: SegmentVersions, version: number, pages: Pages): Promise<string[]> {
  const problems: string[] = [];
  const chain = await versions.chain(version);
  if (chain.pageCount !== pages.length) problems.push(`page count ${chain.pageCount}, not ${pages.length}`);
  const read = differencesOf(readAll(chain), pages);
  if (read.length > 0) problems.push(`pages read wrong: ${read.join(" ")}`);
  const path = await versions.writeOut(version);
  const written = differencesOf(pagesOfFile(nodeDisk.readWhole(path), chain.pageSize), pages);
  nodeDisk.remove(path);
  if (written.length > 0) problems.push(`pages written wrong: ${written.join(" ")}`);
  if (Buffer.compare(versions.written.get(version)?.checksum ?? new Uint8Array(0), checksumOf(pages)) !== 0)
    problems.push("state checksum wrong");
  const hashes = pages.flatMap((page) => [...native.hashPages(page, page.length).subarray(8)]);
  if (Buffer.compare(chain.pageHashes(), Uint8Array.from(hashes)) !== 0) problems.push("page hashes wrong");
  return problems;
}

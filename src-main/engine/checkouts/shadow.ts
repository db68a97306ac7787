/**
 * A shadow is a clone of a checkout as it was when its fingerprint was recorded. It shares every block with the checkout
 * until one of the two is written; then the filesystem puts what is written elsewhere. So the blocks of both files tell
 * which pages may have changed since, at the cost of reading two lists of extents, and comparing those few pages with the
 * shadow tells which did. Where a filesystem shares no blocks there are no shadows.
 *
 * Why it holds:
 * - The shadow is trusted only together with its record (`shadow-files.ts`): the fingerprint must be, letter by letter,
 *   the one that the catalog has for the checkout's content, which also names this boot, and the shadow's file must be the
 *   one that was recorded. The record goes before the shadow is touched, and comes back after.
 * - While a block is shared, a write of either file goes to another block. So the same block is the same bytes, once what
 *   is dirty has been written back and the new blocks are the file's: FIEMAP_FLAG_SYNC waits for both, under SQLite's write
 *   lock (XFS gives the file its new blocks before it ends the writeback; btrfs waits for its ordered extents). The device
 *   need not be flushed for that: what a power cut may lose is not trusted after it. Whatever is not plainly on a block is
 *   compared byte by byte.
 * - A page that the checkout had from its WAL, or from a patch, when the fingerprint was taken is *loose*: the shadow does
 *   not vouch for it, so it counts as changed until the page hashes say otherwise. That makes a patch cost a line in the
 *   record and no sync, and it covers a client's sqliteCheckpoint, which SQLite's write lock does not keep out.
 *
 * A shadow is a cache: when anything about it fails, it is removed, and every page is hashed instead.
 */
import { LIMITS } from "#shared/limits.ts";
import { lockPageNumber, normalisePage1 } from "../format/sqlite-header.ts";
import type { Disk, FileDescriptor } from "../io/disk.ts";
import { EngineError } from "../io/errors.ts";
import { isWorthCloning, sharesBlocks } from "../io/filesystem.ts";
import type { Native } from "../io/native.ts";
import type { KnownContent } from "./checkout-files.ts";
import type { CheckoutView } from "./checkout-view.ts";
import { differingRanges, readExtents, surveyExtents, type ByteRange } from "./extent-ranges.ts";
import type { Fingerprint } from "./fingerprint.ts";
import { readRecord, removeShadow, shadowIdentity, shadowPaths, writeRecord, type ShadowPaths, type ShadowRecord } from "./shadow-files.ts";
import { pagesThatDiffer } from "./view-hashes.ts";

/** When more of the file than this share was written, hashing it once is cheaper than reading two files. */
const COMPARED_SHARE_MAX = 1 / 4;
const COMPARED_BYTES_MIN = 1024 * 1024;
const COMPARED_RANGES_MAX = 4096;
/** A small file of which less is in memory is better not read. */
const HASHED_CACHED_SHARE_MIN = 3 / 4;
/** Loose pages up to this many are simply taken for changed: asking for the hashes of all pages costs more. */
const UNCONFIRMED_MAX = 64;

export interface ShadowContext {
  readonly disk: Disk;
  readonly native: Native;
  /** The folder of shadows, on the checkouts' file system; made when it is needed. Without it there are none. */
  readonly shadows?: string | undefined;
}

/** The shadow of one checkout, while that is held. */
export class Shadow {
  readonly #context: ShadowContext;
  readonly #folder: string;
  readonly #checkout: FileDescriptor;
  readonly #paths: ShadowPaths;
  /** The fingerprint since which the main file has nothing new but `#patched`; null when that is not known. */
  #mainIs: string | null = null;
  #patched: readonly number[] = [];
  /** What `compare` found to lie on other blocks, as long as the main file has not changed since but by a sqliteCheckpoint. */
  #written: readonly ByteRange[] | null = null;

  private constructor(context: ShadowContext, folder: string, checkout: FileDescriptor, paths: ShadowPaths) {
    this.#context = context;
    this.#folder = folder;
    this.#checkout = checkout;
    this.#paths = paths;
  }

  /** Null where there are no shadows. `checkout` stays the caller's. */
  static of(context: ShadowContext, checkout: FileDescriptor): Shadow | null {
    const { shadows } = context;
    if (shadows === undefined) return null;
    const stat = context.disk.statFile(checkout);
    const isPossible = orGiveUp(() => sharesBlocks(context.native, checkout, stat.device));
    return isPossible ? new Shadow(context, shadows, checkout, shadowPaths(shadows, stat)) : null;
  }

  /** The main file was found as `fingerprint` has it, whatever its WAL holds. */
  noteUnchanged(fingerprint: string): void {
    this.#mainIs = fingerprint;
  }

  /** Pages of the main file are about to be replaced by us; what is returned is told which, once they were. */
  beginPatch(): (pages: readonly number[]) => void {
    const mainIs = this.#mainIs;
    this.#mainIs = null;
    this.#written = null;
    return (pages) => {
      this.#mainIs = mainIs;
      this.#patched = [...this.#patched, ...pages];
    };
  }

  /**
   * Pages that differ from the known content, ascending, and possibly a few loose ones that do not; null when the shadow
   * cannot tell. `print` is `known.fingerprint`, taken apart, and of this boot.
   */
  async compare(known: KnownContent, print: Fingerprint, view: CheckoutView): Promise<Uint32Array | null> {
    if (view.pageSize !== known.pageSize || view.pageCount === 0) return null;
    const record = orGiveUp(() => this.#trusted(known.fingerprint));
    if (!record) return null;
    const written = orGiveUp(() => this.#writtenPages(view, print.pageCount));
    if (!written) return null;
    const loose = new Set([...record.loose, ...view.framePages()].filter((page) => page <= print.pageCount && page <= view.pageCount));
    const lockPage = lockPageNumber(view.pageSize);
    loose.delete(lockPage);
    const certain = written.filter((page) => page !== lockPage && !loose.has(page));
    const unsure = Uint32Array.from(loose).toSorted();
    const confirmed =
      unsure.length <= UNCONFIRMED_MAX ? unsure : pagesThatDiffer(this.#context.native, view, unsure, await known.pageHashes());
    // Pages that the file has grown by are not the shadow's, so it must be refreshed for them.
    if (certain.length === 0 && view.pageCount <= print.pageCount) this.#mainIs = known.fingerprint;
    const found = [...certain, ...confirmed];
    for (let page = print.pageCount + 1; page <= view.pageCount; page += 1) if (page !== lockPage) found.push(page);
    return Uint32Array.from(found).toSorted();
  }

  /**
   * Makes the shadow vouch for the checkout as it is, whose fingerprint was just taken; `framePages` are those that its WAL
   * has. `make`: also when there was no shadow. Null, for a file that has no fingerprint, leaves none.
   */
  follow(fingerprint: string | null, framePages: Iterable<number>, make: boolean): void {
    const [mainIs, patched, written] = [this.#mainIs, this.#patched, this.#written];
    this.#patched = [];
    this.#written = null;
    this.#mainIs = fingerprint;
    try {
      if (fingerprint === null || !this.#follow(fingerprint, { mainIs, written, loose: [...patched, ...framePages], make })) this.remove();
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      orGiveUp(() => this.remove());
    }
  }

  remove(): void {
    removeShadow(this.#context.disk, this.#paths);
  }

  /** False: there is to be no shadow. */
  #follow(
    fingerprint: string,
    now: {
      readonly mainIs: string | null;
      readonly written: readonly ByteRange[] | null;
      readonly loose: readonly number[];
      readonly make: boolean;
    },
  ): boolean {
    const { disk } = this.#context;
    const record = this.#trusted(now.mainIs);
    if (record) {
      const loose = Uint32Array.from(new Set([...record.loose, ...now.loose])).toSorted();
      if (record.fingerprint === fingerprint && loose.length === record.loose.length) return true;
      if (loose.length <= LIMITS.shadowLoosePagesMax) {
        writeRecord(disk, this.#paths.known, { ...record, fingerprint, loose });
        return true;
      }
    }
    if (now.loose.length > LIMITS.shadowLoosePagesMax) return false;
    const isThere = disk.stat(this.#paths.shadow) !== null;
    // Of what the shadow held before, nothing needs to be trusted: where the blocks are the same, so are the bytes.
    const isDone = (isThere && this.#refresh(now.written)) || (now.make && this.#make());
    if (!isDone) return false;
    const stat = disk.stat(this.#paths.shadow);
    if (stat === null) return false;
    const loose = Uint32Array.from(new Set(now.loose)).toSorted();
    writeRecord(disk, this.#paths.known, { fingerprint, identity: shadowIdentity(stat), loose });
    return true;
  }

  /** The record, when the shadow is what it was made and vouches for `fingerprint`. */
  #trusted(fingerprint: string | null): ShadowRecord | null {
    if (fingerprint === null) return null;
    const { disk } = this.#context;
    const record = readRecord(disk, this.#paths.known);
    if (record === null || record.fingerprint !== fingerprint) return null;
    const stat = disk.stat(this.#paths.shadow);
    return stat !== null && record.identity === shadowIdentity(stat) ? record : null;
  }

  /** Pages up to `pagesKnown` of the main file whose bytes differ from the shadow's. Null: not to be told, or not cheaply. */
  #writtenPages(view: CheckoutView, pagesKnown: number): number[] | null {
    const { disk, native } = this.#context;
    const { pageSize } = view;
    const bytes = Math.min(pagesKnown, view.pageCount) * pageSize;
    const shadow = disk.open(this.#paths.shadow, "r");
    try {
      const written = this.#differing(shadow, Math.max(bytes, disk.statFile(this.#checkout).size));
      if (written === null || written.length > COMPARED_RANGES_MAX) return null;
      this.#written = written;
      const ranges = written.flatMap(({ start, end }) => (start < bytes ? [{ start, end: Math.min(end, bytes) }] : []));
      if (sumBytes(ranges) > Math.max(bytes * COMPARED_SHARE_MAX, COMPARED_BYTES_MIN)) return null;
      // A clone's pages are not in memory: all are asked for before the first is waited for.
      for (const { start, end } of ranges) native.willRead(shadow, start, end - start);
      const pages = pagesOfRanges(ranges, pageSize).flatMap(({ first, count }) =>
        Array.from(native.compareFilePages(this.#checkout, shadow, first, count, pageSize)),
      );
      return pages[0] === 1 && this.#isSamePage1(view, shadow) ? pages.slice(1) : pages;
    } finally {
      disk.close(shadow);
    }
  }

  /** The stamp of page 1 is no change. */
  #isSamePage1(view: CheckoutView, shadow: FileDescriptor): boolean {
    const [one, two] = [new Uint8Array(view.pageSize), new Uint8Array(view.pageSize)];
    for (const [file, page] of [
      [this.#checkout, one],
      [shadow, two],
    ] as const) {
      this.#context.disk.read(file, page, 0);
      normalisePage1(page);
    }
    return Buffer.compare(one, two) === 0;
  }

  #differing(shadow: FileDescriptor, bytes: number): ByteRange[] | null {
    const { native } = this.#context;
    const [one, two] = [this.#checkout, shadow].map((file) => readExtents(native, file, bytes, LIMITS.shadowExtentsMax, true));
    return one && two ? differingRanges(one, two, bytes) : null;
  }

  /**
   * A first shadow. False where it would cost too much (writing back a file that was just made, very many extents, a small file
   * that is in memory) or would tell nothing (a compressed file).
   */
  #make(): boolean {
    const { disk, native } = this.#context;
    const { size } = disk.statFile(this.#checkout);
    if (this.#isQuicklyHashed(size) || !isWorthCloning(native, this.#checkout, size)) return false;
    const extents = readExtents(native, this.#checkout, size, LIMITS.shadowExtentsMax, false);
    if (extents === null) return false;
    const { delayed, opaque } = surveyExtents(extents);
    if (delayed > LIMITS.shadowDirtyBytesMax || opaque > size * COMPARED_SHARE_MAX) return false;
    disk.makeDirectory(this.#folder);
    removeShadow(disk, this.#paths);
    const shadow = disk.open(this.#paths.shadow, "wx+");
    try {
      return native.cloneFile(this.#checkout, shadow);
    } finally {
      disk.close(shadow);
    }
  }

  /** A small file that is in memory anyway: two lists of extents, and waiting for the disk before them, cost more. */
  #isQuicklyHashed(size: number): boolean {
    if (size > LIMITS.hashedFileBytesMax) return false;
    const cached = this.#context.native.cachedBytes(this.#checkout, 0, size);
    return cached !== null && cached >= size * HASHED_CACHED_SHARE_MIN;
  }

  /** Shares again what the checkout has written since, when that is not most of it: a clone costs more with every extent. */
  #refresh(written: readonly ByteRange[] | null): boolean {
    const { disk, native } = this.#context;
    disk.remove(this.#paths.known);
    const { size } = disk.statFile(this.#checkout);
    const shadow = disk.open(this.#paths.shadow, "r+");
    try {
      const ranges = written ?? this.#differing(shadow, size);
      if (ranges === null || ranges.length > COMPARED_RANGES_MAX || sumBytes(ranges) > size * COMPARED_SHARE_MAX) return false;
      if (disk.statFile(shadow).size !== size) disk.truncate(shadow, size);
      const share = (start: number, end: number): boolean =>
        end <= start || native.cloneRange(this.#checkout, start, shadow, start, end - start);
      return ranges.every(({ start, end }) => share(start, Math.min(end, size)));
    } finally {
      disk.close(shadow);
    }
  }
}

function sumBytes(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** Whole pages that the ranges touch, each once. */
function pagesOfRanges(ranges: readonly ByteRange[], pageSize: number): { first: number; count: number }[] {
  const runs: { first: number; count: number }[] = [];
  let next = 1;
  for (const { start, end } of ranges) {
    const first = Math.max(next, Math.floor(start / pageSize) + 1);
    next = Math.max(next, Math.ceil(end / pageSize) + 1);
    if (next > first) runs.push({ first, count: next - first });
  }
  return runs;
}

function orGiveUp<T>(act: () => T): T | null {
  try {
    return act();
  } catch (error) {
    if (error instanceof EngineError) return null;
    throw error;
  }
}

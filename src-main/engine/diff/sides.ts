/**
 * The two sides of a comparison as readable pages, and which of those pages differ: by chains where both stand on one,
 * else by the hashes of their pages.
 */
import type { DiffSideInput, DiffSideView } from "#shared/diff-views.ts";
import { LIMITS } from "#shared/limits.ts";
import type { DatabaseId, VersionNumber } from "#shared/ids.ts";
import type { Parts } from "../branches/parts.ts";
import { temporaryPath } from "../branches/parts.ts";
import { findBranch, placeName, resolveAt, type Place } from "../branches/resolve.ts";
import { withFile, type HeldFile } from "../branches/working-file.ts";
import { PAGE_HASH_BYTES } from "../format/segment-index.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import { Pace } from "../segments/pace.ts";
import type { PageDonor } from "../segments/pages-ahead.ts";
import type { PageSource, Work } from "../segments/page-source.ts";
import type { ChainReader } from "../segments/chain-reader.ts";
import { removeCopy } from "../transfer/copy-source.ts";
import { FilePages } from "../transfer/file-pages.ts";
import type { PhasedWork } from "../transfer/long-work.ts";
import { recoverCopy } from "../transfer/recover-copy.ts";
import { DatabasePages } from "./database-pages.ts";
import { SavedPages } from "./saved-pages.ts";

export interface OpenedSide {
  readonly view: DiffSideView;
  readonly pages: DatabasePages;
  readonly source: PageSource;
  /** Null for files. */
  readonly stored: Stored | null;
  close(): void;
}

/** A state that stands on a stored version: it is that version, but for the pages in `over`. */
interface Stored {
  readonly database: DatabaseId;
  readonly version: VersionNumber;
  readonly chain: ChainReader;
  readonly over: SavedPages | null;
}

const HASH_CHUNK_BYTES = 4 * 1024 * 1024;
/** Of all pages: beyond this a comparison leaves hardly anything out. */
const SHARED_MIN = 1 / 8;
/** So many pages are looked at in any case, to say what changed. */
const FEW_PAGES = 4096;

/** Errors: those of resolving a name, `checkout-busy`, those of an import for files, `database-corrupt`, `cancelled`. */
export async function openSide(parts: Parts, input: DiffSideInput, work: PhasedWork): Promise<OpenedSide> {
  if (input.kind === "file") return openFile(parts, input.path, work);
  const place = findBranch(parts, input.database, input.branch);
  if (input.kind === "unsaved") return parts.writers.whilePublishing(() => openUnsaved(parts, place));
  const version = resolveAt(parts, place, input.at);
  return openVersion(parts, place, version, input.at === undefined ? placeName(place) : `${placeName(place)}@${input.at}`);
}

/** One version by its number. */
export async function openVersion(
  parts: Parts,
  place: Pick<Place, "database">,
  version: VersionNumber,
  label: string,
): Promise<OpenedSide> {
  const chain = await parts.lineages.reader(place.database.id, version);
  const stored = { database: place.database.id, version, chain, over: null };
  return sideOf({ kind: "state", label, version }, chain, stored, () => {}, donorsOf(parts, place.database, version));
}

/** What the file of a branch holds now: its changed pages are copied while nobody can write, the rest is the version below. */
async function openUnsaved(parts: Parts, place: Place): Promise<OpenedSide> {
  const label = `${placeName(place)} with unsaved work`;
  const side = await withFile(parts, place, "write", undefined, (file) => (file ? readUnsaved(parts, file, label) : Promise.resolve(null)));
  return side ?? openVersion(parts, place, place.branch.head, label);
}

async function readUnsaved(parts: Parts, { place, held, fact }: HeldFile, label: string): Promise<OpenedSide> {
  const chain = await parts.lineages.reader(place.database.id, fact.content);
  const { pageSize, pageCount, batches } = await held.changes({
    fingerprint: fact.fingerprint,
    pageSize: chain.pageSize,
    pageHashes: () => Promise.resolve(chain.pageHashes()),
  });
  // Pages of another size have nothing below them: all of them are in the batches.
  const below = pageSize === chain.pageSize ? chain : null;
  const over = new SavedPages(parts, temporaryPath(parts, "unsaved.pages"), { pageSize, pageCount }, below);
  try {
    for await (const batch of batches) over.add(batch);
    const stored = below && { database: place.database.id, version: fact.content, chain, over };
    const donors = donorsOf(parts, place.database, fact.content);
    return sideOf({ kind: "unsaved", label, version: null }, over, stored, () => over.close(), donors);
  } catch (error) {
    over.close();
    throw error;
  }
}

/** A copy is read, so that the file may be in use and is left as it is. */
async function openFile(parts: Parts, path: string, work: PhasedWork): Promise<OpenedSide> {
  const into = temporaryPath(parts, "compare.db");
  work.phase?.(`Copying ${path}`);
  await parts.copySource({ file: path, into, waitMs: LIMITS.checkoutBusyWaitMs }, work);
  let pages: FilePages | null = null;
  const close = () => {
    pages?.close();
    pages = null;
    removeCopy(parts.disk, into);
  };
  try {
    const { header, pageCount } = recoverCopy(parts.disk, into, path);
    pages = new FilePages(parts.disk, into, { pageSize: header.pageSize, pageCount });
    return sideOf({ kind: "file", label: path, version: null }, pages, null, close);
  } catch (error) {
    close();
    throw error;
  }
}

function sideOf(
  about: Pick<DiffSideView, "kind" | "label" | "version">,
  source: PageSource,
  stored: Stored | null,
  close: () => void,
  findDonors?: () => readonly PageDonor[],
): OpenedSide {
  const pages = new DatabasePages(about.label, source, findDonors);
  const view = { ...about, pageSize: source.pageSize, pageCount: source.pageCount, encoding: pages.header.encoding };
  return { view, pages, source, stored, close };
}

/** Files that are looked at for pages of one version. */
const DONORS_MAX = 2;

/** Checkouts that hold the version, or one near it: they have most of its pages as they are. */
function donorsOf({ catalog, files, paths }: Parts, database: Place["database"], version: VersionNumber): () => readonly PageDonor[] {
  return () =>
    catalog.filesNear(database.id, version, DONORS_MAX).map((branch) => {
      const path = paths.checkout(database.name, branch);
      return { path, read: (numbers, pageSize) => files.readPages(path, numbers, pageSize) };
    });
}

/** Numbers of the pages that differ, those that one side alone has included; null when next to nothing is shared. */
export async function differingPages(parts: Parts, left: OpenedSide, right: OpenedSide, work: Work): Promise<readonly number[] | null> {
  if (left.source.pageSize !== right.source.pageSize) return null;
  const [a, b] = [left.stored, right.stored];
  if (a && b && a.database === b.database) {
    const found = await differingInStore(parts, left, right, a, b);
    // Of a large database, to look what each page is costs as much as to compare them all.
    return found.length > FEW_PAGES && isNextToNothingShared(left, right, found) ? null : found;
  }
  const [hashesA, hashesB] = [await hashesOf(parts, left, work), await hashesOf(parts, right, work)];
  const numbers = compareHashes(hashesA, hashesB, lockPageNumber(left.source.pageSize));
  return isNextToNothingShared(left, right, numbers) ? null : numbers;
}

function isNextToNothingShared(left: OpenedSide, right: OpenedSide, differing: readonly number[]): boolean {
  return differing.length > Math.max(left.source.pageCount, right.source.pageCount) * (1 - SHARED_MIN);
}

/** What sets the versions below apart, and what either side has over its own. */
async function differingInStore(parts: Parts, left: OpenedSide, right: OpenedSide, a: Stored, b: Stored): Promise<number[]> {
  const candidates = new Set(await parts.lineages.differing(a.database, a.version, b.version));
  for (const stored of [a, b]) for (const number of stored.over?.numbers() ?? []) candidates.add(number);
  const [least, most] = [left, right].map(({ source }) => source.pageCount).toSorted((x, y) => x - y);
  for (let number = (least ?? 0) + 1; number <= (most ?? 0); number += 1) candidates.add(number);
  candidates.delete(lockPageNumber(left.source.pageSize));
  return [...candidates].filter((number) => !isSameHash(parts, left, right, number)).toSorted((x, y) => x - y);
}

function isSameHash(parts: Parts, left: OpenedSide, right: OpenedSide, number: number): boolean {
  if (number > left.source.pageCount || number > right.source.pageCount) return false;
  const [a, b] = [hashOf(parts, left, number), hashOf(parts, right, number)];
  return a !== null && b !== null && Buffer.compare(a, b) === 0;
}

function hashOf(parts: Parts, { source, stored }: OpenedSide, number: number): Uint8Array | null {
  if (stored && !stored.over?.has(number)) return stored.chain.pageHash(number);
  const page = new Uint8Array(source.pageSize);
  source.readPages(number, page);
  return parts.native.hashPages(page, source.pageSize).subarray(PAGE_HASH_BYTES, 2 * PAGE_HASH_BYTES);
}

async function hashesOf(parts: Parts, { source, stored, view }: OpenedSide, work: Work): Promise<Uint8Array> {
  if (stored && !stored.over) return stored.chain.pageHashes();
  const hashes = new Uint8Array(source.pageCount * PAGE_HASH_BYTES);
  const pace = new Pace(`Reading ${view.label}`, work, source.pageCount * source.pageSize);
  const pagesMax = HASH_CHUNK_BYTES / source.pageSize;
  for (let first = 1; first <= source.pageCount; first += pagesMax) {
    const bytes = new Uint8Array(Math.min(pagesMax, source.pageCount - first + 1) * source.pageSize);
    source.readPages(first, bytes);
    const found = parts.native.hashPages(bytes, source.pageSize);
    for (let index = 0; index * source.pageSize < bytes.length; index += 1)
      hashes.set(found.subarray(index * 16 + PAGE_HASH_BYTES, (index + 1) * 16), (first - 1 + index) * PAGE_HASH_BYTES);
    await pace.advance(bytes.length);
  }
  return hashes;
}

function compareHashes(a: Uint8Array, b: Uint8Array, lockPage: number): number[] {
  const numbers: number[] = [];
  const pages = Math.max(a.length, b.length) / PAGE_HASH_BYTES;
  for (let number = 1; number <= pages; number += 1) {
    const [from, to] = [(number - 1) * PAGE_HASH_BYTES, number * PAGE_HASH_BYTES];
    const isSame = to <= a.length && to <= b.length && Buffer.compare(a.subarray(from, to), b.subarray(from, to)) === 0;
    if (!isSame && number !== lockPage) numbers.push(number);
  }
  return numbers;
}

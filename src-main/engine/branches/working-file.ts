/**
 * The file of a branch, brought together with what the catalog knows about it. Two questions are answered here and
 * nowhere else: what does the file hold that no version holds (`unsavedWork`), and how does the file come to hold a
 * given version at the lowest cost (`bringFileTo`).
 */
import { dirname } from "node:path";
import { LIMITS } from "#shared/limits.ts";
import type { VersionNumber } from "#shared/ids.ts";
import type { CheckoutFact, NewVersion, VersionRecord } from "../catalog/records.ts";
import type { HeldCheckout, PageBatch } from "../checkouts/checkout-files.ts";
import { assert } from "#shared/assert.ts";
import { EngineError, withUntouched } from "../io/errors.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import { reach } from "../io/faults.ts";
import { encodeDelta } from "../segments/encode-delta.ts";
import { materialise } from "../segments/materialise.ts";
import type { ChainReader } from "../segments/chain-reader.ts";
import type { Work } from "../segments/page-source.ts";
import { cloneOfNeighbour, isMostlyShared } from "./neighbour.ts";
import { discardVersions } from "./operation.ts";
import { temporaryPath, type Parts } from "./parts.ts";
import { placeName, type Place } from "./resolve.ts";

/** Pages that go to a held file at a time: few messages, bounded memory. */
const PATCH_BATCH_BYTES = 4 * 1024 * 1024;
/** Less than a batch: page 1 comes on top. */
const DECODED_PATCH_BYTES_MAX = 1024 * 1024;

/** How the file's state came about: shown to users. */
export type FileChange = "none" | "already current" | Patched | Made | `${Made}, ${Patched}`;
type Patched = `patched ${number} page${"" | "s"}`;
type Made = "rebuilt" | "cloned" | "copied" | "from the warm pool" | "cloned from the warm pool";

/** A branch's file under lock, and the fact it was held with. */
export interface HeldFile {
  readonly place: Place;
  readonly held: HeldCheckout;
  readonly fact: CheckoutFact;
}

/** Holds the branch's file; null when there is none. Throws `checkout-busy`. */
export async function holdFile(
  parts: Parts,
  place: Place,
  mode: "write" | "exclusive",
  waitMs: number = LIMITS.checkoutBusyWaitMs,
): Promise<HeldFile | null> {
  const fact = parts.catalog.fact(place.branch.id);
  const path = parts.paths.checkout(place.database.name, place.branch.name);
  if (!fact || parts.files.check(path, null) === "missing") return null;
  try {
    const { pageSize } = versionOf(parts, place, fact.content);
    const held = await parts.files.hold(path, mode, waitMs, { fingerprint: fact.fingerprint, pageSize });
    return { place, held, fact: await settleFact(parts, { place, held, fact }) };
  } catch (error) {
    throw withUntouched(error, `${placeName(place)} and its file are unchanged.`);
  }
}

/**
 * A process that died while it brought the file to a moved head left the old content or all of the new one. Where the
 * new one is there, it is no unsaved work: the fact that could not be recorded is recorded now.
 */
async function settleFact(parts: Parts, file: HeldFile): Promise<CheckoutFact> {
  const { place, held, fact } = file;
  if (fact.base === place.branch.head) return fact;
  try {
    if (!(await holdsBeyond(parts, file, fact.content))) return fact;
    for (const target of interruptedTargets(parts, place)) {
      if (await holdsBeyond(parts, file, target.content)) continue;
      const settled = { ...target, fingerprint: await held.fingerprint() };
      parts.catalog.setFact(place.branch.id, settled);
      return settled;
    }
    return fact;
  } catch (error) {
    await held.release();
    throw error;
  }
}

async function holdsBeyond(parts: Parts, file: HeldFile, version: VersionNumber): Promise<boolean> {
  const found = await unsavedWork(parts, file, version, { kind: "autosave", message: null, meta: {} });
  if (found) await discardVersions(parts, [found]);
  return found !== null;
}

/** The head, and the unsaved work that the last operation gave back on top of it. */
function interruptedTargets(parts: Parts, place: Place): Pick<CheckoutFact, "base" | "content">[] {
  const head = place.branch.head;
  const [last] = parts.catalog.operations.page({ branch: place.branch.id }, null, 1);
  const reversed = last?.reverses == null ? null : parts.catalog.operations.byId(last.reverses);
  const givenBack = reversed?.autosave?.base === head ? [{ base: head, content: reversed.autosave.version }] : [];
  return [{ base: head, content: head }, ...givenBack];
}

/** True when a file that no fact is about holds exactly the head: it was put there just before its process died. */
export async function adoptFile(parts: Parts, place: Place): Promise<boolean> {
  const head = place.branch.head;
  const path = parts.paths.checkout(place.database.name, place.branch.name);
  let held: HeldCheckout | null = null;
  try {
    held = await parts.files.hold(path, "write", LIMITS.checkoutBusyWaitMs);
    const file = { place, held, fact: { base: head, content: head, fingerprint: null } };
    if (await holdsBeyond(parts, file, head)) return false;
    parts.catalog.setFact(place.branch.id, { base: head, content: head, fingerprint: await held.fingerprint() });
    return true;
  } catch (error) {
    if (error instanceof EngineError && error.code === "checkout-corrupt") return false;
    throw error;
  } finally {
    await held?.release();
  }
}

export async function withFile<T>(
  parts: Parts,
  place: Place,
  mode: "write" | "exclusive",
  waitMs: number | undefined,
  act: (file: HeldFile | null) => Promise<T>,
): Promise<T> {
  const file = await holdFile(parts, place, mode, waitMs);
  try {
    return await act(file);
  } finally {
    await file?.held.release();
  }
}

/**
 * What the file holds beyond `parent`, encoded as a new version ready to be part of an operation; null when it equals
 * `parent`. The lock must be kept until the version is committed together with the fact that names it.
 */
export async function unsavedWork(
  parts: Parts,
  file: HeldFile,
  parent: VersionNumber,
  label: Pick<NewVersion, "kind" | "message" | "meta">,
): Promise<NewVersion | null> {
  const { place, held, fact } = file;
  const database = place.database.id;
  const content = await parts.lineages.reader(database, fact.content);
  const changes = await held.changes({
    fingerprint: fact.fingerprint,
    pageSize: content.pageSize,
    pageHashes: () => Promise.resolve(content.pageHashes()),
  });
  if (changes.candidates === 0 && changes.pageCount === content.pageCount && fact.content === parent) return null;
  const previous = await parts.lineages.reader(database, parent);
  // After an undo the file holds a version other than the parent: what sets those two apart is unsaved work as well.
  const apart = changes.pageSize === content.pageSize ? await pagesApart(parts, file, previous, parent) : [];
  const between = apart.filter((number) => number <= changes.pageCount && number <= content.pageCount);
  const pages = mergePages(changes.batches, between, content);
  const delta = await encodeDelta(
    {
      pageSize: changes.pageSize,
      pageCount: changes.pageCount,
      pages,
      previous,
      previousChecksum: versionOf(parts, place, parent).checksum,
    },
    parts.segments,
  ).catch((error: unknown) => {
    throw withUntouched(error, `${placeName(place)} and its file are unchanged.`);
  });
  reach("checkpoint:captured");
  if (delta === null) return null;
  return { ...label, ...delta, parent, branch: place.branch.id };
}

/** Pages of what the file was last known to hold that are not the parent's: all, when those have another size. */
async function pagesApart(parts: Parts, { place, fact }: HeldFile, previous: ChainReader, parent: VersionNumber): Promise<number[]> {
  const database = place.database.id;
  const { pageSize, pageCount } = await parts.lineages.reader(database, fact.content);
  if (pageSize === previous.pageSize) return Array.from(await parts.lineages.differing(database, parent, fact.content));
  return Array.from({ length: pageCount }, (_, index) => index + 1).filter((number) => number !== lockPageNumber(pageSize));
}

/** Pages of `batches` and, where those have none, of `source` at `numbers`: ascending, as the encoder wants them. */
async function* mergePages(batches: AsyncIterable<PageBatch>, numbers: readonly number[], source: ChainReader): AsyncIterable<PageBatch> {
  let next = 0;
  const takeBelow = (limit: number): number[] => {
    const start = next;
    while (next < numbers.length && (numbers[next] ?? 0) < limit) next += 1;
    return numbers.slice(start, next);
  };
  for await (const batch of batches) {
    const own = new Set(batch.numbers);
    const missing = takeBelow((batch.numbers.at(-1) ?? 0) + 1).filter((number) => !own.has(number));
    yield missing.length === 0 ? batch : joinBatches(batch, readBatch(source, missing), source.pageSize);
  }
  for (const rest of chunksOf(numbers.slice(next), LIMITS.framePagesMax)) yield readBatch(source, rest);
}

function joinBatches(a: PageBatch, b: PageBatch, pageSize: number): PageBatch {
  const entries = [a, b].flatMap((batch) =>
    Array.from(batch.numbers, (number, index) => ({ number, page: batch.bytes.subarray(index * pageSize, (index + 1) * pageSize) })),
  );
  entries.sort((x, y) => x.number - y.number);
  const bytes = new Uint8Array(entries.length * pageSize);
  for (const [index, { page }] of entries.entries()) bytes.set(page, index * pageSize);
  return { numbers: Uint32Array.from(entries, ({ number }) => number), bytes };
}

function* chunksOf<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let index = 0; index < items.length; index += size) yield items.slice(index, index + size);
}

function readBatch(source: ChainReader, wanted: readonly number[]): PageBatch {
  const numbers = Uint32Array.from(wanted);
  const bytes = new Uint8Array(numbers.length * source.pageSize);
  source.readScattered(numbers, bytes);
  return { numbers, bytes };
}

async function* oneBatch(batch: PageBatch): AsyncIterable<PageBatch> {
  yield batch;
}

/** Every page that two versions do not share, as `source` (one of the two) has it; page 1 always, for its stamp. */
async function* pagesOf(source: ChainReader, numbers: Uint32Array): AsyncIterable<PageBatch> {
  const wanted = [1, ...Array.from(numbers).filter((number) => number > 1 && number <= source.pageCount)];
  for (const chunk of chunksOf(wanted, PATCH_BATCH_BYTES / source.pageSize)) yield readBatch(source, chunk);
}

/** Pages that turn a file of one version into one of another, decoded beforehand. */
export interface DecodedPatch {
  readonly from: VersionNumber;
  readonly to: VersionNumber;
  readonly differing: number;
  readonly batch: PageBatch;
}

/** Null where no patch is due, or it is too large to be kept. */
export async function decodePatch(parts: Parts, place: Place, from: VersionNumber, to: VersionNumber): Promise<DecodedPatch | null> {
  const version = versionOf(parts, place, to);
  if (from === to || versionOf(parts, place, from).pageSize !== version.pageSize) return null;
  const differing = await parts.lineages.differing(place.database.id, from, to);
  if (!isMostlyShared(version, differing) || differing.length * version.pageSize > DECODED_PATCH_BYTES_MAX) return null;
  const reader = await parts.lineages.reader(place.database.id, to);
  for await (const batch of pagesOf(reader, differing)) return { from, to, differing: differing.length, batch };
  return null;
}

/**
 * Makes the held file hold `version`. Its unsaved work must be saved before; `content` is what it holds then. The new
 * fact is recorded with `base`.
 */
export async function bringFileTo(
  parts: Parts,
  file: HeldFile,
  target: { readonly content: VersionNumber; readonly version: VersionNumber; readonly base: VersionNumber },
  work: Work = {},
  decoded: DecodedPatch | null = null,
): Promise<FileChange> {
  const { place, held } = file;
  const database = place.database.id;
  const record = (fingerprint: string | null) =>
    parts.catalog.setFact(place.branch.id, { base: target.base, content: target.version, fingerprint });
  if (target.content === target.version) {
    record(await held.fingerprint());
    return "already current";
  }
  const from = versionOf(parts, place, target.content);
  const to = versionOf(parts, place, target.version);
  if (decoded?.from === from.number && decoded.to === to.number) {
    record(await held.patch({ pageSize: to.pageSize, pageCount: to.pageCount, batches: oneBatch(decoded.batch) }));
    return patched(decoded.differing);
  }
  const differing = from.pageSize === to.pageSize ? await parts.lineages.differing(database, from.number, to.number) : null;
  if (differing && isMostlyShared(to, differing)) {
    const reader = await parts.lineages.reader(database, to.number);
    record(await held.patch({ pageSize: to.pageSize, pageCount: to.pageCount, batches: pagesOf(reader, differing) }));
    return patched(differing.length);
  }
  const { path, change } = await buildFile(parts, place, to, work);
  record(await held.swap(path));
  return change;
}

/**
 * Takes away the file of a branch that goes to the trash. What it holds is stored as `content`, so that the next branch that
 * asks for a file can have this one: it is patched then, which costs a fraction of a copy.
 */
export async function retireFile(parts: Parts, { place, held }: HeldFile, content: VersionNumber): Promise<void> {
  const version = versionOf(parts, place, content);
  if (!parts.pool.wants(version)) return held.remove();
  const path = temporaryPath(parts, "retired.db");
  if (!(await held.retire(path))) return;
  // The lock goes with the hold, and whoever takes the file must not meet it.
  await held.release();
  parts.pool.recycle(version, path);
}

/** Makes a file for a branch that has none. Throws `file-exists` when something unknown lies in its place. */
export async function placeFile(
  parts: Parts,
  place: Place,
  target: { readonly version: VersionNumber; readonly base: VersionNumber },
  work: Work = {},
): Promise<FileChange> {
  const path = parts.paths.checkout(place.database.name, place.branch.name);
  const version = versionOf(parts, place, target.version);
  const built = await buildFile(parts, place, version, work);
  parts.disk.makeDirectory(dirname(path));
  const fingerprint = await parts.files.place(built.path, path);
  parts.catalog.setFact(place.branch.id, { base: target.base, content: target.version, fingerprint });
  parts.pool.noteMade(version);
  return built.change;
}

interface BuiltFile {
  readonly path: string;
  readonly change: FileChange;
}

/** A finished file of one version under `tmp/`. Files that are only kept ready give way to it. */
async function buildFile(parts: Parts, place: Place, version: VersionRecord, work: Work): Promise<BuiltFile> {
  try {
    return await makeFile(parts, place, version, work).catch((error: unknown) => {
      if (error instanceof EngineError && error.code === "disk-full" && parts.pool.clear() > 0)
        return makeFile(parts, place, version, work);
      throw error;
    });
  } catch (error) {
    throw withUntouched(error, `${placeName(place)} is unchanged.`);
  }
}

/** Cheapest way first. */
async function makeFile(parts: Parts, place: Place, version: VersionRecord, work: Work): Promise<BuiltFile> {
  const path = temporaryPath(parts, "checkout.db");
  const taken = await parts.pool.take(version, path);
  if (taken) return { path, change: describe(taken.how === "cloned" ? "cloned from the warm pool" : "from the warm pool", taken.patched) };
  const made = await cloneOfNeighbour(parts, place, version, path, work);
  if (made) return { path, change: describe(made.how, made.patched) };
  await materialise(
    await parts.lineages.reader(place.database.id, version.number),
    { disk: parts.disk, native: parts.native, path, journal: "wal", changeCounter: parts.clock.now() >>> 0, checksum: version.checksum },
    work,
  );
  reach("materialise:written");
  return { path, change: "rebuilt" };
}

function describe(made: Made, pages: number): FileChange {
  return pages === 0 ? made : `${made}, ${patched(pages)}`;
}

function patched(pages: number): Patched {
  return `patched ${pages} page${pages === 1 ? "" : "s"}`;
}

export function versionOf(parts: Parts, place: Place, number: VersionNumber): VersionRecord {
  const version = parts.catalog.versions.byNumber(place.database.id, number);
  assert(version, `version v${number} of ${place.database.name} is in the catalog`);
  return version;
}

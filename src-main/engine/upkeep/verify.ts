/**
 * The full audit: everything the store claims is recomputed. Each stored page is decoded once and compared with its
 * hash, each version's state checksum is derived anew from its parent's, each ref must lead somewhere, and each file in
 * the store's folders must belong to something. Reads only; changes nothing.
 */
import { join } from "node:path";
import type { VerifyProblem, VerifyReport } from "#shared/views.ts";
import type { DatabaseRecord, VersionRecord } from "../catalog/records.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import { EngineError } from "../io/errors.ts";
import type { PhasedWork } from "../transfer/long-work.ts";
import { breathe } from "../transfer/long-work.ts";
import { checkIntegrity } from "../catalog/integrity.ts";
import { partName } from "../segments/segment-parts.ts";
import { StateSum } from "../segments/state-sum.ts";
import type { ChainReader } from "../segments/chain-reader.ts";
import type { Parts } from "../branches/parts.ts";

interface Tally {
  versions: number;
  segments: number;
  pages: number;
  bytesRead: number;
  checkouts: number;
}

export async function verify(parts: Parts, work: PhasedWork = {}): Promise<VerifyReport> {
  const problems: VerifyProblem[] = [];
  const tally: Tally = { versions: 0, segments: 0, pages: 0, bytesRead: 0, checkouts: 0 };
  work.phase?.("Checking the catalog");
  for (const problem of checkIntegrity(parts.catalog)) problems.push(problem);
  work.phase?.("Checking versions");
  for (const database of [...parts.catalog.databases.live(), ...parts.catalog.databases.trashed()])
    await verifyDatabase(parts, database, tally, problems, work);
  work.phase?.("Checking files");
  await verifyObjects(parts, problems);
  verifyCheckouts(parts, tally, problems);
  return { ok: problems.length === 0, ...tally, problems };
}

/** Versions in order of number, so that a parent comes before its children. */
async function verifyDatabase(
  parts: Parts,
  database: DatabaseRecord,
  tally: Tally,
  problems: VerifyProblem[],
  work: PhasedWork,
): Promise<void> {
  const total = parts.catalog.versions.count(database.id);
  for (const version of parts.catalog.versions.page(database.id, 0, total)) {
    await breathe(work);
    work.progress?.(tally.versions, total);
    tally.versions += 1;
    try {
      await verifyVersion(parts, database, version, tally);
    } catch (error) {
      if (!(error instanceof EngineError) || error.code === "cancelled") throw error;
      problems.push({ object: `${database.name} v${version.number}`, problem: error.message });
    }
  }
}

async function verifyVersion(parts: Parts, database: DatabaseRecord, version: VersionRecord, tally: Tally): Promise<void> {
  const chain = await parts.lineages.reader(database.id, version.number);
  if (chain.pageSize !== version.pageSize || chain.pageCount !== version.pageCount)
    throw new EngineError(
      "segment-corrupt",
      `its segment describes ${chain.pageCount} pages of ${chain.pageSize} bytes, its record ${version.pageCount} of ${version.pageSize}`,
    );
  const [newest] = chain.segments;
  if (!newest || newest.record.to !== version.number) return;
  tally.segments += 1;
  tally.pages += newest.index.pages;
  tally.bytesRead += newest.record.bytes;
  const found = newest.record.from === null ? wholeChecksum(parts, chain) : await derivedChecksum(parts, database, chain);
  if (Buffer.compare(found, version.checksum) !== 0)
    throw new EngineError("segment-corrupt", `its state checksum is ${hex(found)}, recorded is ${hex(version.checksum)}`);
}

/** Of all pages, in runs of bounded size. */
function wholeChecksum(parts: Parts, chain: ChainReader): Uint8Array {
  const sum = new StateSum(parts.native);
  togglePages(parts, sum, chain, 1, chain.pageCount);
  return sum.bytes();
}

/** The parent's checksum, less what its changed and dropped pages were, plus what they are. */
async function derivedChecksum(parts: Parts, database: DatabaseRecord, chain: ChainReader): Promise<Uint8Array> {
  const [newest] = chain.segments;
  const from = newest?.record.from ?? null;
  const parent = from === null ? null : parts.catalog.versions.byNumber(database.id, from);
  if (!newest || !parent) throw new EngineError("segment-missing", `its parent v${from} is not in the catalog`);
  const before = await parts.lineages.reader(database.id, parent.number);
  const sum = new StateSum(parts.native, parent.checksum);
  for (let ordinal = 0; ordinal < newest.index.pages; ordinal += 1) {
    const page = newest.pageNumberAt(ordinal);
    if (page <= before.pageCount) togglePages(parts, sum, before, page, page);
    togglePages(parts, sum, chain, page, page);
  }
  togglePages(parts, sum, before, chain.pageCount + 1, before.pageCount);
  return sum.bytes();
}

const RUN_BYTES = 1024 * 1024;

/** Pages `first` to `last` but the lock page, which has no content. */
function togglePages(parts: Parts, sum: StateSum, chain: ChainReader, first: number, last: number): void {
  const lockPage = lockPageNumber(chain.pageSize);
  const perRun = Math.max(1, RUN_BYTES / chain.pageSize);
  for (let page = first; page <= last; page += perRun) {
    const numbers = Uint32Array.from({ length: Math.min(perRun, last - page + 1) }, (_, index) => page + index).filter(
      (number) => number !== lockPage,
    );
    if (numbers.length === 0) continue;
    const bytes = new Uint8Array(numbers.length * chain.pageSize);
    chain.readScattered(numbers, bytes);
    sum.toggle(parts.native.hashPages(bytes, chain.pageSize), numbers);
  }
}

async function verifyObjects(parts: Parts, problems: VerifyProblem[]): Promise<void> {
  const known = new Set<string>();
  for (const [file, count] of parts.catalog.versions.files()) for (let part = 0; part < count; part += 1) known.add(partName(file, part));
  const present = new Map((await parts.segments.objects.list()).map((entry) => [entry.name, entry.size]));
  for (const name of known) if (!present.has(name)) problems.push({ object: `segments/${name}`, problem: "the file is missing" });
  for (const name of present.keys())
    if (!known.has(name)) problems.push({ object: `segments/${name}`, problem: "no version refers to this file: gc removes it" });
}

function verifyCheckouts(parts: Parts, tally: Tally, problems: VerifyProblem[]): void {
  for (const { branch, fact } of parts.catalog.facts()) {
    const record = parts.catalog.branches.byId(branch);
    const database = record && parts.catalog.databases.byId(record.database);
    if (!record || !database) {
      problems.push({ object: `checkout of branch ${branch}`, problem: "its branch is not in the catalog" });
      continue;
    }
    if (parts.files.check(parts.paths.checkout(database.name, record.name), null) !== "missing") tally.checkouts += 1;
    for (const number of [fact.base, fact.content])
      if (!parts.catalog.versions.byNumber(database.id, number))
        problems.push({
          object: join("checkouts", database.name, `${record.name}.db`),
          problem: `it is recorded to hold v${number}, which is not in the catalog`,
        });
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

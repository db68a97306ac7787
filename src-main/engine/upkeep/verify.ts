/**
 * The full audit: everything the store claims is recomputed. Each stored page is decoded once and compared with its
 * hash, each version's state checksum is derived anew from its parent's, each ref must lead somewhere, and each file in
 * the store's folders must belong to something. Reads only; changes nothing.
 */
import { join } from "node:path";
import { LIMITS } from "#shared/limits.ts";
import type { VerifyProblem, VerifyReport } from "#shared/views.ts";
import type { DatabaseRecord } from "../catalog/records.ts";
import type { PhasedWork } from "../transfer/long-work.ts";
import { breathe } from "../transfer/long-work.ts";
import { checkIntegrity } from "../catalog/integrity.ts";
import { partName } from "../segments/segment-parts.ts";
import type { Parts } from "../branches/parts.ts";
import { SegmentVerifier, type SegmentTally } from "./verify-segments.ts";

interface Tally extends SegmentTally {
  versions: number;
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

const VERSIONS_A_PAGE = 1_000;

/** Versions in order of number, so that a parent comes before its children. */
async function verifyDatabase(
  parts: Parts,
  database: DatabaseRecord,
  tally: Tally,
  problems: VerifyProblem[],
  work: PhasedWork,
): Promise<void> {
  let sliceStart = performance.now();
  const advance = async (): Promise<void> => {
    if (performance.now() - sliceStart < LIMITS.mergeSliceMs) return;
    await breathe(work);
    sliceStart = performance.now();
  };
  const verifier = new SegmentVerifier(parts, database, tally, advance);
  const total = parts.catalog.versions.count(database.id);
  let done = 0;
  for (let after = 0; ;) {
    const page = parts.catalog.versions.page(database.id, after, VERSIONS_A_PAGE);
    for (const version of page) {
      await advance();
      work.progress?.(done, total);
      tally.versions += 1;
      done += 1;
      for (const problem of await verifier.verify(version)) problems.push({ object: `${database.name} v${version.number}`, problem });
    }
    if (page.length < VERSIONS_A_PAGE) return;
    after = page.at(-1)?.number ?? after;
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

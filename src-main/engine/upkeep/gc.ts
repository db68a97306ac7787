/**
 * Garbage collection: the trash whose time has come is purged, versions that nothing needs go, then the files that
 * nothing names any more. Rows first, in one operation; files after it has committed, so that a crash leaves orphans
 * for the next run and never a version without its segment. The catalog gives its empty pages back in the same call.
 */
import type { RequestInput } from "#shared/contract.ts";
import { LIMITS } from "#shared/limits.ts";
import type { GcReport } from "#shared/views.ts";
import { commit } from "../branches/operation.ts";
import type { Parts } from "../branches/parts.ts";
import type { Place } from "../branches/resolve.ts";
import { saveTrashedWork } from "../branches/trash.ts";
import { holdFile, type HeldFile } from "../branches/working-file.ts";
import { planGarbage, type GarbagePlan } from "../catalog/garbage.ts";
import type { BranchRecord, DatabaseRecord } from "../catalog/records.ts";
import { removeOrphanShadows } from "../checkouts/shadow-files.ts";
import { EngineError } from "../io/errors.ts";
import { reach } from "../io/faults.ts";
import { partName } from "../segments/segment-parts.ts";
import { breathe, type PhasedWork } from "../transfer/long-work.ts";
import { purgeTime } from "./clock-guard.ts";
import { removeDamagedSegments } from "./damaged-segments.ts";

const ATTEMPTS_MAX = 20;

export interface DueTrash {
  readonly branches: readonly BranchRecord[];
  readonly databases: readonly DatabaseRecord[];
}

/** With the names of all, which the catalog forgets. */
type NamedTrash = DueTrash & { readonly names: readonly string[] };

/**
 * `purgeAllTrash` does not wait for purge dates, nor do those that `purge` names. A dry run says exactly what would be freed
 * and changes nothing. Errors: `checkout-busy` (a trashed branch's file is still in use), `store-busy`, `store-read-only`,
 * `branch-not-found` and `database-not-found` (named, but not in the trash); nothing is deleted then.
 */
export async function gc(parts: Parts, input: RequestInput<"store.gc">, work: PhasedWork = {}): Promise<GcReport> {
  if (!input.dryRun) await removeDamagedSegments(parts, work);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await collect(parts, input, work);
    } catch (error) {
      // A plan is for one state of the catalog, and others go on forking meanwhile.
      if (!(error instanceof EngineError && error.code === "stale-precondition") || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

async function collect(parts: Parts, input: RequestInput<"store.gc">, work: PhasedWork): Promise<GcReport> {
  const due = withNames(parts, dueTrash(parts, input));
  const makePlan = (): GarbagePlan => planGarbage(parts.catalog, { now: purgeTime(parts), undoWindowMs: LIMITS.undoWindowMs, ...due });
  if (input.dryRun) {
    const plan = makePlan();
    return report(parts, due, plan, await orphans(parts, plan), catalogSlack(plan), true);
  }
  const files: HeldFile[] = [];
  try {
    // Held from before their work is saved until they are gone, so that nobody writes to them in between.
    for (const place of trashedPlaces(parts, due)) await holdTrashedFile(parts, place, files);
    return await parts.writers.whileAlone(async () => {
      await breathe(work);
      const before = await storeBytes(parts);
      const plan = makePlan();
      if (!plan.empty) await commit(parts, "purge", null, { moves: [], purge: plan.purge });
      reach("gc:committed");
      const removed = await removeFiles(parts, files);
      parts.catalog.shrink();
      parts.lineages.forget();
      return report(parts, due, plan, removed, before - (await storeBytes(parts)), false);
    });
  } finally {
    for (const { held } of files) await held.release();
  }
}

/** An expired branch kept its file: what only the file holds becomes a version before anything is removed. */
async function holdTrashedFile(parts: Parts, place: Place, files: HeldFile[]): Promise<void> {
  const file = await holdFile(parts, place, "exclusive");
  if (!file) return;
  files.push(file);
  await parts.writers.whilePublishing(() => saveTrashedWork(parts, file));
}

/** What a purge takes now: trash whose date has come, and what is named. Errors: `branch-not-found`, `database-not-found`. */
export function dueTrash(parts: Parts, { purgeAllTrash, purge = [] }: Pick<RequestInput<"store.gc">, "purgeAllTrash" | "purge">): DueTrash {
  const { branches, databases } = parts.catalog;
  if (purgeAllTrash) return { branches: branches.trashed(), databases: databases.trashed() };
  const now = purgeTime(parts);
  const due = { branches: branches.duePurges(now), databases: databases.duePurges(now) };
  if (purge.length === 0) return due;
  const idsOf = (wanted: "branch" | "database"): number[] => purge.flatMap(({ kind, id }) => (kind === wanted ? [id] : []));
  return {
    branches: withNamed("branch", due.branches, branches.trashed(), idsOf("branch")),
    databases: withNamed("database", due.databases, databases.trashed(), idsOf("database")),
  };
}

function withNamed<T extends { readonly id: number }>(
  kind: "branch" | "database",
  due: readonly T[],
  trash: readonly T[],
  ids: readonly number[],
): T[] {
  const trashed = new Map(trash.map((record) => [record.id, record]));
  const found = new Map(due.map((record) => [record.id, record]));
  for (const id of ids) {
    const record = trashed.get(id);
    if (!record)
      throw new EngineError(`${kind}-not-found`, `Purge: the trash holds no ${kind} with the id ${id} any more`, {
        hint: "It may have been restored or purged meanwhile: look at the trash again",
        untouched: "Nothing was deleted.",
      });
    found.set(id, record);
  }
  return [...found.values()];
}

function withNames(parts: Parts, due: DueTrash): NamedTrash {
  const names = [
    ...due.databases.map(({ name }) => name),
    ...due.branches.map((branch) => `${parts.catalog.databases.nameOf(branch.database) ?? ""}@${branch.name}`),
  ];
  return { ...due, names };
}

/** Places of files that go with the trash; a live branch that took the name has the file now. */
function trashedPlaces(parts: Parts, due: DueTrash): Place[] {
  const wanted = new Set<number>(due.branches.map((branch) => branch.id));
  const databases = new Set<number>(due.databases.map((database) => database.id));
  return parts.catalog.facts().flatMap(({ branch: id }) => {
    const branch = parts.catalog.branches.byId(id);
    const database = branch && parts.catalog.databases.byId(branch.database);
    if (!branch || !database || !(wanted.has(id) || databases.has(database.id))) return [];
    return parts.catalog.branches.byName(database.id, branch.name) ? [] : [{ database, branch }];
  });
}

interface RemovedFiles {
  readonly checkouts: number;
  readonly segments: number;
  readonly bytes: number;
}

async function removeFiles(parts: Parts, files: readonly HeldFile[]): Promise<RemovedFiles> {
  for (const { held } of files) {
    await held.remove();
    reach("gc:file-removed");
  }
  removeOrphanShadows(parts.disk, parts.paths.shadows, checkoutPaths(parts));
  let segments = 0;
  let bytes = 0;
  for (const { name, size } of await unnamedObjects(parts, new Set())) {
    await parts.segments.objects.remove(name);
    reach("gc:file-removed");
    segments += 1;
    bytes += size;
  }
  return { checkouts: files.length, segments, bytes };
}

/** Of every branch that may have a file. */
function* checkoutPaths(parts: Parts): Iterable<string> {
  for (const { branch: id } of parts.catalog.facts()) {
    const branch = parts.catalog.branches.byId(id);
    const database = branch && parts.catalog.databases.byId(branch.database);
    if (branch && database) yield parts.paths.checkout(database.name, branch.name);
  }
}

/** Segment files that no version names, once `going` have gone. */
async function unnamedObjects(parts: Parts, going: ReadonlySet<string>): Promise<{ name: string; size: number }[]> {
  const named = new Set<string>();
  for (const [file, count] of parts.catalog.versions.files()) for (let part = 0; part < count; part += 1) named.add(partName(file, part));
  return (await parts.segments.objects.list()).filter(({ name }) => !named.has(name) || going.has(name));
}

async function orphans(parts: Parts, plan: GarbagePlan): Promise<RemovedFiles> {
  const going = new Set(
    plan.segments.flatMap(({ file, parts: count }) =>
      file === null ? [] : Array.from({ length: count }, (_, part) => partName(file, part)),
    ),
  );
  const objects = await unnamedObjects(parts, going);
  return { checkouts: 0, segments: objects.length, bytes: objects.reduce((sum, { size }) => sum + size, 0) };
}

/** What the catalog itself gives back: about its inline segments. */
function catalogSlack(plan: GarbagePlan): number {
  return plan.segments.reduce((sum, { inline }) => sum + (inline?.length ?? 0), 0);
}

/** Segment files and catalog: what gc can make smaller. */
async function storeBytes(parts: Parts): Promise<number> {
  const objects = await parts.segments.objects.list();
  return objects.reduce((sum, { size }) => sum + size, parts.disk.stat(parts.paths.catalog)?.size ?? 0);
}

function report(parts: Parts, due: NamedTrash, plan: GarbagePlan, files: RemovedFiles, bytes: number, dryRun: boolean): GcReport {
  const fileSegments = plan.segments.reduce((sum, segment) => sum + segment.parts, 0);
  return {
    dryRun,
    purged: due.names,
    versionsRemoved: plan.purge.versions.reduce((sum, { numbers }) => sum + numbers.length, 0),
    segmentsRemoved: plan.segments.length,
    checkoutsRemoved: dryRun
      ? trashedPlaces(parts, due).filter((place) => parts.disk.stat(parts.paths.checkout(place.database.name, place.branch.name))).length
      : files.checkouts,
    orphanFilesRemoved: Math.max(0, files.segments - fileSegments),
    // The operation log grows by the purge itself.
    bytesFreed: dryRun ? files.bytes + bytes : Math.max(0, bytes),
    strandedOperations: plan.purge.strands,
  };
}

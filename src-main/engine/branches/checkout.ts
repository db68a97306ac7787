/** Making the file of a branch, or a read-only file of a version, ready to be opened. */
import { dirname, join } from "node:path";
import type { RequestInput, RequestOutput } from "#shared/contract.ts";
import { LIMITS } from "#shared/limits.ts";
import type { CheckoutFact, VersionRecord } from "../catalog/records.ts";
import { sidePaths } from "../checkouts/side-files.ts";
import { checkoutBusy } from "../checkouts/sqlite-locks.ts";
import { materialise } from "../segments/materialise.ts";
import type { Work } from "../segments/page-source.ts";
import { currentView, operationView } from "./branch-views.ts";
import { staleError } from "./checkpoint.ts";
import { commit, discardVersions } from "./operation.ts";
import { newVersion, temporaryPath, type Parts } from "./parts.ts";
import { findBranch, placeName, resolveAt, type Place } from "./resolve.ts";
import { saveTrashedWork } from "./trash.ts";
import { adoptFile, bringFileTo, placeFile, unsavedWork, versionOf, withFile, type FileChange, type HeldFile } from "./working-file.ts";

type Checkout = RequestOutput<"branch.checkout">;

/**
 * Returns the path of the branch's file, made or brought to the head where needed. A current file is not even read.
 * Errors: `checkout-busy`, `checkout-stale` (unsaved work on top of a version that is no longer the head: `resolve`
 * decides), `segment-corrupt`, `disk-full`, …
 */
export async function checkout(parts: Parts, input: RequestInput<"branch.checkout">, work: Work = {}): Promise<Checkout> {
  const place = findBranch(parts, input.database, input.branch);
  const path = parts.paths.checkout(input.database, input.branch);
  const fact = parts.catalog.fact(place.branch.id);
  // A folder or a pipe holds no work: it is put aside.
  const found = parts.disk.stat(path)?.kind === "file" ? parts.files.check(path, fact?.fingerprint ?? null) : "missing";
  const answer = (change: FileChange, warnings: readonly string[] = [], operation: Checkout["operation"] = null): Checkout => ({
    operation,
    branch: currentView(parts, place),
    warnings,
    path,
    checkout: change,
  });
  if (!fact && found !== "missing") await clearNamesakesFile(parts, place);
  if (!fact && parts.files.check(path, null) !== "missing" && (await adoptFile(parts, place))) return answer("already current");
  if (!fact || found === "missing") return answer(...(await placeMissing(parts, place, fact, work)));
  if (fact.base === place.branch.head) return answer("already current");
  return withFile(parts, place, "exclusive", input.waitMs, async (file) => {
    if (!file) return answer(...(await placeMissing(parts, place, fact, work)));
    // Holding the file may have settled what a crash left open.
    const { base, content: held } = file.fact;
    if (base === place.branch.head) return answer("already current");
    const unsaved = await unsavedWork(parts, file, held, { kind: "autosave", message: null, meta: {} });
    if (!unsaved)
      return answer(await bringFileTo(parts, file, { content: held, version: place.branch.head, base: place.branch.head }, work));
    if (!input.resolve) {
      await discardVersions(parts, [unsaved]);
      throw staleError(place, base);
    }
    const operation = await saveAside(parts, file, unsaved, input.resolve === "put-mine-on-top" ? place.branch.head : base);
    const content = operation.newVersions[0] ?? held;
    if (input.resolve === "put-mine-on-top")
      return answer(
        "already current",
        [`The file was kept: what sets it apart from v${place.branch.head} is unsaved work now`],
        operationView(parts, operation),
      );
    const change = await bringFileTo(parts, file, { content, version: place.branch.head, base: place.branch.head }, work);
    return answer(change, [`Your unsaved work is kept as v${content}`], operationView(parts, operation));
  });
}

async function saveAside(
  parts: Parts,
  file: HeldFile,
  unsaved: NonNullable<Awaited<ReturnType<typeof unsavedWork>>>,
  base: Place["branch"]["head"],
) {
  const made = newVersion();
  const branch = file.place.branch.id;
  return commit(parts, "autosave", file.place, {
    moves: [],
    versions: [unsaved],
    facts: [{ branch, fact: { base, content: made, fingerprint: await file.held.fingerprint() } }],
  });
}

/** Unsaved work that was saved when the file was taken away comes back with it. A file nobody knows is put aside. */
async function placeMissing(parts: Parts, place: Place, fact: CheckoutFact | null, work: Work): Promise<[FileChange, string[]]> {
  const warnings = putAside(parts, place);
  const head = place.branch.head;
  const comesBack = fact !== null && fact.base === head && fact.content !== fact.base;
  if (fact !== null && !comesBack && fact.content !== fact.base)
    warnings.push(`Unsaved work on top of v${fact.base} is kept as v${fact.content}`);
  if (fact !== null && fact.fingerprint !== null)
    warnings.push(`The file had been removed: it was made again from v${comesBack ? fact.content : head}`);
  return [await placeFile(parts, place, { version: comesBack ? fact.content : head, base: head }, work), warnings];
}

/** An expired branch of the same name kept its file: its work is saved, and it gets its file back when it is restored. */
async function clearNamesakesFile(parts: Parts, place: Place): Promise<void> {
  for (const branch of parts.catalog.branches.trashedByName(place.database.id, place.branch.name)) {
    if (!parts.catalog.fact(branch.id)) continue;
    const former = { database: place.database, branch };
    await withFile(parts, former, "exclusive", undefined, async (file) => {
      if (!file) return;
      await saveTrashedWork(parts, file);
      await file.held.remove();
    });
    return;
  }
}

/**
 * A file in the checkout's place that the catalog knows nothing of may be somebody's only copy, and the WAL or journal
 * beside a deleted one may hold work of a client that was killed: they are kept. Returns what to warn of.
 */
function putAside(parts: Parts, place: Place): string[] {
  const path = parts.paths.checkout(place.database.name, place.branch.name);
  const isThere = parts.disk.stat(path) !== null;
  const sides = sidePaths(path);
  if (!isThere && !parts.disk.stat(sides.wal)?.size && !parts.disk.stat(sides.journal)?.size) return [];
  const holders = parts.files.holders(path);
  if (holders.length > 0) throw checkoutBusy(path, holders);
  const kept = join(parts.paths.kept, `${place.database.name}-${place.branch.name.replaceAll("/", "-")}-${parts.clock.now()}.db`);
  parts.disk.makeDirectory(dirname(kept));
  for (const ending of ["-wal", "-journal", ""]) if (parts.disk.stat(path + ending)) parts.disk.rename(path + ending, kept + ending);
  parts.disk.remove(`${path}-shm`);
  const what = isThere
    ? "A file that Coppice did not make lay in the place of"
    : "Side files of SQLite without their database lay in the place of";
  return [`${what} ${placeName(place)}: moved to ${kept}`];
}

/** A read-only file of one version, shared by all who ask for it. Safe to delete; made again when asked for. */
export async function openVersion(parts: Parts, input: RequestInput<"checkpoint.open">, work: Work = {}): Promise<{ path: string }> {
  const place = findBranch(parts, input.database, input.branch);
  const number = resolveAt(parts, place, input.at);
  const version = versionOf(parts, place, number);
  const path = parts.paths.readonlyFile(Buffer.from(place.database.uid).toString("hex"), number);
  if (isUntouched(parts, path, version)) return { path };
  const finished = temporaryPath(parts, `readonly-${number}.db`);
  await materialise(
    await parts.lineages.reader(place.database.id, number),
    { disk: parts.disk, native: parts.native, path: finished, journal: "rollback", changeCounter: number, checksum: version.checksum },
    work,
  );
  dateLikeVersion(parts, finished, version);
  parts.disk.setMode(finished, 0o444);
  parts.disk.makeDirectory(dirname(path));
  for (const side of Object.values(sidePaths(path))) parts.disk.remove(side);
  evictReadonlyFiles(parts, dirname(path), LIMITS.readonlyBytesMax - version.pageSize * version.pageCount);
  parts.disk.rename(finished, path);
  return { path };
}

/**
 * Mode 0444 does not keep root from writing. A read-only file is dated like its version, to the second, so that a write
 * shows.
 */
function dateLikeVersion(parts: Parts, path: string, version: VersionRecord): void {
  const file = parts.disk.open(path, "r+");
  try {
    parts.disk.setModified(file, BigInt(seconds(version.createdAt)) * 1_000_000_000n);
  } finally {
    parts.disk.close(file);
  }
}

function isUntouched(parts: Parts, path: string, version: VersionRecord): boolean {
  const stat = parts.disk.stat(path);
  const isDatedLikeVersion = stat !== null && stat.mtimeNs === BigInt(seconds(version.createdAt)) * 1_000_000_000n;
  const { wal, journal } = sidePaths(path);
  return (
    isDatedLikeVersion &&
    stat.size === version.pageSize * version.pageCount &&
    !parts.disk.stat(wal)?.size &&
    !parts.disk.stat(journal)?.size
  );
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** Oldest first, until the rest fits. A file that is open stays readable for who has it open. */
function evictReadonlyFiles(parts: Parts, folder: string, budget: number): void {
  const files = parts.disk.list(folder).map((name) => ({ path: join(folder, name), stat: parts.disk.stat(join(folder, name)) }));
  files.sort((a, b) => Number((a.stat?.ctimeNs ?? 0n) - (b.stat?.ctimeNs ?? 0n)));
  let total = files.reduce((sum, { stat }) => sum + (stat?.size ?? 0), 0);
  for (const { path, stat } of files) {
    if (total <= budget) return;
    parts.disk.remove(path);
    total -= stat?.size ?? 0;
  }
}

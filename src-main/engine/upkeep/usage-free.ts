/** What would be freed if some branches went: by the very plan that a purge would carry out. */
import type { RequestInput } from "#shared/contract.ts";
import type { DatabaseId } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import type { FreedView } from "#shared/usage-views.ts";
import type { Parts } from "../branches/parts.ts";
import { findBranch } from "../branches/resolve.ts";
import { removableVersions } from "../catalog/garbage.ts";
import type { PurgeDraft } from "../catalog/records.ts";
import { sidePaths } from "../checkouts/side-files.ts";
import { shadowPaths } from "../checkouts/shadow-files.ts";
import { breathe, type PhasedWork } from "../transfer/long-work.ts";
import { purgeTime } from "./clock-guard.ts";
import { dueTrash } from "./gc.ts";
import { sumOwned } from "./usage-rows.ts";
import { readSegmentUsage, type BranchRefs, type SegmentUsage } from "./usage-segments.ts";

/** Branches whose files are looked at before others may run. */
const FILES_PER_TURN = 500;

/**
 * Looks only. Beyond what the next gc frees anyway. What a branch has unsaved adds nothing: it is stored when the branch
 * goes to the trash, and goes with it. Errors: `branch-not-found`, `database-not-found`, `cancelled`.
 */
export async function predictFreed(parts: Parts, input: RequestInput<"usage.free">, work: PhasedWork = {}): Promise<FreedView> {
  await breathe(work);
  const { going, segmentBytes, uniqueBytes } = parts.catalog.snapshot(() => predictSegments(parts, input.branches));
  const { fileBytes, readyBytes } = await predictFiles(parts, going, work);
  return {
    bytes: segmentBytes + fileBytes,
    segmentBytes,
    fileBytes,
    readyBytes,
    uniqueBytes,
    amongThemBytes: segmentBytes - uniqueBytes,
    protected: going.filter(({ branch }) => branch.isProtected).map(({ database, branch }) => `${database}@${branch.name}`),
  };
}

type Names = RequestInput<"usage.free">["branches"];

interface Going {
  readonly database: string;
  readonly branch: BranchRefs;
}

interface SegmentPrediction {
  readonly going: readonly Going[];
  readonly segmentBytes: number;
  readonly uniqueBytes: number;
}

function predictSegments(parts: Parts, names: Names): SegmentPrediction {
  const { catalog } = parts;
  const usage = readSegmentUsage(parts);
  const going = findGoing(parts, usage, names);
  const due = dueTrash(parts, {});
  const databases = new Set<number>(due.databases.map(({ id }) => id));
  const anyway = new Set<number>(due.branches.map(({ id }) => id));
  for (const branch of usage.branches.values()) if (databases.has(branch.database)) anyway.add(branch.id);
  const when = { now: purgeTime(parts), undoWindowMs: LIMITS.undoWindowMs, databases };
  const bytesWithout = (branches: ReadonlySet<number>): number => sumBytes(usage, removableVersions(catalog, { ...when, branches }));
  const segmentBytes = bytesWithout(new Set([...anyway, ...going.map(({ branch }) => branch.id)])) - bytesWithout(anyway);
  const owned = sumOwned(usage);
  return { going, segmentBytes, uniqueBytes: going.reduce((sum, { branch }) => sum + (owned.get(branch.id)?.bytes ?? 0), 0) };
}

/** Each once. */
function findGoing(parts: Parts, usage: SegmentUsage, names: Names): Going[] {
  const live = new Map<string, Going>();
  for (const branch of usage.branches.values()) {
    const database = usage.names.get(branch.database) ?? "";
    if (branch.isLive) live.set(`${database}@${branch.name}`, { database, branch });
  }
  const going = new Map<number, Going>();
  for (const { database, branch } of names) {
    const found = live.get(`${database}@${branch}`);
    // Says what there is instead.
    if (!found) findBranch(parts, database, branch);
    else going.set(found.branch.id, found);
  }
  return [...going.values()];
}

function sumBytes({ trees }: SegmentUsage, versions: PurgeDraft["versions"]): number {
  let bytes = 0;
  for (const { database, numbers } of versions) for (const number of numbers) bytes += trees.get(database)?.tree.bytes[number] ?? 0;
  return bytes;
}

/** Files of branches and what belongs to them, but for those that will be kept as ready files: these by themselves. */
async function predictFiles(parts: Parts, going: readonly Going[], work: PhasedWork): Promise<Pick<FreedView, "fileBytes" | "readyBytes">> {
  const { catalog, disk, paths } = parts;
  const known = new Set<number>(catalog.facts().map(({ branch }) => branch));
  let bytes = 0;
  const retiring: { database: DatabaseId; bytes: number }[] = [];
  for (const [index, { database, branch }] of going.entries()) {
    if (index % FILES_PER_TURN === FILES_PER_TURN - 1) {
      work.progress?.(index, going.length);
      await breathe(work);
    }
    const path = paths.checkout(database, branch.name);
    const stat = known.has(branch.id) ? disk.stat(path) : null;
    if (stat === null) continue;
    const beside = [...Object.values(sidePaths(path)), ...Object.values<string>({ ...shadowPaths(paths.shadows, stat) })];
    bytes += beside.reduce((sum, each) => sum + (disk.stat(each)?.size ?? 0), stat.size);
    retiring.push({ database: branch.database, bytes: stat.size });
  }
  const readyBytes = parts.pool.predictKept(retiring);
  return { fileBytes: bytes - readyBytes, readyBytes };
}

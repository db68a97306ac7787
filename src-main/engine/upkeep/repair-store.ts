import { join } from "node:path";
import type { RepairReport } from "#shared/views.ts";
import type { Parts } from "../branches/parts.ts";
import type { StorePaths } from "../branches/store-paths.ts";
import { Catalog } from "../catalog/catalog.ts";
import { checkIntegrity } from "../catalog/integrity.ts";
import type { Clock, Randomness } from "../io/clock.ts";
import type { Disk } from "../io/disk.ts";
import { EngineError, withUntouched } from "../io/errors.ts";
import { findHolders } from "../io/holders.ts";
import type { Native } from "../io/native.ts";
import type { PhasedWork } from "../transfer/long-work.ts";
import { rebuild } from "./repair.ts";

const ENDINGS = ["", "-wal", "-shm", "-journal"];

interface Machine {
  readonly disk: Disk;
  readonly native: Native;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/**
 * Gives a store a new catalog when its own is lost or damaged; does nothing to a sound one. When it fails or is
 * cancelled, the old catalog is back in its place. `withParts` opens the store and closes it again. Errors:
 * `store-not-found` (no segments or checkouts either), `store-newer`, `store-busy`, `disk-full`, `cancelled`, …
 */
export async function repairStore(
  paths: StorePaths,
  machine: Machine,
  withParts: <T>(act: (parts: Parts) => Promise<T>) => Promise<T>,
  work: PhasedWork = {},
): Promise<RepairReport> {
  const { disk, clock, randomness } = machine;
  const isStore = [paths.catalog, paths.segments, paths.checkouts].some((path) => disk.stat(path) !== null);
  if (!isStore) throw new EngineError("store-not-found", `There is no store at ${paths.root}`, { details: { path: paths.root } });
  const reason = findProblem(paths, machine);
  if (reason === null)
    return { repaired: false, reason: "The catalog is sound", catalogKept: null, databases: [], segmentsKept: 0, problems: [] };
  refuseHolders(paths);
  const kept = join(paths.kept, `catalog-${clock.now()}.db`);
  const hadCatalog = moveCatalog(disk, paths.catalog, kept, paths.kept);
  try {
    for (const folder of [paths.segments, paths.checkouts, paths.temporary]) disk.makeDirectory(folder);
    Catalog.create(paths.catalog, machine, { uid: randomness.bytes(16), at: clock.now() });
    const rebuilt = await withParts((parts) => rebuild(parts, work));
    return { repaired: true, reason, catalogKept: hadCatalog ? kept : null, ...rebuilt };
  } catch (error) {
    for (const ending of ENDINGS) disk.remove(paths.catalog + ending);
    if (hadCatalog) moveCatalog(disk, kept, paths.catalog, paths.root);
    restoreSegments(disk, paths);
    throw withUntouched(error, "The store is as it was.");
  }
}

/** What is wrong with the catalog; null when nothing is. */
function findProblem(paths: StorePaths, machine: Machine): string | null {
  if (!machine.disk.stat(paths.catalog)) return "There is no catalog";
  try {
    const catalog = Catalog.open(paths.catalog, machine);
    try {
      const [problem] = checkIntegrity(catalog);
      return problem ? `${problem.object}: ${problem.problem}` : null;
    } finally {
      catalog.close();
    }
  } catch (error) {
    if (error instanceof EngineError && error.code === "store-corrupt") return error.message;
    throw error;
  }
}

function refuseHolders(paths: StorePaths): void {
  const holders = findHolders(ENDINGS.map((ending) => paths.catalog + ending)).filter(({ pid }) => pid !== process.pid);
  if (holders.length === 0) return;
  const names = holders.map(({ program, pid }) => `${program ?? "a program"} (pid ${pid})`).join(", ");
  throw new EngineError("store-busy", `Cannot repair ${paths.root}: it is open in ${names}`, {
    hint: "Close it there first.",
    untouched: "The store is as it was.",
    retryable: true,
    details: { path: paths.root, holders },
  });
}

function moveCatalog(disk: Disk, from: string, to: string, folder: string): boolean {
  disk.makeDirectory(folder);
  let moved = false;
  for (const ending of ENDINGS) {
    if (!disk.stat(from + ending)) continue;
    disk.rename(from + ending, to + ending);
    moved = true;
  }
  return moved;
}

function restoreSegments(disk: Disk, paths: StorePaths): void {
  const folder = join(paths.kept, "segments");
  for (const name of disk.list(folder)) disk.rename(join(folder, name), join(paths.segments, name));
}

import type { Disk } from "../io/disk.ts";
import { EngineError } from "../io/errors.ts";
import type { Native } from "../io/native.ts";
import { readExtents, sharedPlaces } from "./extent-ranges.ts";
import { takeTurn } from "./path-turns.ts";

/** How long a file that is held by ourselves is waited for. */
const TURN_WAIT_MS = 2_000;
/** A file in more pieces says nothing. */
const EXTENTS_MAX = 1_000_000;

/** See `CheckoutFiles.sharedPlaces`. A raw read: only where checkouts may be opened (the POSIX lock trap). */
export async function readSharedPlaces(
  ports: { readonly disk: Disk; readonly native: Native },
  path: string,
): Promise<Float64Array | null> {
  const { disk, native } = ports;
  const stat = disk.stat(path);
  if (stat === null) return new Float64Array(0);
  const endTurn = await takeTurn(disk.realPath(path), TURN_WAIT_MS, "shared");
  if (endTurn === null) return null;
  try {
    const file = disk.open(path, "r");
    try {
      const extents = readExtents(native, file, disk.statFile(file).size, EXTENTS_MAX, false);
      return extents && sharedPlaces(extents);
    } finally {
      disk.close(file);
    }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.code === "file-not-found" ? new Float64Array(0) : null;
  } finally {
    endTurn();
  }
}

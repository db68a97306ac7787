import { join } from "node:path";
import { LIMITS } from "#shared/limits.ts";
import type { UnixMs } from "#shared/ids.ts";
import type { Parts } from "../branches/parts.ts";
import { EngineError } from "../io/errors.ts";

const NOTE_BYTES = 64;

/** What the last look at the clock left in the store's folder. */
interface Note {
  readonly seen: UnixMs;
  /** Until then, TTLs, purge dates and the undo window are judged by `heldAt`. */
  readonly holdUntil: UnixMs;
  readonly heldAt: UnixMs;
}

/**
 * The time by which TTLs, purge dates and the end of the undo window are judged. A clock that jumped forward by more than a day since the last look
 * would empty a store at once, so for a day after the jump the time before it counts. (A store that nobody opened for
 * days looks the same: it keeps its expired branches a day longer.)
 */
export function purgeTime(parts: Parts): UnixMs {
  const now = parts.clock.now();
  const path = join(parts.paths.root, "clock");
  const note = readNote(parts, path);
  const jumped = note !== null && now - note.seen > LIMITS.clockJumpMs;
  const isHeld = note !== null && now < note.holdUntil && note.holdUntil - now <= LIMITS.clockJumpMs;
  const next: Note = jumped
    ? { seen: now, holdUntil: now + LIMITS.clockJumpMs, heldAt: isHeld ? note.heldAt : note.seen }
    : { seen: now, holdUntil: note?.holdUntil ?? 0, heldAt: note?.heldAt ?? now };
  if (!parts.catalog.readOnly) writeNote(parts, path, next);
  return jumped || isHeld ? next.heldAt : now;
}

/** A damaged note says nothing. */
function readNote(parts: Parts, path: string): Note | null {
  if (!parts.disk.stat(path)) return null;
  const [seen, holdUntil, heldAt] = Buffer.from(parts.disk.readWhole(path)).toString("utf8").split(" ").map(Number);
  return seen !== undefined && holdUntil !== undefined && heldAt !== undefined && Number.isFinite(seen + holdUntil + heldAt)
    ? { seen, holdUntil, heldAt }
    : null;
}

/** Over the old one. A full disk may refuse: the next look then errs by postponing. */
function writeNote(parts: Parts, path: string, note: Note): void {
  const file = parts.disk.open(path, parts.disk.stat(path) ? "r+" : "w+");
  try {
    parts.disk.write(file, Buffer.from(`${note.seen} ${note.holdUntil} ${note.heldAt} `.padEnd(NOTE_BYTES)), 0);
  } catch (error) {
    if (!(error instanceof EngineError && error.code === "disk-full")) throw error;
  } finally {
    parts.disk.close(file);
  }
}

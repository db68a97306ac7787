import { LIMITS } from "#shared/limits.ts";
import type { UnixMs } from "#shared/ids.ts";
import type { Parts } from "../branches/parts.ts";

/**
 * The time by which TTLs and purge dates are judged. A clock that jumped forward by more than a day since the last
 * operation or opening would empty a store at once, so everything is put off by a day: the first opening after a jump
 * notes when it was, and deletes nothing until a day of the new clock has passed.
 */
export function purgeTime(parts: Parts): UnixMs {
  const now = parts.clock.now();
  const file = `${parts.paths.root}/clock`;
  const noted = readNote(parts, file);
  const jumped = noted !== null && now - noted.seen > LIMITS.clockJumpMs;
  const holdUntil = jumped ? now + LIMITS.clockJumpMs : Math.min(noted?.holdUntil ?? 0, now + LIMITS.clockJumpMs);
  if (!parts.catalog.readOnly) writeNote(parts, file, { seen: now, holdUntil });
  return now < holdUntil ? Math.min(now, noted?.seen ?? now) : now;
}

interface Note {
  readonly seen: UnixMs;
  readonly holdUntil: UnixMs;
}

function readNote(parts: Parts, file: string): Note | null {
  if (!parts.disk.stat(file)) return null;
  const [seen, holdUntil] = Buffer.from(parts.disk.readWhole(file)).toString("utf8").split(" ").map(Number);
  return Number.isFinite(seen) && Number.isFinite(holdUntil) ? { seen: seen ?? 0, holdUntil: holdUntil ?? 0 } : null;
}

function writeNote(parts: Parts, file: string, note: Note): void {
  const descriptor = parts.disk.open(file, "w+");
  try {
    parts.disk.write(descriptor, Buffer.from(`${note.seen} ${note.holdUntil}`), 0);
  } finally {
    parts.disk.close(descriptor);
  }
}

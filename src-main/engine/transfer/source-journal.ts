/**
 * The rollback journal beside a source (source: "Rollback Journal File Format" and SQLite's `pager.c`).
 *
 * A journal whose first byte is zero, or that is empty, is finished. Any other one is copied with the main file, and
 * SQLite rolls it back on the copy. That is right for a hot journal, and also for a writer in the middle of its
 * transaction: while we hold the shared lock it has not touched the main file, so rolling back changes nothing.
 *
 * A transaction over several files ends its journals with the name of a super-journal, and is committed once that file is
 * gone. The record is left off the copy, because SQLite deletes a super-journal that it finds no further use for.
 */
import type { Disk, FileDescriptor } from "../io/disk.ts";

const SUPER_MAGIC = "d9d505f920a163d7";
/** Other names are not followed: SQLite takes such a journal for an ordinary one. */
const SUPER_NAME = /-mj[0-9A-F]{6}9[0-9A-F]{2}$/;
/** Length, checksum and magic behind the name; four more bytes stand before it. */
const SUPER_TAIL_BYTES = 16;
const SUPER_NAME_BYTES_MAX = 4096;

/** Bytes of the journal that must be rolled back on a copy; 0 when its transaction is finished. */
export function journalBytesToCopy(disk: Disk, journal: FileDescriptor): number {
  const { size } = disk.statFile(journal);
  const first = new Uint8Array(1);
  if (disk.read(journal, first, 0) === 0 || first[0] === 0) return 0;
  const record = superJournal(disk, journal, size);
  if (!record) return size;
  return disk.stat(record.name) ? size - record.bytes : 0;
}

function superJournal(disk: Disk, journal: FileDescriptor, size: number): { name: string; bytes: number } | null {
  if (size < SUPER_TAIL_BYTES + 5) return null;
  const tail = Buffer.alloc(SUPER_TAIL_BYTES);
  disk.read(journal, tail, size - SUPER_TAIL_BYTES);
  const length = tail.readUInt32BE(0);
  if (tail.toString("hex", 8) !== SUPER_MAGIC || length === 0 || length > Math.min(SUPER_NAME_BYTES_MAX, size - SUPER_TAIL_BYTES - 4))
    return null;
  const name = Buffer.alloc(length);
  disk.read(journal, name, size - SUPER_TAIL_BYTES - length);
  if (!SUPER_NAME.test(name.toString("latin1"))) return null;
  // The sum runs over C chars, which are signed.
  const sum = name.reduce((total, byte) => (total + ((byte << 24) >> 24)) >>> 0, 0);
  return sum === tail.readUInt32BE(4) ? { name: name.toString(), bytes: length + SUPER_TAIL_BYTES + 4 } : null;
}

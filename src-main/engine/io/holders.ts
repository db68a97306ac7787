/**
 * Who has files open, and what they do with them, as far as Linux tells. /proc/PID/fd says what a process has open,
 * /proc/PID/fdinfo which locks it holds on it; of processes of other users only the POSIX locks in /proc/locks are seen.
 * Elsewhere nothing is known and nothing is said. Nothing here throws.
 *
 * SQLite's locks, from which the access is told: bytes of the main file (pending, reserved, a shared range), and in WAL
 * mode bytes of the -shm, while a shared lock on the main file then only means that it is open.
 */
import { readdirSync, readFileSync, statSync, type BigIntStats } from "node:fs";
import { basename } from "node:path";
import type { Holder } from "#shared/error-codes.ts";

const PROCESSES_MAX = 20_000;
const DESCRIPTORS_MAX = 400_000;

/** Of the main file: pending, reserved, then 510 bytes of the shared range. */
const MAIN_LOCK_BYTES = { first: 0x40000000, last: 0x40000000 + 511 };
const SHARED_BYTES = { first: 0x40000002, last: 0x40000000 + 511 };
/** Of the -shm: the locks to write, to fold the WAL in and to recover; then those of readers. */
const SHM_WRITE_BYTES = { first: 120, last: 122 };
const SHM_READ_BYTES = { first: 123, last: 127 };

interface ByteRange {
  readonly first: number;
  readonly last: number;
}

interface LockedRange extends ByteRange {
  readonly exclusive: boolean;
}

/** One of the files, open in a process. */
interface OpenFile {
  readonly pid: number;
  readonly path: string;
  readonly locks: readonly LockedRange[];
}

/** Processes that have any of a database's files open (the file itself, -wal, -shm, -journal), by pid. */
export function findHolders(paths: readonly string[]): Holder[] {
  const open = findOpenFiles(paths);
  return groupByPid(open).map(([pid, files]) => ({ pid, program: readProgram(pid), access: judgeAccess(files) }));
}

/** Processes that hold a lock on any byte of one file, by pid. */
export function findLockHolders(path: string): Holder[] {
  const locked = findOpenFiles([path]).filter(({ locks }) => locks.length > 0);
  return groupByPid(locked).map(([pid, files]) => {
    const exclusive = files.some(({ locks }) => locks.some((lock) => lock.exclusive));
    return { pid, program: readProgram(pid), access: exclusive ? "writing" : "reading" };
  });
}

/** The name of a process, e.g. "sqlite3"; null when it has ended or the system does not tell. */
export function readProgram(pid: number): string | null {
  const name = readOrEmpty(`/proc/${pid}/comm`).trim();
  // Node calls its main thread so, which says nothing about the program.
  if (!name.endsWith("MainThread")) return name || null;
  return basename(readOrEmpty(`/proc/${pid}/cmdline`).split("\0")[0] ?? "") || null;
}

function findOpenFiles(paths: readonly string[]): OpenFile[] {
  const wanted = new Map<string, string>();
  const lockNames = new Map<string, string>();
  for (const path of paths) {
    const stat = statOrNull(path);
    if (stat === null) continue;
    wanted.set(fileKey(stat), path);
    lockNames.set(lockFileName(stat), path);
  }
  if (wanted.size === 0) return [];
  const open: OpenFile[] = [];
  const hidden = new Set<number>();
  let left = DESCRIPTORS_MAX;
  for (const pid of listProcesses()) {
    const descriptors = listOrNull(`/proc/${pid}/fd`);
    if (descriptors === null) hidden.add(pid);
    for (const descriptor of descriptors ?? []) {
      left -= 1;
      if (left < 0) return open;
      const stat = statOrNull(`/proc/${pid}/fd/${descriptor}`);
      const path = stat && wanted.get(fileKey(stat));
      if (path) open.push({ pid, path, locks: readDescriptorLocks(pid, descriptor) });
    }
  }
  return hidden.size === 0 ? open : [...open, ...findHiddenLocks(hidden, lockNames)];
}

function groupByPid(open: readonly OpenFile[]): [number, OpenFile[]][] {
  return [...Map.groupBy(open, ({ pid }) => pid)].toSorted(([a], [b]) => a - b);
}

function judgeAccess(files: readonly OpenFile[]): Holder["access"] {
  const shm = files.filter(({ path }) => path.endsWith("-shm"));
  const main = files.filter(({ path }) => !/-(?:shm|wal|journal)$/.test(path));
  const holds = (of: readonly OpenFile[], range: ByteRange, exclusive: boolean): boolean =>
    of.some(({ locks }) => locks.some((lock) => lock.exclusive === exclusive && lock.first <= range.last && range.first <= lock.last));
  if (holds(main, MAIN_LOCK_BYTES, true) || holds(shm, SHM_WRITE_BYTES, true)) return "writing";
  const reads = shm.length > 0 ? holds(shm, SHM_READ_BYTES, false) : holds(main, SHARED_BYTES, false);
  return reads ? "reading" : "open";
}

/** Lines like "lock:\t1: OFDLCK ADVISORY  WRITE -1 fe:00:1234 0 EOF"; POSIX locks stand in them as well. */
function readDescriptorLocks(pid: number, descriptor: string): LockedRange[] {
  const lines = readOrEmpty(`/proc/${pid}/fdinfo/${descriptor}`).split("\n");
  return lines.filter((line) => line.startsWith("lock:")).flatMap((line) => parseLock(line)?.range ?? []);
}

/** What /proc/locks says of processes whose descriptors may not be looked at. */
function findHiddenLocks(pids: ReadonlySet<number>, paths: ReadonlyMap<string, string>): OpenFile[] {
  return readOrEmpty("/proc/locks")
    .split("\n")
    .flatMap((line) => {
      const lock = parseLock(line);
      const path = lock && paths.get(lock.file);
      return lock && path && pids.has(lock.pid) ? [{ pid: lock.pid, path, locks: [lock.range] }] : [];
    });
}

function parseLock(line: string): { pid: number; file: string; range: LockedRange } | null {
  const match = /: (?:POSIX|OFDLCK)\s+ADVISORY\s+(READ|WRITE)\s+(-?\d+)\s+(\S+)\s+(\d+)\s+(\d+|EOF)\s*$/.exec(line);
  if (!match) return null;
  const last = match[5] === "EOF" ? Number.MAX_SAFE_INTEGER : Number(match[5]);
  return { pid: Number(match[2]), file: match[3] ?? "", range: { exclusive: match[1] === "WRITE", first: Number(match[4]), last } };
}

function fileKey(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}`;
}

/** A file as lock lines name it: major and minor number of the device in hexadecimal, inode in decimal. */
function lockFileName(stat: BigIntStats): string {
  const major = ((stat.dev >> 8n) & 0xfffn) | ((stat.dev >> 32n) & ~0xfffn);
  const minor = (stat.dev & 0xffn) | ((stat.dev >> 12n) & ~0xffn);
  return `${toHex(major)}:${toHex(minor & 0xffffffffn)}:${stat.ino}`;
}

function toHex(part: bigint): string {
  return part.toString(16).padStart(2, "0");
}

function listProcesses(): number[] {
  const names = listOrNull("/proc") ?? [];
  return names
    .filter((name) => /^\d+$/.test(name))
    .slice(0, PROCESSES_MAX)
    .map(Number);
}

function listOrNull(path: string): string[] | null {
  try {
    return readdirSync(path);
  } catch {
    return null;
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function statOrNull(path: string): BigIntStats | null {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/**
 * Who has files open, as far as Linux tells in /proc. Descriptors say that a file is open, /proc/locks what is locked:
 * SQLite locks a byte range of the main file, and bytes of the -shm in WAL mode. Elsewhere, and for processes of other
 * users, nothing is known and nothing is said.
 */
import { readdirSync, readFileSync, statSync, type BigIntStats } from "node:fs";
import type { Holder } from "#shared/error-codes.ts";

const PROCESSES_MAX = 20_000;
/** SQLite's lock bytes: pending, reserved, then the shared range. */
const RESERVED_BYTE = 0x40000001;
const SHARED_FIRST = 0x40000002;
/** WAL_WRITE_LOCK in the -shm. */
const WAL_WRITE_BYTE = 120;

type Access = Holder["access"];

/** Processes that have any of the files open, by pid, with the strongest access seen. Never throws. */
export function findHolders(paths: readonly string[]): Holder[] {
  const files = new Set<string>();
  for (const path of paths) {
    const stat = statOrNull(path);
    if (stat) files.add(fileKey(stat));
  }
  if (files.size === 0) return [];
  const found = new Map<number, Access>();
  for (const pid of processIds()) if (hasOpen(pid, files)) found.set(pid, "open");
  for (const { pid, access } of lockers(files)) if (found.has(pid)) found.set(pid, stronger(found.get(pid) ?? "open", access));
  return [...found].toSorted(([a], [b]) => a - b).map(([pid, access]) => ({ pid, program: programName(pid), access }));
}

export function programName(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return null;
  }
}

function statOrNull(path: string): BigIntStats | null {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return null;
  }
}

function fileKey(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}`;
}

function processIds(): number[] {
  return listOrEmpty("/proc")
    .filter((name) => /^\d+$/.test(name))
    .slice(0, PROCESSES_MAX)
    .map(Number);
}

function listOrEmpty(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function hasOpen(pid: number, files: ReadonlySet<string>): boolean {
  return listOrEmpty(`/proc/${pid}/fd`).some((descriptor) => {
    const stat = statOrNull(`/proc/${pid}/fd/${descriptor}`);
    return stat !== null && files.has(fileKey(stat));
  });
}

/** Lines like "1: POSIX  ADVISORY  WRITE 4711 fe:01:1234 1073741825 1073741825". */
function lockers(files: ReadonlySet<string>): { pid: number; access: Access }[] {
  let text = "";
  try {
    text = readFileSync("/proc/locks", "utf8");
  } catch {
    return [];
  }
  const inodes = new Set([...files].map((key) => key.split(":")[1]));
  return text.split("\n").flatMap((line) => {
    const match = /: POSIX\s+ADVISORY\s+(READ|WRITE)\s+(\d+)\s+[0-9a-f]+:[0-9a-f]+:(\d+)\s+(\d+)\s+(\d+|EOF)/.exec(line);
    if (!match || !inodes.has(match[3] ?? "")) return [];
    const first = Number(match[4]);
    const last = match[5] === "EOF" ? Number.MAX_SAFE_INTEGER : Number(match[5]);
    const covers = (byte: number) => first <= byte && byte <= last;
    const writes = match[1] === "WRITE" && (covers(RESERVED_BYTE) || covers(SHARED_FIRST) || covers(WAL_WRITE_BYTE));
    return [{ pid: Number(match[2]), access: writes ? "writing" : "reading" } as const];
  });
}

function stronger(a: Access, b: Access): Access {
  const order: readonly Access[] = ["open", "reading", "writing"];
  return order.indexOf(a) >= order.indexOf(b) ? a : b;
}

/** What processes have written, as the kernel counts it: bytes that they made go to a disk. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Why nothing can be counted here, or null. */
export function missingCounters(filesystem: string): string | null {
  if (!existsSync("/proc/self/io")) return "The system does not count what a process writes";
  return /^(?:tmpfs|ramfs)$/.test(filesystem) ? `${filesystem} is memory: nothing is written to a disk` : null;
}

/** Of this process and its living children, the keeper among them. Ones that ended meanwhile take their count with them. */
export function writtenBytes(): number {
  return [process.pid, ...childrenOf(process.pid)].reduce((sum, pid) => sum + writtenBy(pid), 0);
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readOrEmpty(`/proc/${pid}/task/${thread}/children`).trim().split(" ").filter(Boolean).map(Number),
  );
}

function writtenBy(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readOrEmpty(`/proc/${pid}/io`))?.[1] ?? 0);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

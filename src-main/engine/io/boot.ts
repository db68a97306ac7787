import { readFileSync } from "node:fs";
import { uptime } from "node:os";

let known: string | null = null;

/** Names this boot of the machine: what was not synced before may be lost after the next one. */
export function readBootId(): string {
  known ??= readLinuxBootId() ?? `started-${Math.round((Date.now() / 1000 - uptime()) / 60)}`;
  return known;
}

function readLinuxBootId(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return null;
  }
}

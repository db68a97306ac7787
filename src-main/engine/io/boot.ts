import { readFileSync } from "node:fs";
import { uptime } from "node:os";

let known: string | null = null;

/** Names this boot of the machine: what was not synced before may be lost after the next one. */
export function readBootId(): string {
  known ??= readLinuxBootId() ?? estimateBoot();
  return known;
}

function readLinuxBootId(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return null;
  }
}

/** By the minute. When two processes round differently, one believes in a restart, and looks at more than it must. */
function estimateBoot(): string {
  return `started-${Math.round((Date.now() / 1000 - uptime()) / 60)}`;
}

/**
 * The private folder of a run, on the disk that is measured. It is removed when the run ends, and by the next run when
 * its process died before that: a lock in it, which the system takes back from the dead, tells the two apart.
 */
import { randomBytes } from "node:crypto";
import { chmodSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { formatBytes } from "#shared/units.ts";
import { EngineError } from "#engine/io/errors.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { ProcessLock } from "#engine/io/process-lock.ts";

const PREFIX = ".coppice-bench-";
const NAME = /^\.coppice-bench-[0-9a-f]{12}$/;
const LOCK = "lock";
/** A folder without a lock file is about to get one, unless it is this old. */
const YOUNG_MS = 600_000;
const TRIES = 5;
/** How deep below the sandbox a server's pid file is looked for. */
const PID_FILE_DEPTH = 4;

export interface Sandbox {
  readonly path: string;
  /** Removes the folder with all that is in it. */
  remove(): void;
}

/**
 * Makes a sandbox in `folder`, which exists, after the leftovers of dead runs were removed. Throws `disk-full` when fewer
 * than `bytes` are free, `file-not-found`, `permission-denied` or `store-read-only` when nothing can be made there.
 */
export function makeSandbox(folder: string, bytes: number): Sandbox {
  const stat = nodeDisk.stat(folder);
  if (stat?.kind !== "directory")
    throw new EngineError("file-not-found", `There is no folder ${folder} to measure in`, {
      untouched: "Nothing was measured.",
      details: { path: folder },
    });
  removeLeftovers(folder);
  requireSpace(folder, bytes);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const path = join(folder, `${PREFIX}${randomBytes(6).toString("hex")}`);
    nodeDisk.makeDirectory(path);
    // Programs that a suite runs as another user have to reach their files in it.
    chmodSync(path, 0o711);
    const lock = ProcessLock.open(join(path, LOCK), { disk: nodeDisk, native: loadNative() });
    // Somebody who removes leftovers may have come between the two lines above.
    if (lock.tryAcquire()) return { path, remove: () => removeHeld(path, lock) };
    lock.close();
  }
  throw new EngineError("store-busy", `No sandbox could be made in ${folder}: another run removes each of them`, {
    untouched: "Nothing was measured.",
    retryable: true,
    details: { path: folder },
  });
}

/** Removes the sandboxes in `folder` whose processes are gone. What cannot be removed stays for the next time. */
export function removeLeftovers(folder: string): void {
  for (const name of nodeDisk.list(folder).filter((each) => NAME.test(each))) {
    const path = join(folder, name);
    try {
      removeLeftover(path);
    } catch (error) {
      // Another user's, or somebody else was quicker. Anything else is a bug.
      if (!(error instanceof EngineError)) throw error;
    }
  }
}

function removeLeftover(path: string): void {
  const lockPath = join(path, LOCK);
  if (nodeDisk.stat(lockPath) === null) {
    const stat = nodeDisk.stat(path);
    if (stat && Date.now() - Number(stat.mtimeNs / 1_000_000n) > YOUNG_MS) nodeDisk.removeTree(path);
    return;
  }
  const lock = ProcessLock.open(lockPath, { disk: nodeDisk, native: loadNative() });
  if (!lock.tryAcquire()) return lock.close();
  endServers(path);
  removeHeld(path, lock);
}

function removeHeld(path: string, lock: ProcessLock): void {
  try {
    // Files in use or in another owner's folder: tried again, because a server may just be ending.
    rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } finally {
    lock.close();
  }
}

/**
 * Ends database servers that a dead run left behind. Their pid file is in the sandbox, and a process counts as theirs only
 * when its command line names the sandbox, too: the number may belong to somebody else by now.
 */
function endServers(path: string): void {
  for (const file of findPidFiles(path, PID_FILE_DEPTH)) {
    const pid = Number.parseInt(readFileSync(file, "utf8"), 10);
    if (!(pid > 1) || !commandLine(pid).includes(path)) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has just ended.
    }
  }
}

function findPidFiles(folder: string, depth: number): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth > 0 ? findPidFiles(path, depth - 1) : [];
    return entry.isFile() && entry.name === "postmaster.pid" ? [path] : [];
  });
}

/** Empty where the system does not tell. */
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function requireSpace(folder: string, bytes: number): void {
  const free = nodeDisk.freeBytes(folder);
  if (free >= bytes) return;
  throw new EngineError("disk-full", `This run needs ${formatBytes(bytes)} in ${folder}, where ${formatBytes(free)} are free`, {
    hint: "Choose a smaller size, or a folder on another disk.",
    untouched: "Nothing was measured and nothing was written.",
    details: { path: folder, expected: formatBytes(bytes), found: formatBytes(free) },
  });
}

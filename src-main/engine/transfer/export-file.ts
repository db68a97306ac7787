/**
 * Puts a finished file at a path of the user's. It is written under a name of its own in the target's folder, synced, and
 * renamed, so that the target holds nothing or everything. No side file stands beside it: one of a former file there
 * would be taken for the new one's, so a target that still has some with content is refused.
 */
import { randomBytes } from "node:crypto";
import { basename, dirname, join, resolve, sep } from "node:path";
import { EngineError } from "../io/errors.ts";
import type { Disk } from "../io/disk.ts";
import { databasePaths, holdersText, otherHolders } from "./source-files.ts";

export interface ExportRequest {
  /** Where the user wants it. A symbolic link there is followed. */
  readonly file: string;
  readonly overwrite: boolean;
  /** Folder of the store: nothing is exported into it. */
  readonly store: string;
  /** Writes the whole database to a new file at the path it is given. */
  readonly write: (path: string) => Promise<void>;
}

/**
 * Folders on the way are made. Throws `file-exists` (also for a file in use, even with `overwrite`), `bad-argument` for a
 * target inside the store or a folder, `permission-denied`, `disk-full`, and what `write` throws; the target is then as
 * it was.
 */
export async function exportFile(disk: Disk, request: ExportRequest): Promise<{ readonly path: string; readonly bytes: number }> {
  const target = locateTarget(disk, request);
  checkTarget(disk, target, request);
  disk.makeDirectory(dirname(target));
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString("hex")}.partial`);
  try {
    await request.write(temporary);
    const bytes = syncFile(disk, temporary);
    checkTarget(disk, target, request);
    publish(disk, temporary, target, request.overwrite);
    return { path: target, bytes };
  } finally {
    disk.remove(temporary);
  }
}

function locateTarget(disk: Disk, request: ExportRequest): string {
  const wanted = resolve(request.file);
  const there = disk.stat(wanted);
  if (there && there.kind !== "file") {
    throw new EngineError(
      "bad-argument",
      `Export to ${request.file}: a ${there.kind === "directory" ? "folder" : "device"} is there, expected a file name`,
      { details: { path: request.file } },
    );
  }
  const target = there ? disk.realPath(wanted) : join(realFolder(disk, dirname(wanted)), basename(wanted));
  const store = disk.realPath(request.store);
  if (target === store || target.startsWith(store + sep)) {
    throw new EngineError("bad-argument", `Export to ${request.file}: that is inside the store ${request.store}`, {
      hint: "Choose a folder outside the store.",
      details: { path: request.file },
    });
  }
  return target;
}

/** Resolves links in the part of the path that exists. */
function realFolder(disk: Disk, folder: string): string {
  if (disk.stat(folder)) return disk.realPath(folder);
  const parent = dirname(folder);
  return parent === folder ? folder : join(realFolder(disk, parent), basename(folder));
}

function checkTarget(disk: Disk, target: string, request: ExportRequest): void {
  const paths = databasePaths(target);
  const untouched = `${target} is as it was.`;
  if (disk.stat(target) && !request.overwrite)
    throw new EngineError("file-exists", `Export to ${request.file}: the file exists`, {
      hint: "Choose another name, or allow overwriting.",
      untouched,
      details: { path: target },
    });
  const holders = otherHolders(paths);
  if (holders.length > 0) {
    throw new EngineError("file-exists", `Export to ${request.file}: the file there is in use by ${holdersText(holders)}`, {
      hint: "Close it there first.",
      untouched,
      retryable: true,
      details: { path: target, holders },
    });
  }
  const left = [paths.wal, paths.journal].find((path) => (disk.stat(path)?.size ?? 0) > 0);
  if (left) {
    throw new EngineError(
      "file-exists",
      `Export to ${request.file}: ${left} holds changes of another database and would be taken for this one's`,
      {
        hint: "Open and close that database once, or move its files away.",
        untouched,
        details: { path: left },
      },
    );
  }
}

function syncFile(disk: Disk, path: string): number {
  const file = disk.open(path, "r+");
  try {
    disk.sync(file);
    return disk.statFile(file).size;
  } finally {
    disk.close(file);
  }
}

/** Without `overwrite` the name is claimed first, so that a file that appeared meanwhile is not replaced. */
function publish(disk: Disk, temporary: string, target: string, overwrite: boolean): void {
  const paths = databasePaths(target);
  if (!overwrite) disk.close(disk.open(target, "wx+"));
  for (const empty of [paths.wal, paths.shm, paths.journal]) disk.remove(empty);
  try {
    disk.rename(temporary, target);
  } catch (error) {
    if (!overwrite) disk.remove(target);
    throw error;
  }
  disk.syncDirectory(dirname(target));
}

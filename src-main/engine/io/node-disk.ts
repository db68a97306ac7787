import * as fs from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import type { Disk, FileDescriptor, FileStat } from "./disk.ts";
import { loadNative } from "./load-native.ts";
import { systemErrorName, toEngineError } from "./os-error.ts";

const COPY_CHUNK_BYTES = 2 * 1024 * 1024;
const COPIES_AT_ONCE = 3;
const read = promisify(fs.read);
const write = promisify(fs.write);
/** Node takes no more in one call. */
const CALL_BYTES_MAX = 1024 * 1024 * 1024;

/** Paths of open files, so that a failure can name the file. */
const paths = new Map<FileDescriptor, string>();

/** The disk of this machine, over Node's synchronous calls. */
export const nodeDisk: Disk = {
  open: (path, flags, mode = 0o644) =>
    attempt("open", path, () => {
      const file = fs.openSync(path, flags, mode);
      paths.set(file, path);
      return file;
    }),
  close: (file) =>
    attemptOn("close", file, () => {
      // Forgotten first: the number may be given to somebody else as soon as it is closed, even when that fails.
      paths.delete(file);
      fs.closeSync(file);
    }),
  read: (file, buffer, position) => attemptOn("read", file, () => readFully(file, buffer, position)),
  write: (file, buffer, position) => attemptOn("write", file, () => writeFully(file, buffer, position)),
  truncate: (file, size) => attemptOn("set the size of", file, () => fs.ftruncateSync(file, size)),
  sync: (file) => attemptOn("sync", file, () => fs.fdatasyncSync(file)),
  syncDirectory: (path) => attempt("sync the folder", path, () => syncDirectory(path)),
  statFile: (file) => attemptOn("stat", file, () => toFileStat(fs.fstatSync(file, { bigint: true }))),
  stat: (path) => attempt("stat", path, () => orWhenMissing(null, () => toFileStat(fs.statSync(path, { bigint: true })))),
  readWhole: (path) => attempt("read", path, () => fs.readFileSync(path)),
  rename: (from, to) => attempt("rename", `${from} to ${to}`, () => fs.renameSync(from, to)),
  link: (from, to) => attempt("link", `${from} to ${to}`, () => fs.linkSync(from, to)),
  remove: (path) =>
    attempt("remove", path, () =>
      orWhenMissing(false, () => {
        fs.unlinkSync(path);
        return true;
      }),
    ),
  removeTree: (path) => attempt("remove the folder", path, () => fs.rmSync(path, { recursive: true, force: true })),
  makeDirectory: (path) => attempt("make the folder", path, () => makeDirectory(path)),
  list: (path) => attempt("list the folder", path, () => orWhenMissing([], () => fs.readdirSync(path).toSorted())),
  setModified: (file, mtimeNs) => attemptOn("set the modification time of", file, () => setModified(file, mtimeNs)),
  setMode: (path, mode) => attempt("set the permissions of", path, () => fs.chmodSync(path, mode)),
  clone: (from, to) => attempt("clone", `${from} to ${to}`, () => cloneFile(from, to)),
  copy: (from, to, between) =>
    copyFile(from, to, between).catch((error: unknown) => {
      throw toEngineError("copy", `${from} to ${to}`, error);
    }),
  // The one of libc: a quarter of what walking the path in JavaScript takes.
  realPath: (path) => attempt("resolve", path, () => fs.realpathSync.native(path)),
  freeBytes: (path) =>
    attempt("ask for the free space of", path, () => {
      const { bavail, bsize } = fs.statfsSync(path);
      return bavail * bsize;
    }),
};

/**
 * With its parents, one by one: Node's own `recursive` goes round for ever where a parent is there and yet nothing can be
 * made in it (`/proc`).
 */
function makeDirectory(path: string): void {
  if (isDirectory(path)) return;
  try {
    fs.mkdirSync(path);
  } catch (error) {
    // Somebody else made it meanwhile.
    if (isDirectory(path)) return;
    const parent = dirname(path);
    if (systemErrorName(error) !== "ENOENT" || parent === path || isDirectory(parent)) throw error;
    makeDirectory(parent);
    makeDirectory(path);
  }
}

function isDirectory(path: string): boolean {
  return orWhenMissing(null, () => fs.statSync(path))?.isDirectory() ?? false;
}

function attempt<T>(operation: string, object: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw toEngineError(operation, object, error);
  }
}

function attemptOn<T>(operation: string, file: FileDescriptor, act: () => T): T {
  const path = paths.get(file) ?? `file ${file}`;
  return attempt(operation, path, act);
}

/** A path through something that is no folder leads nowhere, and so do links that go round in circles. */
function orWhenMissing<T, U>(missing: U, act: () => T): T | U {
  try {
    return act();
  } catch (error) {
    const name = systemErrorName(error);
    if (name === "ENOENT" || name === "ENOTDIR" || name === "ELOOP") return missing;
    throw error;
  }
}

function readFully(file: FileDescriptor, buffer: Uint8Array, position: number): number {
  let done = 0;
  while (done < buffer.length) {
    const count = fs.readSync(file, buffer, done, Math.min(buffer.length - done, CALL_BYTES_MAX), position + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}

function writeFully(file: FileDescriptor, buffer: Uint8Array, position: number): void {
  for (let done = 0; done < buffer.length;) {
    done += fs.writeSync(file, buffer, done, Math.min(buffer.length - done, CALL_BYTES_MAX), position + done);
  }
}

function toFileStat(stat: fs.BigIntStats): FileStat {
  return {
    device: stat.dev,
    inode: stat.ino,
    kind: stat.isFile() ? "file" : stat.isDirectory() ? "directory" : "other",
    size: Number(stat.size),
    allocated: Number(stat.blocks) * 512,
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
    mode: Number(stat.mode) & 0o7777,
    links: Number(stat.nlink),
  };
}

function syncDirectory(path: string): void {
  // Windows has no such call: a rename there is as durable as it gets.
  if (process.platform === "win32") return;
  const folder = fs.openSync(path, "r");
  try {
    fs.fsyncSync(folder);
  } finally {
    fs.closeSync(folder);
  }
}

/** Node takes seconds as a double, which is exact to about 240 ns today: callers record what stat says afterwards. */
function setModified(file: FileDescriptor, mtimeNs: bigint): void {
  const { atimeNs } = fs.fstatSync(file, { bigint: true });
  fs.futimesSync(file, Number(atimeNs) / 1e9, Number(mtimeNs) / 1e9);
}

function cloneFile(from: string, to: string): boolean {
  const source = fs.openSync(from, "r");
  try {
    return loadNative().cloneToPath(source, to);
  } finally {
    fs.closeSync(source);
  }
}

async function copyFile(from: string, to: string, between?: () => Promise<void>): Promise<void> {
  const source = fs.openSync(from, "r");
  try {
    const target = fs.openSync(to, "wx", 0o644);
    try {
      await inTurns(() => copyBytes(source, target, between)).finally(() => fs.closeSync(target));
    } catch (error) {
      fs.rmSync(to, { force: true });
      throw error;
    }
  } finally {
    fs.closeSync(source);
  }
}

/** Reads and writes on threads of libuv. Chunks of nothing but zeros become holes. */
async function copyBytes(source: FileDescriptor, target: FileDescriptor, between?: () => Promise<void>): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.min(COPY_CHUNK_BYTES, Math.max(1, fs.fstatSync(source).size)));
  let position = 0;
  for (;;) {
    const { bytesRead } = await read(source, buffer, 0, buffer.length, position);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    for (let done = isZero(chunk) ? bytesRead : 0; done < bytesRead;) {
      const { bytesWritten } = await write(target, chunk, done, bytesRead - done, position + done);
      done += bytesWritten;
    }
    position += bytesRead;
    await between?.();
  }
  fs.ftruncateSync(target, position);
}

let copying = 0;
const waitingCopies: (() => void)[] = [];

/** Few at a time: there are four threads, and others want them as well. */
async function inTurns<T>(act: () => Promise<T>): Promise<T> {
  if (copying === COPIES_AT_ONCE) await new Promise<void>((settle) => waitingCopies.push(settle));
  else copying += 1;
  try {
    return await act();
  } finally {
    const next = waitingCopies.shift();
    if (next) next();
    else copying -= 1;
  }
}

/** Every byte equals its neighbour, and the first is zero: one memcmp. */
function isZero(chunk: Buffer): boolean {
  return chunk[0] === 0 && chunk.subarray(1).equals(chunk.subarray(0, -1));
}

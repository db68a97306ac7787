/** What the same durability or the same bytes cost without us: the limits that figures stand next to. */
import { spawnSync } from "node:child_process";
import {
  closeSync,
  constants,
  copyFileSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { loadNative } from "#engine/io/load-native.ts";

const LINE_BYTES = 300;
const PAGE_BYTES = 4096;
const CHUNK_BYTES = 1024 * 1024;

/**
 * The least that durability costs here: 300 bytes appended to a file, and fdatasync. With `reservedBytes` the file has its
 * blocks already and the append stays within them.
 */
export class AppendLog {
  readonly #file: number;
  readonly #line = Buffer.alloc(LINE_BYTES, "x");
  readonly #reservedBytes: number;
  #position = 0;

  constructor(path: string, reservedBytes = 0) {
    this.#file = openSync(path, "w");
    this.#reservedBytes = reservedBytes;
    if (reservedBytes > 0) {
      writeSync(this.#file, Buffer.alloc(reservedBytes), 0, reservedBytes, 0);
      fdatasyncSync(this.#file);
    }
  }

  readonly append = (): void => {
    if (this.#reservedBytes > 0 && this.#position + LINE_BYTES > this.#reservedBytes) this.#position = 0;
    writeSync(this.#file, this.#line, 0, LINE_BYTES, this.#position);
    this.#position += LINE_BYTES;
    fdatasyncSync(this.#file);
  };

  close(): void {
    closeSync(this.#file);
  }
}

/** Writes so many pages far from each other into a file of its own, and fdatasync. */
export class PageWriter {
  readonly #file: number;
  readonly #page = Buffer.alloc(PAGE_BYTES, "x");
  readonly #pages: number;

  constructor(path: string, pages: number) {
    this.#file = openSync(path, "w");
    this.#pages = pages;
  }

  readonly write = (): void => {
    for (let number = 0; number < this.#pages; number += 1) writeSync(this.#file, this.#page, 0, PAGE_BYTES, number * 400 * PAGE_BYTES);
    fdatasyncSync(this.#file);
  };

  close(): void {
    closeSync(this.#file);
  }
}

/**
 * Reads a whole file and hashes its pages with the threads that the engine would use: a comparison of last resort. Not for
 * a file on which this process has an SQLite connection: closing it would drop that connection's locks.
 */
export function hashFile(path: string): void {
  const file = openSync(path, "r");
  try {
    hashOpenFile(file);
  } finally {
    closeSync(file);
  }
}

/** The same for a descriptor that stays open as long as any connection does. */
export function hashOpenFile(file: number): void {
  const native = loadNative();
  const chunk = Buffer.alloc(4 * CHUNK_BYTES);
  for (let position = 0; ;) {
    const length = readSync(file, chunk, 0, chunk.length, position);
    if (length === 0) return;
    native.hashPages(chunk.subarray(0, length - (length % PAGE_BYTES)), PAGE_BYTES);
    position += length;
  }
}

/** A byte copy in stretches of 1 MB: shares no block, whatever the filesystem can. */
export function copyBytes(from: string, to: string, durability: "sync" | "no sync"): void {
  const source = openSync(from, "r");
  try {
    const target = openSync(to, "w");
    try {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      for (let position = 0; ;) {
        const length = readSync(source, chunk, 0, chunk.length, position);
        if (length === 0) break;
        writeSync(target, chunk, 0, length, position);
        position += length;
      }
      if (durability === "sync") fsyncSync(target);
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

/** Throws where the filesystem cannot share blocks. */
export function reflink(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE_FORCE);
}

/** The program `cp`, made to copy the bytes where it would share them. */
export class Cp {
  readonly #options: readonly string[];

  constructor() {
    const { stdout } = spawnSync("cp", ["--version"], { encoding: "utf8" });
    this.#options = /coreutils/.test(stdout ?? "") ? ["--reflink=never"] : [];
  }

  copy(from: string, to: string): void {
    runProgram("cp", [...this.#options, "--", from, to]);
  }
}

/** Standard output. Throws with what the program said when it fails. */
export function runProgram(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): string {
  const { status, stdout, stderr, error, signal } = spawnSync(program, args, { encoding: "utf8", env, maxBuffer: 16 * CHUNK_BYTES });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status ?? signal}: ${(stderr || stdout).trim()}`);
  return stdout;
}

/** Drops a file's pages from the system's cache. Throws where there is no GNU `dd`. */
export function dropFromCache(path: string): void {
  runProgram("dd", [`of=${path}`, "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"]);
}

/** Why the cache cannot be emptied of single files here, or null. */
export function missingCacheDrop(folder: string): string | null {
  const path = join(folder, "cache-probe");
  try {
    writeFileSync(path, "x");
    dropFromCache(path);
    return null;
  } catch {
    return "Files leave the system's cache by GNU dd, which is not there";
  } finally {
    rmSync(path, { force: true });
  }
}

export function removeDatabase(path: string): void {
  for (const ending of ["", "-wal", "-shm", "-journal"]) rmSync(path + ending, { force: true });
}

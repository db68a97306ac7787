/**
 * Counts what the engine does, so that a test can say how much of it a verb may cost: calls of the disk port, page hashes
 * of the native port, statements, rows and durable commits of the catalog, frames of pages that are decoded.
 */
import { relative, sep } from "node:path";
import { onTestFinished } from "vitest";
import { Connection } from "#engine/catalog/connection.ts";
import type { Disk, FileDescriptor } from "#engine/io/disk.ts";
import { loadNative } from "#engine/io/load-native.ts";
import type { Native } from "#engine/io/native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { SegmentReader } from "#engine/segments/segment-reader.ts";
import type { StorePorts } from "#engine/store.ts";

export interface Work {
  /** fdatasync and fsync by us. SQLite's own on the catalog are `commits`. */
  syncs: number;
  /** Commits of the catalog that wait for the disk: one fdatasync each, as a test with strace shows. */
  commits: number;
  /** Commits that do not: facts about checkouts. */
  lazyCommits: number;
  statements: number;
  /** Rows that statements returned. */
  rows: number;
  filesOpened: number;
  filesCreated: number;
  filesRenamed: number;
  filesCloned: number;
  filesCopied: number;
  /** Bytes that we read and wrote. SQLite's own are left out, and the names of holders in lock files. */
  bytesRead: number;
  bytesWritten: number;
  pagesHashed: number;
  framesDecoded: number;
}

export const NO_WORK: Readonly<Work> = {
  syncs: 0,
  commits: 0,
  lazyCommits: 0,
  statements: 0,
  rows: 0,
  filesOpened: 0,
  filesCreated: 0,
  filesRenamed: 0,
  filesCloned: 0,
  filesCopied: 0,
  bytesRead: 0,
  bytesWritten: 0,
  pagesHashed: 0,
  framesDecoded: 0,
};

export class WorkCounter {
  readonly ports: StorePorts = { disk: this.#countDisk(nodeDisk), native: this.#countNative(loadNative()) };
  #work: Work = { ...NO_WORK };
  #paths = new Map<FileDescriptor, string>();
  /** Files that were read or written, for looking at where work comes from. */
  readonly #touched = new Set<string>();

  constructor() {
    this.#countCatalog();
    this.#countFrames();
  }

  /** What `act` costs, from its call until it has settled. */
  async of(act: () => unknown): Promise<Work> {
    this.#work = { ...NO_WORK };
    this.#touched.clear();
    await act();
    return { ...this.#work };
  }

  /** Files that the last `of` read or wrote, from a folder on. */
  touched(folder: string): string[] {
    return [...this.#touched].map((path) => relative(folder, path).split(sep).join("/")).toSorted();
  }

  #countDisk(inner: Disk): Disk {
    const transfer = (file: FileDescriptor, kind: "bytesRead" | "bytesWritten", bytes: number) => {
      const path = this.#paths.get(file) ?? `file ${file}`;
      if (path.endsWith(".lock")) return;
      this.#work[kind] += bytes;
      this.#touched.add(path);
    };
    return {
      ...inner,
      open: (path, flags, mode) => {
        const file = inner.open(path, flags, mode);
        this.#paths.set(file, path);
        if (flags === "w+" || flags === "wx+") this.#work.filesCreated += 1;
        else this.#work.filesOpened += 1;
        return file;
      },
      read: (file, buffer, position) => {
        const bytes = inner.read(file, buffer, position);
        transfer(file, "bytesRead", bytes);
        return bytes;
      },
      readWhole: (path) => {
        const bytes = inner.readWhole(path);
        this.#work.bytesRead += bytes.length;
        this.#touched.add(path);
        return bytes;
      },
      write: (file, buffer, position) => {
        inner.write(file, buffer, position);
        transfer(file, "bytesWritten", buffer.length);
      },
      sync: (file) => {
        inner.sync(file);
        this.#work.syncs += 1;
      },
      syncDirectory: (path) => {
        inner.syncDirectory(path);
        this.#work.syncs += 1;
      },
      rename: (from, to) => {
        inner.rename(from, to);
        this.#work.filesRenamed += 1;
      },
      clone: (from, to) => {
        this.#work.filesCloned += 1;
        return inner.clone(from, to);
      },
      copy: (from, to, between) => {
        this.#work.filesCopied += 1;
        return inner.copy(from, to, between);
      },
    };
  }

  #countNative(inner: Native): Native {
    return {
      ...inner,
      facilities: () => inner.facilities(),
      hashPages: (pages, pageSize) => {
        this.#work.pagesHashed += pages.length / pageSize;
        return inner.hashPages(pages, pageSize);
      },
    };
  }

  #countCatalog(): void {
    const { get, all, run, iterate, commit } = Connection.prototype;
    const seeRow = () => (this.#work.rows += 1);
    const count = (rows: number) => {
      this.#work.statements += 1;
      this.#work.rows += rows;
    };
    const countCommit = (connection: Connection) => {
      // 2 is FULL, and EXTRA more.
      if (Number(connection.pragma("synchronous")) >= 2) this.#work.commits += 1;
      else this.#work.lazyCommits += 1;
    };
    replace("get", function <Row>(this: Connection, ...input: Parameters<Connection["get"]>) {
      const row = (get<Row>).apply(this, input);
      count(row === undefined ? 0 : 1);
      return row;
    });
    replace("all", function <Row>(this: Connection, ...input: Parameters<Connection["all"]>) {
      const rows = (all<Row>).apply(this, input);
      count(rows.length);
      return rows;
    });
    replace("run", function (this: Connection, ...input: Parameters<Connection["run"]>) {
      count(0);
      if (input[0] === "COMMIT") countCommit(this);
      return run.apply(this, input);
    });
    replace("iterate", function* <Row>(this: Connection, ...input: Parameters<Connection["iterate"]>) {
      count(0);
      for (const row of (iterate<Row>).apply(this, input)) {
        seeRow();
        yield row;
      }
    });
    replace("commit", function (this: Connection) {
      count(0);
      countCommit(this);
      commit.apply(this);
    });
  }

  #countFrames(): void {
    const { decodeFrame, decodeRun } = SegmentReader.prototype;
    const count = (frames: number) => (this.#work.framesDecoded += frames);
    replaceDecoder("decodeFrame", function (this: SegmentReader, ...input) {
      count(1);
      return decodeFrame.apply(this, input);
    });
    replaceDecoder("decodeRun", function (this: SegmentReader, ...input) {
      count(input[0].length);
      return decodeRun.apply(this, input);
    });
  }
}

/** For the rest of the test. */
function replace<K extends "get" | "all" | "run" | "iterate" | "commit">(name: K, by: Connection[K]): void {
  const own = Connection.prototype[name];
  Connection.prototype[name] = by;
  onTestFinished(() => {
    Connection.prototype[name] = own;
  });
}

function replaceDecoder<K extends "decodeFrame" | "decodeRun">(name: K, by: SegmentReader[K]): void {
  const own = SegmentReader.prototype[name];
  SegmentReader.prototype[name] = by;
  onTestFinished(() => {
    SegmentReader.prototype[name] = own;
  });
}

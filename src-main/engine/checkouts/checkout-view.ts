import { EngineError } from "../io/errors.ts";
import type { Disk, FileDescriptor, FileStat } from "../io/disk.ts";
import { newestFrames, readWal, walFrameOffset, WAL_FRAME_HEADER_BYTES, type WalContent } from "../format/wal.ts";
import { normalisePage1, parseSqliteHeader, SQLITE_HEADER_BYTES } from "../format/sqlite-header.ts";
import type { PageSource } from "../segments/page-source.ts";
import { sidePaths } from "./side-files.ts";

/**
 * A checkout's pages as a client would read them now: the newest committed frame of the WAL, else the main file. Valid
 * while writers are kept out; a sqliteCheckpoint meanwhile moves frames to where they are read anyway.
 */
export class CheckoutView implements PageSource {
  readonly pageSize: number;
  readonly pageCount: number;
  readonly changeCounter: number;
  readonly wal: WalContent | null;
  readonly #disk: Disk;
  readonly #main: FileDescriptor;
  readonly #walFile: FileDescriptor | null;
  readonly #frames: Map<number, number>;

  /** Throws `checkout-corrupt` when it is no database. `main` stays the caller's. */
  constructor(disk: Disk, path: string, main: FileDescriptor) {
    this.#disk = disk;
    this.#main = main;
    const stat = disk.statFile(main);
    this.#walFile = openWal(disk, path, stat);
    try {
      const wal = this.#walFile === null ? null : readWal(disk, this.#walFile);
      this.wal = wal && wal.framePages.length > 0 ? wal : null;
      this.#frames = this.wal ? newestFrames(this.wal) : new Map();
      const shape = this.#shape(path, stat.size);
      this.pageSize = shape.pageSize;
      this.pageCount = shape.pageCount;
      this.changeCounter = shape.changeCounter;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Fills whole pages from `first` on; page 1 normalised, what lies beyond the file's end zero (as SQLite reads it). */
  readPages(first: number, buffer: Uint8Array): void {
    const { pageSize } = this;
    const filled = this.#disk.read(this.#main, buffer, (first - 1) * pageSize);
    buffer.fill(0, filled);
    if (this.#frames.size > 0) {
      for (let at = 0; at < buffer.length; at += pageSize) this.#overlay(first + at / pageSize, buffer.subarray(at, at + pageSize));
    }
    if (first === 1 && buffer.length > 0) normalisePage1(buffer.subarray(0, pageSize));
  }

  /** The main file, for who reads it past this view: pages of `framePages` and page 1 are not there as clients see them. */
  get main(): FileDescriptor {
    return this.#main;
  }

  /** Pages that the WAL has. */
  framePages(): Iterable<number> {
    return this.#frames.keys();
  }

  hasFrame(pageNumber: number): boolean {
    return this.#frames.has(pageNumber);
  }

  close(): void {
    if (this.#walFile !== null) this.#disk.close(this.#walFile);
  }

  #overlay(pageNumber: number, page: Uint8Array): void {
    const frame = this.#frames.get(pageNumber);
    if (frame !== undefined) this.#readFrame(frame, page);
  }

  #readFrame(frame: number, bytes: Uint8Array): number {
    if (this.#walFile === null || this.wal === null) return 0;
    return this.#disk.read(this.#walFile, bytes, walFrameOffset(this.wal.header.pageSize, frame) + WAL_FRAME_HEADER_BYTES);
  }

  #shape(path: string, fileBytes: number): { pageSize: number; pageCount: number; changeCounter: number } {
    // An empty file is an empty database, and SQLite ignores a WAL beside it.
    if (fileBytes === 0) return { pageSize: 0, pageCount: 0, changeCounter: 0 };
    const start = new Uint8Array(SQLITE_HEADER_BYTES);
    const frame = this.#frames.get(1);
    const filled = frame === undefined ? this.#disk.read(this.#main, start, 0) : this.#readFrame(frame, start);
    const header = parseSqliteHeader(start.subarray(0, filled));
    if (typeof header === "string") throw checkoutCorrupt(path, header);
    const { pageSize, changeCounter } = header;
    if (this.wal) {
      if (this.wal.header.pageSize !== pageSize)
        throw checkoutCorrupt(path, `its pages have ${pageSize} bytes, those of its WAL ${this.wal.header.pageSize}`);
      return { pageSize, pageCount: this.wal.pageCount, changeCounter };
    }
    const filePages = Math.ceil(fileBytes / pageSize);
    if (header.pageCount > filePages) throw checkoutCorrupt(path, `it should have ${header.pageCount} pages and has ${filePages}`);
    return { pageSize, pageCount: header.pageCount === 0 ? filePages : header.pageCount, changeCounter };
  }
}

export function checkoutCorrupt(path: string, found: string, cause?: unknown): EngineError {
  return new EngineError("checkout-corrupt", `Cannot read ${path} as a SQLite database: ${found}`, {
    hint: "Put the right file back, or move this one away: checkout then makes the branch's version anew.",
    untouched: `${path} is as it was found.`,
    details: { path, found },
    cause,
  });
}

function openWal(disk: Disk, path: string, main: FileStat): FileDescriptor | null {
  const { wal } = sidePaths(path);
  const stat = disk.stat(wal);
  return main.size === 0 || stat === null || stat.size === 0 ? null : disk.open(wal, "r");
}

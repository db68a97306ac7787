import { normalisePage1 } from "../format/sqlite-header.ts";
import type { Disk, FileDescriptor } from "../io/disk.ts";
import type { PageSource } from "../segments/page-source.ts";

/** The pages of a database file at rest (no WAL, no journal), as `prepareImport` leaves it. */
export class FilePages implements PageSource {
  readonly pageSize: number;
  readonly pageCount: number;
  readonly #disk: Disk;
  readonly #file: FileDescriptor;

  /** No SQLite connection may be open on the file until `close`: its locks would go with the descriptor. */
  constructor(disk: Disk, path: string, size: { readonly pageSize: number; readonly pageCount: number }) {
    this.pageSize = size.pageSize;
    this.pageCount = size.pageCount;
    this.#disk = disk;
    this.#file = disk.open(path, "r");
  }

  readPages(first: number, buffer: Uint8Array): void {
    const read = this.#disk.read(this.#file, buffer, (first - 1) * this.pageSize);
    buffer.fill(0, read);
    if (first === 1) normalisePage1(buffer);
  }

  close(): void {
    this.#disk.close(this.#file);
  }
}

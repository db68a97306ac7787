/** One state of a database as its pages mean it: header, b-tree pages, payloads. Nothing of it is trusted. */
import { assert } from "#shared/assert.ts";
import { LIMITS } from "#shared/limits.ts";
import { BtreePage, readUint32, type Cell, type FailPage } from "../format/btree-page.ts";
import { lockPageNumber, parseSqliteHeader, stampPage1, type SqliteHeader } from "../format/sqlite-header.ts";
import { EngineError } from "../io/errors.ts";
import type { PagesAhead } from "../segments/chain-reader.ts";
import type { PageDonor, PageNeed } from "../segments/pages-ahead.ts";
import type { PageSource } from "../segments/page-source.ts";

/** Where a cell is: page number × 65,536 + position among the page's cells. */
export type CellPlace = number;

const CELLS_A_PAGE = 65_536;

export class DatabasePages {
  /** What users call it: "shop@main". */
  readonly name: string;
  readonly header: SqliteHeader;
  readonly pageSize: number;
  readonly pageCount: number;
  /** Bytes of a page without those reserved. */
  readonly usable: number;
  readonly #source: PageSource;
  readonly #lockPage: number;
  /** Pages that are kept in memory. */
  readonly pagesKept: number;
  readonly #cached = new Map<number, Uint8Array>();
  #parsed: BtreePage | null = null;
  #cell: { readonly place: CellPlace; readonly cell: Cell } | null = null;

  /** Files that may have pages of it as they are. */
  readonly findDonors: () => readonly PageDonor[];

  /** Throws `database-corrupt` when page 1 is none. */
  constructor(name: string, source: PageSource, findDonors: () => readonly PageDonor[] = () => []) {
    this.findDonors = findDonors;
    this.name = name;
    this.#source = source;
    this.pageSize = source.pageSize;
    this.pageCount = source.pageCount;
    this.#lockPage = lockPageNumber(source.pageSize);
    this.pagesKept = Math.max(16, Math.floor(LIMITS.diffPageCacheBytes / source.pageSize));
    if (source.pageCount === 0) throw corrupt(name, "no page", "page 1");
    const first = this.#read(1).slice();
    // Journal mode and change counter are no content, and zero in a page as it is stored.
    stampPage1(first, { journal: "wal", changeCounter: 1 });
    const header = parseSqliteHeader(first);
    if (typeof header === "string") throw corrupt(name, header, "the header of a SQLite database");
    if (header.pageSize !== source.pageSize) throw corrupt(name, `page size ${header.pageSize}`, `${source.pageSize}`);
    this.header = header;
    this.usable = source.pageSize - header.reservedBytes;
  }

  /** Bytes of a page: not to be changed. Throws `database-corrupt` for a number that no page has. */
  bytes(pageNumber: number): Uint8Array {
    if (!(pageNumber >= 1 && pageNumber <= this.pageCount) || pageNumber === this.#lockPage)
      throw corrupt(this.name, `a reference to page ${pageNumber}`, `one of ${this.pageCount} pages`);
    return this.#read(pageNumber);
  }

  /** Reads pages that will be asked for together: of a version that costs far less than one by one. Numbers of no page are left out. */
  prefetch(numbers: readonly number[]): void {
    const missing = this.missing(numbers);
    if (missing.length > 1) this.take(missing, new Map());
  }

  /** Those of these numbers, each once, of which there are pages that are not in memory. */
  missing(numbers: Iterable<number>): Uint32Array {
    const missing = new Set<number>();
    for (const number of numbers)
      if (number >= 1 && number <= this.pageCount && number !== this.#lockPage && !this.#cached.has(number)) missing.add(number);
    return Uint32Array.from(missing);
  }

  /** What reading these pages needs of stored versions. */
  needs(numbers: Uint32Array): readonly PageNeed[] {
    return this.#source.needs?.(numbers) ?? [];
  }

  /** Reads missing pages into memory, with the help of what is known of them (`pages-ahead.ts`). */
  take(numbers: Uint32Array, ahead: PagesAhead): void {
    const bytes = new Uint8Array(numbers.length * this.pageSize);
    if (this.#source.readScattered) this.#source.readScattered(numbers, bytes, ahead);
    else for (const [index, number] of numbers.entries()) this.#source.readPages(number, this.#part(bytes, index));
    for (const [index, number] of numbers.entries()) this.#keep(number, this.#part(bytes, index));
  }

  /** Throws `database-corrupt` when it is no b-tree page. */
  page(pageNumber: number): BtreePage {
    if (this.#parsed?.number === pageNumber) return this.#parsed;
    const page = new BtreePage(pageNumber, this.bytes(pageNumber), this.usable, this.failAt(pageNumber));
    this.#parsed = page;
    return page;
  }

  failAt(pageNumber: number): FailPage {
    return (found, expected) => {
      throw corrupt(this.name, `${found} on page ${pageNumber}`, expected);
    };
  }

  /** Read once: its key, its bytes and its values are asked for one after another. */
  cell(place: CellPlace): Cell {
    if (this.#cell?.place === place) return this.#cell.cell;
    const cell = this.page(Math.floor(place / CELLS_A_PAGE)).cellAt(place % CELLS_A_PAGE);
    this.#cell = { place, cell };
    return cell;
  }

  /** The whole payload. Long ones are joined from their overflow pages: exactly as many as their size asks for. */
  payload(cell: Cell, place: CellPlace): Uint8Array {
    if (cell.overflow === 0) return cell.local;
    const fail = this.failAt(Math.floor(place / CELLS_A_PAGE));
    // Before anything is allocated: a size may be any number.
    if (cell.payloadBytes > this.pageCount * this.pageSize) fail(`a payload of ${cell.payloadBytes} bytes`, "less than the file has");
    const payload = new Uint8Array(cell.payloadBytes);
    payload.set(cell.local);
    let position = cell.local.length;
    for (const pageNumber of this.overflowPages(cell, place)) {
      const part = this.bytes(pageNumber).subarray(4, Math.min(this.usable, 4 + cell.payloadBytes - position));
      payload.set(part, position);
      position += part.length;
    }
    assert(position === cell.payloadBytes, "the list of overflow pages is as long as the payload");
    return payload;
  }

  /** Numbers of a cell's overflow pages, in order. A list that ends early or goes on is `database-corrupt`. */
  *overflowPages(cell: Cell, place: CellPlace): Generator<number, void> {
    const owner = Math.floor(place / CELLS_A_PAGE);
    let left = Math.ceil((cell.payloadBytes - cell.local.length) / (this.usable - 4));
    let next = cell.overflow;
    if (left > this.pageCount) this.failAt(owner)(`a payload of ${cell.payloadBytes} bytes`, "less than the file has");
    while (left > 0) {
      if (next === 0) this.failAt(owner)("a payload whose overflow pages end early", `${left} more`);
      const bytes = this.bytes(next);
      yield next;
      next = readUint32(bytes, 0);
      left -= 1;
    }
  }

  #read(pageNumber: number): Uint8Array {
    const cached = this.#cached.get(pageNumber);
    if (cached) {
      this.#cached.delete(pageNumber);
      this.#cached.set(pageNumber, cached);
      return cached;
    }
    const bytes = new Uint8Array(this.pageSize);
    this.#source.readPages(pageNumber, bytes);
    this.#keep(pageNumber, bytes);
    return bytes;
  }

  #keep(pageNumber: number, bytes: Uint8Array): void {
    this.#cached.set(pageNumber, bytes);
    if (this.#cached.size <= this.pagesKept) return;
    const [oldest] = this.#cached.keys();
    if (oldest !== undefined) this.#cached.delete(oldest);
  }

  #part(bytes: Uint8Array, index: number): Uint8Array {
    return bytes.subarray(index * this.pageSize, (index + 1) * this.pageSize);
  }
}

export function placeOf(pageNumber: number, index: number): CellPlace {
  return pageNumber * CELLS_A_PAGE + index;
}

export function pageOf(place: CellPlace): number {
  return Math.floor(place / CELLS_A_PAGE);
}

/** Says that the content of a database is damaged, as it is stored or as it was imported. */
export function corrupt(name: string, found: string, expected: string): EngineError {
  return new EngineError("database-corrupt", `Cannot read ${name}: found ${found}, expected ${expected}`, {
    hint: "SQLite's PRAGMA integrity_check says more about the file",
    untouched: "Nothing was changed.",
    details: { found, expected },
  });
}

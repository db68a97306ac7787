import { readUint32 } from "../format/btree-page.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import type { DatabasePages } from "./database-pages.ts";
import { PageSet } from "./page-set.ts";

/** Pages on the freelist: their content is left over and means nothing. Source: "The Freelist" in the file format. */
export function readFreePages(pages: DatabasePages): PageSet {
  const free = new PageSet(pages.pageCount);
  let trunk = readUint32(pages.bytes(1), 32);
  while (trunk !== 0) {
    const bytes = pages.bytes(trunk);
    if (!free.add(trunk)) pages.failAt(trunk)("a freelist that goes round in a circle", "an end");
    const count = readUint32(bytes, 4);
    if (count > pages.usable / 4 - 2) pages.failAt(trunk)(`${count} free pages`, `at most ${Math.floor(pages.usable / 4 - 2)}`);
    for (let index = 0; index < count; index += 1) free.add(readUint32(bytes, 8 + 4 * index));
    trunk = readUint32(bytes, 0);
  }
  return free;
}

/** Where pointer maps are, in a database with auto_vacuum. Source: "Pointer Map or Ptrmap Pages" in the file format. */
export class PointerMap {
  readonly #pages: DatabasePages;
  readonly #stride: number;
  readonly #lockPage: number;

  constructor(pages: DatabasePages) {
    this.#pages = pages;
    this.#stride = Math.floor(pages.usable / 5) + 1;
    this.#lockPage = lockPageNumber(pages.pageSize);
  }

  get exists(): boolean {
    return this.#pages.header.autoVacuum !== "none";
  }

  isMapPage(pageNumber: number): boolean {
    return this.exists && pageNumber >= 2 && this.#mapOf(pageNumber) === pageNumber;
  }

  /** What points at a page: the kind of its entry (3 first overflow page, 4 later one, 5 b-tree page, …) and where from. */
  entry(pageNumber: number): { readonly kind: number; readonly parent: number } {
    const map = this.#mapOf(pageNumber);
    const position = 5 * (pageNumber - map - 1);
    const bytes = this.#pages.bytes(map);
    return { kind: bytes[position] ?? 0, parent: readUint32(bytes, position + 1) };
  }

  #mapOf(pageNumber: number): number {
    const map = Math.floor((pageNumber - 2) / this.#stride) * this.#stride + 2;
    return map === this.#lockPage ? map + 1 : map;
  }
}

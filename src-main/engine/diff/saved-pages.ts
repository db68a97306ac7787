import type { PageBatch } from "../format/page-batch.ts";
import type { Disk, FileDescriptor } from "../io/disk.ts";
import type { PagesAhead } from "../segments/chain-reader.ts";
import type { PageNeed } from "../segments/pages-ahead.ts";
import type { PageSource } from "../segments/page-source.ts";

/** Some pages kept in a temporary file, over a version that has the others. */
export class SavedPages implements PageSource {
  readonly pageSize: number;
  readonly pageCount: number;
  readonly #disk: Disk;
  readonly #path: string;
  readonly #file: FileDescriptor;
  readonly #below: PageSource | null;
  /** Page number → position in the file, in pages. */
  readonly #places = new Map<number, number>();

  constructor(
    { disk }: { readonly disk: Disk },
    path: string,
    size: { readonly pageSize: number; readonly pageCount: number },
    below: PageSource | null,
  ) {
    this.pageSize = size.pageSize;
    this.pageCount = size.pageCount;
    this.#disk = disk;
    this.#path = path;
    this.#below = below;
    this.#file = disk.open(path, "wx+", 0o600);
  }

  add({ numbers, bytes }: PageBatch): void {
    const first = this.#places.size;
    this.#disk.write(this.#file, bytes, first * this.pageSize);
    for (const [index, number] of numbers.entries()) this.#places.set(number, first + index);
  }

  has(pageNumber: number): boolean {
    return this.#places.has(pageNumber);
  }

  numbers(): Iterable<number> {
    return this.#places.keys();
  }

  readPages(first: number, buffer: Uint8Array): void {
    for (let index = 0; index * this.pageSize < buffer.length; index += 1) {
      const target = buffer.subarray(index * this.pageSize, (index + 1) * this.pageSize);
      const place = this.#places.get(first + index);
      if (place !== undefined) this.#disk.read(this.#file, target, place * this.pageSize);
      else if (this.#below && first + index <= this.#below.pageCount) this.#below.readPages(first + index, target);
      else target.fill(0);
    }
  }

  readScattered(numbers: Uint32Array, buffer: Uint8Array, ahead?: PagesAhead): void {
    const part = (index: number) => buffer.subarray(index * this.pageSize, (index + 1) * this.pageSize);
    const below = this.#numbersBelow(numbers);
    const bytes = new Uint8Array(below.length * this.pageSize);
    if (this.#below?.readScattered) this.#below.readScattered(below, bytes, ahead);
    else
      for (const [index, number] of below.entries())
        this.#below?.readPages(number, bytes.subarray(index * this.pageSize, (index + 1) * this.pageSize));
    let next = 0;
    for (const [index, number] of numbers.entries()) {
      if (below[next] !== number) this.readPages(number, part(index));
      else {
        part(index).set(bytes.subarray(next * this.pageSize, (next + 1) * this.pageSize));
        next += 1;
      }
    }
  }

  needs(numbers: Uint32Array): readonly PageNeed[] {
    return this.#below?.needs?.(this.#numbersBelow(numbers)) ?? [];
  }

  #numbersBelow(numbers: Uint32Array): Uint32Array {
    const pagesBelow = this.#below?.pageCount ?? 0;
    return numbers.filter((number) => number <= pagesBelow && !this.#places.has(number));
  }

  close(): void {
    this.#disk.close(this.#file);
    this.#disk.remove(this.#path);
  }
}

import { lockPageNumber } from "../format/sqlite-header.ts";
import type { Native } from "../io/native.ts";
import type { CheckoutView } from "./checkout-view.ts";

const HASH_BYTES = 16;
/** Of each page's hash, the last ones are kept. */
export const LOW_HASH_BYTES = 8;

/**
 * Those of `pages` that, as a client reads them, do not have the hash in `expected`: 8 bytes a page, from page 1 on; pages
 * that it has nothing for are all among them, the lock page never. Ascending when `pages` are.
 */
export function pagesThatDiffer(native: Native, view: CheckoutView, pages: Iterable<number>, expected: Uint8Array): number[] {
  const page = new Uint8Array(view.pageSize);
  const lockPage = lockPageNumber(view.pageSize);
  const found: number[] = [];
  for (const number of pages) {
    if (number === lockPage) continue;
    view.readPages(number, page);
    const low = native.hashPages(page, view.pageSize).subarray(HASH_BYTES - LOW_HASH_BYTES);
    const at = (number - 1) * LOW_HASH_BYTES;
    if (Buffer.compare(low, expected.subarray(at, at + LOW_HASH_BYTES)) !== 0) found.push(number);
  }
  return found;
}

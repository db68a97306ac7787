/** Ways in which a file comes to be: told apart by what the checkout says it did. */
import Database from "better-sqlite3";
import type { Store } from "#engine/store.ts";
import type { Bench } from "../suite.ts";
import { MAIN } from "./stores.ts";

export const WAYS = ["pool", "cloned", "copied", "rebuilt"] as const;
export type Way = (typeof WAYS)[number];

export const WAY_TITLES: Readonly<Record<Way, string>> = {
  pool: "from the warm pool",
  cloned: "cloned from a file that is there",
  copied: "copied from a file that is there",
  rebuilt: "made from segments",
};

/** By the words of the checkout's result, whatever was patched afterwards. Null when no file was made. */
export function wayOf(result: string): Way | null {
  if (/\bpool\b/.test(result)) return "pool";
  return WAYS.find((way) => result.startsWith(way)) ?? null;
}

/** Milliseconds of a checkout that makes a file, recorded under the way in which it was made. */
export async function recordByWay(
  bench: Bench,
  store: Store,
  { branch, seriesOf }: { readonly branch: string; readonly seriesOf: (way: Way) => string },
): Promise<Way | null> {
  const start = performance.now();
  const { checkout } = await store.checkout({ database: MAIN.database, branch });
  const ms = performance.now() - start;
  const way = wayOf(checkout);
  if (way) bench.record(seriesOf(way), ms);
  return way;
}

/** Opens a file as a stock client would, asks it one thing, and closes it. */
export function openAndAsk(path: string): void {
  const client = new Database(path);
  try {
    client.prepare("SELECT count(*) FROM small").get();
  } finally {
    client.close();
  }
}

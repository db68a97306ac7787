/** The database that workloads and microbenchmarks start from: made once a run, and the same bytes for each of them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BenchSize } from "#shared/bench-views.ts";
import type { Bench } from "../suite.ts";
import { generate, identify } from "./generate.ts";
import { FOREIGN_KEYS, SCALES } from "./schema.ts";

const MEBIBYTE = 1024 * 1024;

/** What the database of a run had when it was made, by path. */
const hashes = new Map<string, string>();

/** Throws when the bytes are no longer those that the first workload of the run started from. */
export async function prepareSeed(bench: Bench): Promise<string> {
  const { size, seed } = bench.order;
  const path = join(bench.shared, `orders-${size}-${seed}.db`);
  bench.phase("Make the database");
  if (!existsSync(path)) {
    hashes.delete(path);
    await generate(path, { scale: SCALES[size], seed }, () => bench.pause());
  }
  const { bytes, sha256 } = identify(path);
  const first = hashes.get(path) ?? sha256;
  hashes.set(path, first);
  if (first !== sha256) throw new Error(`${path} has changed since the run began: SHA-256 ${sha256}, expected ${first}`);
  bench.fact("database", bytes, "bytes");
  bench.fact("database, SHA-256", sha256);
  bench.fact("foreign keys", FOREIGN_KEYS);
  return path;
}

/** Bytes of a size's database, roughly: known before it is made. */
export function seedBytes(size: BenchSize): number {
  return { quick: 1, S: 17, M: 124, L: 510 }[size] * MEBIBYTE;
}

import { randomBytes } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import type { UnixMs } from "#shared/ids.ts";

/** Time and randomness are ports: operations carry both, so that `apply` is deterministic and tests repeat. */
export interface Clock {
  now(): UnixMs;
}
export interface Randomness {
  bytes(count: number): Uint8Array;
}

export const systemClock: Clock = { now: () => Date.now() };
/** Drawn in advance: a call into the system for each 16 bytes would cost more than the rest of an operation's draft. */
const POOL_BYTES = 4096;
let pool = Buffer.alloc(0);

export const systemRandomness: Randomness = {
  bytes: (count) => {
    if (count > POOL_BYTES) return randomBytes(count);
    if (pool.length < count) pool = draw(POOL_BYTES);
    const drawn = pool.subarray(0, count);
    pool = pool.subarray(count);
    return drawn;
  },
};

/** From the kernel's generator, which is what node:crypto is seeded with and which needs no loading of node:crypto. */
function draw(count: number): Buffer<ArrayBuffer> {
  let file: number | null = null;
  try {
    file = openSync("/dev/urandom", "r");
    const drawn = Buffer.alloc(count);
    return readSync(file, drawn) === count ? drawn : randomBytes(count);
  } catch {
    // Another system, or a sandbox without devices.
    return randomBytes(count);
  } finally {
    if (file !== null) closeSync(file);
  }
}

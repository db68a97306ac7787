import { randomBytes } from "node:crypto";
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
    if (pool.length < count) pool = randomBytes(POOL_BYTES);
    const drawn = pool.subarray(0, count);
    pool = pool.subarray(count);
    return drawn;
  },
};

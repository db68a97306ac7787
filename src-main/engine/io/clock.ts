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
export const systemRandomness: Randomness = { bytes: (count) => randomBytes(count) };

import { setImmediate } from "node:timers/promises";
import { EngineError } from "../io/errors.ts";
import type { Work } from "./page-source.ts";

/** Bytes handled between two looks at the signal and at the event loop: a few milliseconds. */
const STRIDE_BYTES = 2 * 1024 * 1024;

/** Keeps long work polite: reports progress, stops when told, lets others run. */
export class Pace {
  readonly #name: string;
  readonly #work: Work;
  readonly #total: number;
  #done = 0;
  #since = 0;

  /** `name` completes "… was cancelled". `totalBytes` as far as it is known beforehand. */
  constructor(name: string, work: Work, totalBytes: number) {
    this.#name = name;
    this.#work = work;
    this.#total = totalBytes;
  }

  /** Throws `cancelled` when the signal says so. */
  async advance(bytes: number): Promise<void> {
    this.#done += bytes;
    this.#since += bytes;
    if (this.#since < STRIDE_BYTES) return;
    this.#since = 0;
    this.#work.progress?.(Math.min(this.#done, this.#total), this.#total);
    await setImmediate();
    await this.#work.giveWay?.();
    if (this.#work.signal?.aborted) throw new EngineError("cancelled", `${this.#name} was cancelled`);
  }
}

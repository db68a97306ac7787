/**
 * Whose turn it is. Workers take turns in a row; each has a fixed number of steps. The harness's passes over all branches
 * come in between: the first worker to finish step n × floor(steps / passes) claims one and stands still until every other
 * has come as far (or, after two minutes, anyway); then the pass runs.
 */
import { setTimeout as sleep } from "node:timers/promises";

const WAIT_MS = 120_000;
const LOOK_AGAIN_MS = 5;

export class PassTurns<W extends object> {
  readonly #ready: W[];
  readonly #steps: number;
  readonly #done = new Map<W, number>();
  /** Steps between two passes; 0: there are none. */
  readonly #every: number;
  #passesLeft: number;
  #running = 0;
  #claim: { readonly worker: W; readonly steps: number; readonly deadline: number; isRunning: boolean } | null = null;

  constructor(workers: readonly W[], steps: number, passes: number) {
    this.#ready = steps > 0 ? [...workers] : [];
    this.#steps = steps;
    this.#passesLeft = passes;
    this.#every = passes === 0 ? 0 : Math.max(1, Math.floor(steps / passes));
    for (const worker of workers) this.#done.set(worker, 0);
  }

  /** Waits while the only work left is behind a pass. Null: nothing is left to do. */
  async next(): Promise<W | null> {
    for (;;) {
      const worker = this.#ready.shift();
      if (worker) {
        this.#running += 1;
        return worker;
      }
      if (this.#claim === null) return null;
      await sleep(LOOK_AGAIN_MS);
    }
  }

  /** A worker has done `steps` steps by now. True: the caller has to run a pass, then to call `endPass`. */
  finish(worker: W, steps: number): boolean {
    this.#running -= 1;
    this.#done.set(worker, steps);
    if (this.#claim === null && this.#passesLeft > 0 && steps % this.#every === 0) {
      this.#passesLeft -= 1;
      this.#claim = { worker, steps, deadline: performance.now() + WAIT_MS, isRunning: false };
    } else this.#queue(worker);
    return this.#startPass();
  }

  endPass(): void {
    const claim = this.#claim;
    this.#claim = null;
    if (claim) this.#queue(claim.worker);
  }

  #queue(worker: W): void {
    if ((this.#done.get(worker) ?? 0) < this.#steps) this.#ready.push(worker);
  }

  #startPass(): boolean {
    const claim = this.#claim;
    if (claim === null || claim.isRunning) return false;
    const isDue = [...this.#done.values()].every((done) => done >= claim.steps);
    const isStuck = this.#running === 0 && this.#ready.length === 0;
    claim.isRunning = isDue || isStuck || performance.now() > claim.deadline;
    return claim.isRunning;
  }
}

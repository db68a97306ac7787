import type { PageBatch } from "../format/page-batch.ts";

/** Batches pushed by one side and read by the other, one at a time: a push is over when its batch was worked off. */
export class BatchFeed implements AsyncIterable<PageBatch> {
  #offered: PageBatch | null = null;
  #end: "complete" | "broken" | null = null;
  #isAbandoned = false;
  #wakeReader: (() => void) | null = null;
  #wakeWriter: (() => void) | null = null;

  /** Resolves, too, when the reader has given up. */
  push(batch: PageBatch): Promise<void> {
    if (this.#isAbandoned) return Promise.resolve();
    this.#offered = batch;
    this.#wakeReader?.();
    return new Promise((settle) => {
      this.#wakeWriter = settle;
    });
  }

  /** No more batches; "broken" makes the reader fail. */
  end(how: "complete" | "broken"): void {
    this.#end = how;
    this.#wakeReader?.();
  }

  /** The reader has failed: nobody is to wait for it. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#wakeWriter?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<PageBatch> {
    for (;;) {
      if (this.#offered === null && this.#end === null) {
        await new Promise<void>((settle) => {
          this.#wakeReader = settle;
        });
      }
      if (this.#offered !== null) {
        yield this.#offered;
        this.#offered = null;
        this.#wakeWriter?.();
      } else if (this.#end === "broken") {
        throw new Error("the batches ended early");
      } else if (this.#end === "complete") {
        return;
      }
    }
  }
}

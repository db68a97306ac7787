/** Checkouts touched through the keeper: for programs that may have SQLite connections of their own on them. */
import { fork, type ChildProcess } from "node:child_process";
import { isDeepStrictEqual } from "node:util";
import { assert } from "#shared/assert.ts";
import type { Holder } from "#shared/error-codes.ts";
import type { PageBatch } from "../format/page-batch.ts";
import { readBootId } from "../io/boot.ts";
import type { Disk } from "../io/disk.ts";
import { EngineError, fromErrorView } from "../io/errors.ts";
import type { Native } from "../io/native.ts";
import { ownEntry } from "../io/own-entry.ts";
import type { Work } from "../segments/page-source.ts";
import type { CopyRequest, SourceCopy } from "../transfer/copy-source.ts";
import type { CheckoutChanges, CheckoutFiles, HeldCheckout, KnownContent, KnownFact } from "./checkout-files.ts";
import { checkoutSizes, DirectCheckoutFiles, findCheckoutHolders } from "./direct-checkout-files.ts";
import { checkFingerprint } from "./fingerprint.ts";
import type { FirstLook, FoundChanges, HoldId, KeeperCallName, KeeperCalls, KeeperReply } from "./keeper-protocol.ts";
import { writePatch, type Patch, type TemporaryFiles } from "./write-patch.ts";

const HASHES_BYTES_MAX = 4 * 1024 * 1024;

/**
 * `ownProcess`: this process opens no SQLite connection on checkouts, so they are touched right here. Otherwise in a
 * child, started at the first need. `temporary` is a folder of this process on the checkouts' file system, `shadows` the
 * store's folder of shadows.
 */
export function createCheckoutFiles(options: {
  readonly ownProcess: boolean;
  readonly disk: Disk;
  readonly native: Native;
  readonly temporary: string;
  readonly shadows?: string;
}): CheckoutFiles {
  return options.ownProcess ? new DirectCheckoutFiles(options) : new KeeperCheckoutFiles(options);
}

class KeeperCheckoutFiles implements CheckoutFiles {
  readonly #files: TemporaryFiles & { readonly shadows?: string };
  readonly #boot = readBootId();
  #keeper: Keeper | null = null;

  constructor(files: TemporaryFiles & { readonly shadows?: string }) {
    this.#files = files;
  }

  check(path: string, fingerprint: string | null): "missing" | "same" | "unknown" {
    return checkFingerprint(this.#files.disk, this.#boot, path, fingerprint);
  }

  sizes(path: string): { fileBytes: number; walBytes: number } | null {
    return checkoutSizes(this.#files.disk, path);
  }

  holders(path: string): Holder[] {
    return findCheckoutHolders(path, this.#keeper ? [this.#keeper.pid] : []);
  }

  async hold(path: string, mode: "write" | "exclusive", waitMs: number, known?: KnownFact): Promise<HeldCheckout> {
    const keeper = this.#keeperForUse();
    const { hold, look } = await keeper.call("hold", { path, mode, waitMs, known: known ?? null });
    return new KeeperHold(this.#files, keeper, { hold, path, look: known && look ? { ...look, known } : null });
  }

  async place(finished: string, path: string): Promise<string | null> {
    return this.#keeperForUse().call("place", { finished, path });
  }

  copy(path: string, fingerprint: string, to: string, work: Work): Promise<"cloned" | "copied" | null> {
    return this.#keeperForUse().call("copy", { path, fingerprint, to }, work);
  }

  sharedPlaces(paths: readonly string[]): Promise<readonly (Float64Array | null)[]> {
    return this.#keeperForUse().call("sharedPlaces", { paths });
  }

  readPages(path: string, numbers: Uint32Array, pageSize: number): Promise<Uint8Array | null> {
    return this.#keeperForUse().call("readPages", { path, numbers, pageSize });
  }

  copySource(request: CopyRequest, work: Work): Promise<SourceCopy> {
    return this.#keeperForUse().call("copySource", request, work);
  }

  async close(): Promise<void> {
    const keeper = this.#keeper;
    this.#keeper = null;
    await keeper?.end();
  }

  #keeperForUse(): Keeper {
    if (this.#keeper === null || !this.#keeper.isAlive) this.#keeper = new Keeper(this.#files);
    return this.#keeper;
  }
}

/** One child and the calls that wait for it. It keeps this process alive only while some do. */
class Keeper {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<
    number,
    { readonly settle: (output: never) => void; readonly fail: (error: EngineError) => void; readonly progress: Work["progress"] }
  >();
  readonly #ended: Promise<void>;
  #lastId = 0;
  isAlive = true;

  constructor({ temporary, shadows }: { readonly temporary: string; readonly shadows?: string }) {
    this.#child = fork(ownEntry(import.meta.dirname, "keeper"), shadows === undefined ? [temporary] : [temporary, shadows], {
      serialization: "advanced",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv: [],
      // Inside Electron the executable is the app itself.
      env: { ...process.env, ELECTRON_RUN_AS_NODE: "1" },
    });
    this.#child.on("message", (reply: KeeperReply) => this.#take(reply));
    this.#ended = new Promise((settle) => {
      const end = (how: string): void => {
        this.#die(how);
        settle();
      };
      this.#child.once("exit", (code, signal) => end(signal ? `was ended by ${signal}` : `ended with code ${code}`));
      this.#child.once("error", (error) => end(`could not be started: ${error.message}`));
    });
    this.#child.unref();
    this.#child.channel?.unref();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  call<K extends KeeperCallName>(call: K, input: KeeperCalls[K]["input"], work: Work = {}): Promise<KeeperCalls[K]["output"]> {
    if (!this.isAlive) return Promise.reject(keeperDied("is gone"));
    const id = ++this.#lastId;
    return new Promise((settle, fail) => {
      const cancel = (): void => void this.call("cancel", { request: id }).catch(fail);
      const ended = (): void => work.signal?.removeEventListener("abort", cancel);
      work.signal?.addEventListener("abort", cancel);
      this.#waiting.set(id, {
        settle: (output) => {
          ended();
          settle(output);
        },
        fail: (error) => {
          ended();
          fail(error);
        },
        progress: work.progress,
      });
      this.#child.channel?.ref();
      this.#child.send({ id, call, input }, (error) => {
        if (error) this.#die(`cannot be reached: ${error.message}`);
      });
    });
  }

  async end(): Promise<void> {
    if (!this.isAlive) return;
    this.#child.ref();
    this.#child.disconnect();
    await this.#ended;
  }

  #take(reply: KeeperReply): void {
    const waiting = this.#waiting.get(reply.id);
    assert(waiting, `a call waits for reply ${reply.id}`);
    if ("progress" in reply) {
      waiting.progress?.(reply.progress.done, reply.progress.total);
      return;
    }
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) this.#child.channel?.unref();
    if (reply.ok) waiting.settle(reply.output as never);
    else waiting.fail(fromErrorView(reply.error));
  }

  #die(how: string): void {
    this.isAlive = false;
    for (const { fail } of this.#waiting.values()) fail(keeperDied(how));
    this.#waiting.clear();
  }
}

/** What a hold brought with it; true until the file is replaced. */
type KnownLook = FirstLook & { readonly known: KnownFact };

class KeeperHold implements HeldCheckout {
  readonly #files: TemporaryFiles;
  readonly #keeper: Keeper;
  readonly #hold: HoldId;
  #path: string;
  #look: KnownLook | null;
  #isReleased = false;

  constructor(
    files: TemporaryFiles,
    keeper: Keeper,
    taken: { readonly hold: HoldId; readonly path: string; readonly look: KnownLook | null },
  ) {
    this.#files = files;
    this.#keeper = keeper;
    this.#hold = taken.hold;
    this.#path = taken.path;
    this.#look = taken.look;
  }

  get path(): string {
    return this.#path;
  }

  async changes(known: KnownContent): Promise<CheckoutChanges> {
    const { pageHashes, ...fact } = known;
    if (this.#look && isDeepStrictEqual(fact, this.#look.known)) {
      const { changes, pages } = this.#look;
      return withBatches(changes, changes.candidates === 0 ? noBatches : pages ? () => oneBatch(pages) : () => this.#readBatches());
    }
    const input = { ...fact, hold: this.#hold };
    let found = await this.#keeper.call("changes", { ...input, hasHashes: false });
    if (found === null) {
      await this.#sendHashes(await pageHashes());
      found = await this.#keeper.call("changes", { ...input, hasHashes: true });
    }
    assert(found, "the changes are found once the hashes are sent");
    return withBatches(found, () => this.#readBatches());
  }

  async patch(patch: Patch): Promise<string | null> {
    const shape = this.#look?.shape ?? (await this.#keeper.call("shape", { hold: this.#hold }));
    return writePatch(this.#files, this.#path, shape, patch, {
      fold: (written) => this.#replace("fold", { hold: this.#hold, written }),
      swap: (finished) => this.swap(finished),
    });
  }

  swap(finished: string): Promise<string | null> {
    return this.#replace("swap", { hold: this.#hold, finished });
  }

  async remove(): Promise<void> {
    await this.#replace("remove", { hold: this.#hold });
  }

  retire(to: string): Promise<boolean> {
    return this.#replace("retire", { hold: this.#hold, to });
  }

  async moveTo(path: string): Promise<void> {
    await this.#replace("moveTo", { hold: this.#hold, path });
    this.#path = path;
  }

  async fingerprint(): Promise<string | null> {
    const known = this.#look?.fingerprint;
    return known === undefined ? this.#keeper.call("fingerprint", { hold: this.#hold }) : known;
  }

  /** The locks of a keeper that died went with it. */
  async release(): Promise<void> {
    if (this.#isReleased || !this.#keeper.isAlive) return;
    this.#isReleased = true;
    await this.#keeper.call("release", { hold: this.#hold });
  }

  async #sendHashes(hashes: Uint8Array): Promise<void> {
    for (let offset = 0; offset < hashes.length; offset += HASHES_BYTES_MAX) {
      const bytes = hashes.subarray(offset, offset + HASHES_BYTES_MAX);
      await this.#keeper.call("hashes", { hold: this.#hold, total: hashes.length, offset, bytes });
    }
  }

  #replace<K extends "fold" | "swap" | "remove" | "retire" | "moveTo">(
    call: K,
    input: KeeperCalls[K]["input"],
  ): Promise<KeeperCalls[K]["output"]> {
    this.#look = null;
    return this.#keeper.call(call, input);
  }

  async *#readBatches(): AsyncGenerator<PageBatch> {
    for (let restart = true; ; restart = false) {
      const batch = await this.#keeper.call("batch", { hold: this.#hold, restart });
      if (batch === null) return;
      yield batch;
    }
  }
}

function withBatches(found: FoundChanges, read: () => AsyncGenerator<PageBatch>): CheckoutChanges {
  return { ...found, batches: { [Symbol.asyncIterator]: read } };
}

async function* noBatches(): AsyncGenerator<PageBatch> {}

async function* oneBatch(batch: PageBatch): AsyncGenerator<PageBatch> {
  yield batch;
}

function keeperDied(how: string): EngineError {
  return new EngineError("worker-died", `The process that looks after checkouts ${how}`, {
    hint: "Try again: it is started anew.",
    untouched: "Every checkout holds either what it held before or all of what was being put there.",
    retryable: true,
  });
}

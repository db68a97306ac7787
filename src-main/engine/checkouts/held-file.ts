import { basename, dirname } from "node:path";
import { assert } from "#shared/assert.ts";
import type { CheckoutChanges, HeldCheckout, KnownContent } from "./checkout-files.ts";
import { CheckoutView } from "./checkout-view.ts";
import { detectChanges } from "./detect-changes.ts";
import { takeFingerprint } from "./fingerprint.ts";
import { moveFile, patchFile, rebuildFile, removeFile, swapFile, type Patch, type ReplaceContext } from "./replace-file.ts";
import type { CheckoutLock } from "./sqlite-locks.ts";

/** A checkout held by this process. Calls come one after another. */
export class HeldFile implements HeldCheckout {
  #path: string;
  /** With symbolic links resolved: where SQLite keeps the side files. */
  #real: string;
  readonly #context: ReplaceContext;
  readonly #lock: CheckoutLock;
  readonly #mode: "write" | "exclusive";
  readonly #endTurn: () => void;
  /** Open for the batches of the last `changes`, until the next call. */
  #view: CheckoutView | null = null;
  #isReleased = false;

  constructor(hold: {
    path: string;
    real: string;
    context: ReplaceContext;
    lock: CheckoutLock;
    mode: "write" | "exclusive";
    endTurn: () => void;
  }) {
    this.#path = hold.path;
    this.#real = hold.real;
    this.#context = hold.context;
    this.#lock = hold.lock;
    this.#mode = hold.mode;
    this.#endTurn = hold.endTurn;
  }

  get path(): string {
    return this.#path;
  }

  async changes(known: KnownContent): Promise<CheckoutChanges> {
    const { disk, native, boot } = this.#context;
    this.#begin();
    const stat = disk.statFile(this.#lock.file);
    this.#view = new CheckoutView(disk, this.#real, this.#lock.file);
    return detectChanges({ native, boot, stat, view: this.#view }, known);
  }

  async patch(patch: Patch): Promise<void> {
    this.#begin("exclusive");
    this.#lock.detach();
    const view = new CheckoutView(this.#context.disk, this.#real, this.#lock.file);
    try {
      const canPatch = view.pageSize === patch.pageSize && view.pageCount > 0 && patch.pageCount > 0;
      if (canPatch) await patchFile(this.#context, this.#real, this.#lock.file, view, patch);
      else await rebuildFile(this.#context, this.#real, this.#lock, (view.changeCounter + 1) >>> 0, patch);
    } finally {
      view.close();
    }
  }

  async swap(finished: string): Promise<void> {
    this.#begin("exclusive");
    swapFile(this.#context, this.#real, this.#lock, finished);
  }

  async remove(): Promise<void> {
    this.#begin("exclusive");
    removeFile(this.#context, this.#real, this.#lock);
    // A link that led there leads nowhere now.
    if (this.#path !== this.#real) this.#context.disk.remove(this.#path);
  }

  async moveTo(path: string): Promise<void> {
    this.#begin("exclusive");
    moveFile(this.#context, this.#real, this.#lock, path);
    this.#path = path;
    this.#real = this.#context.disk.realPath(path);
  }

  async fingerprint(): Promise<string | null> {
    this.#begin();
    const { disk, boot } = this.#context;
    // A link in place of the file: who looks at it by stat would look for the side files in the wrong folder.
    if (basename(this.#real) !== basename(this.#path) || dirname(this.#real) !== disk.realPath(dirname(this.#path))) return null;
    const view = new CheckoutView(disk, this.#real, this.#lock.file);
    view.close();
    return takeFingerprint(disk, boot, this.#lock.file, view);
  }

  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#begin();
    this.#isReleased = true;
    try {
      this.#lock.release();
    } finally {
      this.#endTurn();
    }
  }

  #begin(mode?: "exclusive"): void {
    assert(!this.#isReleased, "the checkout is still held");
    assert(mode === undefined || mode === this.#mode, `a checkout held for "${this.#mode}" is not replaced`);
    this.#view?.close();
    this.#view = null;
  }
}

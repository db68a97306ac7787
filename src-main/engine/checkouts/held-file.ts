import { basename, dirname } from "node:path";
import { assert } from "#shared/assert.ts";
import type { CheckoutChanges, HeldCheckout, KnownContent } from "./checkout-files.ts";
import { CheckoutView } from "./checkout-view.ts";
import { detectChanges } from "./detect-changes.ts";
import { takeFingerprint } from "./fingerprint.ts";
import { foldPatch, moveFile, removeFile, retireFile, swapFile, type ReplaceContext } from "./replace-file.ts";
import { Shadow } from "./shadow.ts";
import type { CheckoutLock } from "./sqlite-locks.ts";
import { writePatch, type FileShape, type Patch, type WrittenPatch } from "./write-patch.ts";

/** A checkout held by this process. Calls come one after another. */
export class HeldFile implements HeldCheckout {
  #path: string;
  /** With symbolic links resolved: where SQLite keeps the side files. */
  #real: string;
  readonly #context: ReplaceContext;
  readonly #lock: CheckoutLock;
  readonly #mode: "write" | "exclusive";
  readonly #endTurn: () => void;
  /** Open until the file is replaced: under the lock its content stands still. */
  #view: CheckoutView | null = null;
  /** Of the file under lock; undefined until it is asked for. */
  #knownShadow: Shadow | null | undefined = undefined;
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
    return detectChanges({ native, boot, stat, view: this.#openView(), shadow: this.#shadow() }, known);
  }

  /** What a patch is written for. Throws `checkout-corrupt`. */
  shape(): FileShape {
    assert(!this.#isReleased, "the checkout is still held");
    const { pageSize, pageCount, changeCounter } = this.#openView();
    return { pageSize, pageCount, changeCounter };
  }

  patch(patch: Patch): Promise<string | null> {
    return writePatch(this.#context, this.#real, this.shape(), patch, {
      fold: (written) => this.fold(written),
      swap: (finished) => this.swap(finished),
    });
  }

  /** Carries out a patch that was written for `shape`; returns the fingerprint. */
  async fold(written: WrittenPatch): Promise<string | null> {
    this.#begin("exclusive");
    this.#lock.detach();
    const shadow = this.#shadow();
    // Should it fail half-way, nobody knows any more what the main file is.
    const patched = shadow?.beginPatch();
    const pages = foldPatch(this.#context, this.#real, this.#lock.file, written);
    patched?.(pages);
    const fingerprint = this.#takeFingerprint({ pageCount: written.pageCount, wal: null });
    // A first shadow would force what was just written to the disk: the next checkpoint makes it.
    shadow?.follow(fingerprint, [], false);
    return fingerprint;
  }

  async swap(finished: string): Promise<string | null> {
    this.#begin("exclusive");
    const previous = this.#shadow();
    swapFile(this.#context, this.#real, this.#lock, finished);
    previous?.remove();
    this.#knownShadow = undefined;
    return this.fingerprint();
  }

  async remove(): Promise<void> {
    this.#begin("exclusive");
    const shadow = this.#shadow();
    removeFile(this.#context, this.#real, this.#lock);
    shadow?.remove();
    // A link that led there leads nowhere now.
    if (this.#path !== this.#real) this.#context.disk.remove(this.#path);
  }

  async retire(to: string): Promise<boolean> {
    const isOnlyName = this.#path === this.#real && this.#context.disk.statFile(this.#lock.file).links === 1;
    if (!isOnlyName) {
      await this.remove();
      return false;
    }
    this.#begin("exclusive");
    this.#shadow()?.remove();
    return retireFile(this.#context, this.#real, this.#lock, to);
  }

  async moveTo(path: string): Promise<void> {
    this.#begin("exclusive");
    moveFile(this.#context, this.#real, this.#lock, path);
    this.#path = path;
    this.#real = this.#context.disk.realPath(path);
  }

  async fingerprint(): Promise<string | null> {
    assert(!this.#isReleased, "the checkout is still held");
    const view = this.#openView();
    const fingerprint = this.#takeFingerprint(view);
    this.#shadow()?.follow(fingerprint, view.framePages(), true);
    return fingerprint;
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

  #takeFingerprint(content: Parameters<typeof takeFingerprint>[3]): string | null {
    const { disk, boot } = this.#context;
    // A link in place of the file: who looks at it by stat would look for the side files in the wrong folder.
    if (basename(this.#real) !== basename(this.#path) || dirname(this.#real) !== disk.realPath(dirname(this.#path))) return null;
    return takeFingerprint(disk, boot, this.#lock.file, content);
  }

  #shadow(): Shadow | null {
    if (this.#knownShadow === undefined) this.#knownShadow = Shadow.of(this.#context, this.#lock.file);
    return this.#knownShadow;
  }

  #openView(): CheckoutView {
    this.#view ??= new CheckoutView(this.#context.disk, this.#real, this.#lock.file);
    return this.#view;
  }

  #begin(mode?: "exclusive"): void {
    assert(!this.#isReleased, "the checkout is still held");
    assert(mode === undefined || mode === this.#mode, `a checkout held for "${this.#mode}" is not replaced`);
    this.#view?.close();
    this.#view = null;
  }
}

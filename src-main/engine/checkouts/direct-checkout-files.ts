/**
 * Checkouts touched in this process: in the keeper, and in a program of ours that opens no other SQLite connection on
 * them (see `checkout-files.ts`).
 */
import type { Holder } from "#shared/error-codes.ts";
import { readBootId } from "../io/boot.ts";
import type { Disk } from "../io/disk.ts";
import { EngineError } from "../io/errors.ts";
import { isWorthCloning } from "../io/filesystem.ts";
import { findHolders } from "../io/holders.ts";
import type { Native } from "../io/native.ts";
import type { Work } from "../segments/page-source.ts";
import { copySource, type CopyRequest, type SourceCopy } from "../transfer/copy-source.ts";
import type { CheckoutFiles } from "./checkout-files.ts";
import { checkoutCorrupt } from "./checkout-view.ts";
import { checkFingerprint } from "./fingerprint.ts";
import { HeldFile } from "./held-file.ts";
import { isWantedAlone, takeTurn } from "./path-turns.ts";
import { placeFile, type ReplaceContext } from "./replace-file.ts";
import { readSharedPlaces } from "./shared-places.ts";
import { sidePaths, walBytes } from "./side-files.ts";
import { checkoutBusy, takeExclusiveLock, takeWriteLock } from "./sqlite-locks.ts";

/** Somebody wants to work with the file that is being copied: another way is found for the copy. */
class CopyGivenUp extends Error {}

export class DirectCheckoutFiles implements CheckoutFiles {
  readonly #context: ReplaceContext;
  readonly #held = new Set<HeldFile>();

  /**
   * `temporary`: a folder of this process on the checkouts' file system; made when it is not there. `shadows`: see
   * `shadow.ts`.
   */
  constructor(ports: { readonly disk: Disk; readonly native: Native; readonly temporary: string; readonly shadows?: string | undefined }) {
    const boot = readBootId();
    this.#context = { ...ports, boot, holders: (path) => findCheckoutHolders(path, [process.pid]) };
  }

  check(path: string, fingerprint: string | null): "missing" | "same" | "unknown" {
    return checkFingerprint(this.#context.disk, this.#context.boot, path, fingerprint);
  }

  sizes(path: string): { fileBytes: number; walBytes: number } | null {
    return checkoutSizes(this.#context.disk, path);
  }

  holders(path: string): Holder[] {
    return this.#context.holders(path);
  }

  async hold(path: string, mode: "write" | "exclusive", waitMs: number): Promise<HeldFile> {
    const deadline = performance.now() + waitMs;
    const context = this.#context;
    // SQLite keeps the side files beside the file that a link points to.
    const real = context.disk.realPath(path);
    // Opening a pipe waits for ever.
    if (context.disk.stat(real)?.kind !== "file") throw checkoutCorrupt(path, "it is no file");
    const endTurn = await takeTurn(real, waitMs);
    if (endTurn === null)
      throw checkoutBusy(path, [{ pid: process.pid, program: process.title, access: mode === "write" ? "open" : "writing" }]);
    try {
      const left = Math.max(0, deadline - performance.now());
      const lock = await (mode === "write" ? takeWriteLock(context, real, left) : takeExclusiveLock(context, real, left));
      const held = new HeldFile({
        path,
        real,
        context,
        lock,
        mode,
        endTurn: () => {
          this.#held.delete(held);
          endTurn();
        },
      });
      this.#held.add(held);
      return held;
    } catch (error) {
      endTurn();
      throw error;
    }
  }

  async place(finished: string, path: string): Promise<string | null> {
    return placeFile(this.#context, finished, path);
  }

  async copy(path: string, fingerprint: string, to: string, { signal }: Work): Promise<"cloned" | "copied" | null> {
    const { disk } = this.#context;
    const isAsKnown = (): boolean => this.check(path, fingerprint) === "same" && walBytes(disk, path) === 0;
    if (!isAsKnown()) return null;
    const real = disk.realPath(path);
    const endTurn = await takeTurn(real, 0, "shared");
    if (endTurn === null) return null;
    let how: "cloned" | "copied" = "cloned";
    try {
      if (!this.#isWorthCloning(path) || !disk.clone(path, to)) {
        await disk.copy(path, to, async () => {
          if (signal?.aborted) throw new EngineError("cancelled", `Copying ${path} was cancelled`);
          if (isWantedAlone(real)) throw new CopyGivenUp();
        });
        how = "copied";
      }
    } catch (error) {
      const isGone = error instanceof EngineError && error.code === "file-not-found";
      if (error instanceof CopyGivenUp || isGone) return null;
      throw error;
    } finally {
      endTurn();
    }
    if (isAsKnown()) return how;
    disk.remove(to);
    return null;
  }

  #isWorthCloning(path: string): boolean {
    const { disk, native } = this.#context;
    const file = disk.open(path, "r");
    try {
      return isWorthCloning(native, file, disk.statFile(file).size);
    } finally {
      disk.close(file);
    }
  }

  async sharedPlaces(paths: readonly string[]): Promise<readonly (Float64Array | null)[]> {
    const found: (Float64Array | null)[] = [];
    for (const path of paths) found.push(await readSharedPlaces(this.#context, path));
    return found;
  }

  async readPages(path: string, numbers: Uint32Array, pageSize: number): Promise<Uint8Array | null> {
    const { disk } = this.#context;
    if (disk.stat(path)?.kind !== "file") return null;
    const endTurn = await takeTurn(disk.realPath(path), 0, "shared");
    if (endTurn === null) return null;
    try {
      return readPagesOf(this.#context, path, numbers, pageSize);
    } finally {
      endTurn();
    }
  }

  async copySource(request: CopyRequest, work: Work): Promise<SourceCopy> {
    const { disk } = this.#context;
    const endTurn = disk.stat(request.file) === null ? (): void => undefined : await takeTurn(disk.realPath(request.file), request.waitMs);
    if (endTurn === null)
      throw new EngineError("source-busy", `Import of ${request.file}: Coppice is working with it`, {
        untouched: "Nothing was imported.",
        retryable: true,
        details: { path: request.file },
      });
    try {
      return await copySource(this.#context, request, work);
    } finally {
      endTurn();
    }
  }

  async close(): Promise<void> {
    for (const held of this.#held) await held.release();
  }
}

function readPagesOf({ disk, native }: ReplaceContext, path: string, numbers: Uint32Array, pageSize: number): Uint8Array {
  const file = disk.open(path, "r");
  try {
    for (const number of numbers) native.willRead(file, (number - 1) * pageSize, pageSize);
    const bytes = new Uint8Array(numbers.length * pageSize);
    for (const [index, number] of numbers.entries())
      disk.read(file, bytes.subarray(index * pageSize, (index + 1) * pageSize), (number - 1) * pageSize);
    return bytes;
  } finally {
    disk.close(file);
  }
}

export function checkoutSizes(disk: Disk, path: string): { fileBytes: number; walBytes: number } | null {
  const stat = disk.stat(path);
  return stat === null ? null : { fileBytes: stat.size, walBytes: walBytes(disk, path) };
}

/** Processes that have the file or a side file open, but for those named. */
export function findCheckoutHolders(path: string, except: readonly number[]): Holder[] {
  return findHolders([path, ...Object.values(sidePaths(path))]).filter((holder) => !except.includes(holder.pid));
}

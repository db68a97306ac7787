/** A disk that fails where a test wants it to, and counts what is asked of it. */
import type { ErrorCode } from "#shared/error-codes.ts";
import type { Disk } from "#engine/io/disk.ts";
import { EngineError } from "#engine/io/errors.ts";

export type DiskCall = keyof Disk;

/** Calls that change what is on the disk. `open` is one when it may create a file. */
const CHANGES: ReadonlySet<DiskCall> = new Set([
  "write",
  "truncate",
  "sync",
  "syncDirectory",
  "rename",
  "link",
  "remove",
  "removeTree",
  "makeDirectory",
  "setModified",
  "setMode",
  "clone",
  "copy",
]);
/** What a full disk refuses: renaming, removing and syncing what is there still works on it. */
const NEEDS_SPACE: ReadonlySet<DiskCall> = new Set(["write", "makeDirectory", "link", "clone", "copy"]);

export interface Fault {
  /** Which calls count: one kind, every change, or what needs space. */
  readonly on: DiskCall | "change" | "space";
  /** The first call to fail, counted from 1. */
  readonly from: number;
  /** How many fail; all from there on when left out, as on a disk that stays full. */
  readonly times?: number;
  readonly code: ErrorCode;
}

export class FaultyDisk {
  /** What the code under test gets. */
  readonly disk: Disk;
  /** Calls so far, failed ones included. */
  readonly counts = new Map<Fault["on"], number>();
  #fault: Fault | null = null;
  #seen = 0;

  constructor(inner: Disk) {
    this.disk = new Proxy(inner, {
      get: (target, name: DiskCall) => {
        const call = target[name] as (...input: readonly unknown[]) => unknown;
        return (...input: readonly unknown[]) => {
          const kinds = kindsOf(name, input);
          for (const kind of kinds) this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
          if (this.#isDue(kinds)) this.#fail(target, name, input);
          return call(...input);
        };
      },
    });
  }

  /** Counting starts here; null ends all faults. */
  fail(fault: Fault | null): void {
    this.#fault = fault;
    this.#seen = 0;
  }

  #isDue(kinds: readonly Fault["on"][]): boolean {
    if (!this.#fault || !kinds.includes(this.#fault.on)) return false;
    this.#seen += 1;
    return this.#seen >= this.#fault.from && this.#seen < this.#fault.from + (this.#fault.times ?? Infinity);
  }

  /** A write that fails has often written a part. */
  #fail(target: Disk, name: DiskCall, input: readonly unknown[]): never {
    if (name === "write") {
      const [file, buffer, position] = input as Parameters<Disk["write"]>;
      target.write(file, buffer.subarray(0, buffer.length >> 1), position);
    }
    throw new EngineError(this.#fault?.code ?? "io-failed", `Cannot ${name} (a fault made by a test)`);
  }
}

function kindsOf(name: DiskCall, input: readonly unknown[]): Fault["on"][] {
  const creates = name === "open" && (input[1] === "w+" || input[1] === "wx+");
  const kinds: Fault["on"][] = [name];
  if (creates || CHANGES.has(name)) kinds.push("change");
  if (creates || NEEDS_SPACE.has(name)) kinds.push("space");
  return kinds;
}

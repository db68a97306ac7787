/**
 * Ready files: finished files of versions that wait to become a checkout, so that making one costs a rename (or, of the last
 * one where the filesystem shares blocks, a clone) instead of writing the whole database.
 *
 *   cache/ready/<database uid>/v<number>-<identity>.db      identity: inode.size.mtime.boot, in base 36
 *
 * The name says what the file was when it was finished. Only a file that still is just that is used: whoever wrote to it
 * gave it another mtime (set back like that of a fingerprint), and what another boot has left may never have reached the
 * disk. Taking one is a rename to the taker's own folder, so of two processes one has it; a kill at any moment leaves
 * a file that is whole, or one in a temporary folder that is swept.
 */
import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import type { VersionNumber } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { readBootId } from "../io/boot.ts";
import type { Disk, FileStat } from "../io/disk.ts";
import { EngineError } from "../io/errors.ts";
import { reach } from "../io/faults.ts";
import { isWorthCloning } from "../io/filesystem.ts";
import type { Native } from "../io/native.ts";

/** As far back as a fingerprint's: no later write can leave the mtime as it is. */
const SET_BACK_NS = 50_000_000n;
const BOOT_CHARS = 12;

export interface ReadyFile {
  readonly path: string;
  /** Uid of the database, in hexadecimal. */
  readonly database: string;
  readonly version: VersionNumber;
  readonly bytes: number;
  /** When it was made or last cloned. */
  readonly usedNs: bigint;
}

export class ReadyFiles {
  readonly #disk: Disk;
  readonly #native: Native;
  readonly #folder: string;

  constructor(ports: { readonly disk: Disk; readonly native: Native; readonly folder: string }) {
    this.#disk = ports.disk;
    this.#native = ports.native;
    this.#folder = ports.folder;
  }

  /** Those of one database (of all when left out) that can be trusted, last used first. The others are removed. */
  list(database?: string): ReadyFile[] {
    const found: ReadyFile[] = [];
    for (const owner of database === undefined ? this.#disk.list(this.#folder) : [database]) {
      for (const name of this.#disk.list(join(this.#folder, owner))) {
        const path = join(this.#folder, owner, name);
        const stat = this.#disk.stat(path);
        const version = stat && versionIn(name, stat);
        if (version) found.push({ path, database: owner, version, bytes: stat.size, usedNs: stat.ctimeNs });
        else if (stat) this.#removeStray(path, stat);
      }
    }
    return found.toSorted((a, b) => Number(b.usedNs - a.usedNs));
  }

  /**
   * Puts the file at `to`, on the same filesystem: a clone, where blocks are shared and this is the `last` one near and in
   * not too many pieces, else the file itself. Null, with nothing left at `to`, when somebody else has taken it or it is not
   * what it was.
   */
  take(file: ReadyFile, to: string, which: "last" | "spare" = "last"): "cloned" | "taken" | null {
    try {
      if (which === "last" && this.#cloneTo(file, to))
        return this.#isAsNamed(file.path, file.path) ? this.#keep(file, to) : this.#refuse(to);
      this.#disk.rename(file.path, to);
    } catch (error) {
      if (error instanceof EngineError && error.code === "file-not-found") return null;
      throw error;
    }
    reach("pool:taken");
    if (!this.#isAsNamed(to, file.path)) return this.#refuse(to);
    // It may have been cloned before (`#keep`).
    this.#disk.setMode(to, 0o644);
    return "taken";
  }

  /** Makes a finished file of this filesystem ready; it is gone from `finished`. */
  add(database: string, version: VersionNumber, finished: string): void {
    const folder = join(this.#folder, database);
    const file = this.#disk.open(finished, "r+");
    let name: string;
    try {
      this.#disk.setModified(file, BigInt(Date.now()) * 1_000_000n - SET_BACK_NS);
      name = nameOf(version, this.#disk.statFile(file));
    } finally {
      this.#disk.close(file);
    }
    this.#disk.makeDirectory(folder);
    reach("pool:filled");
    this.#disk.rename(finished, join(folder, name));
  }

  remove(file: Pick<ReadyFile, "path">): void {
    this.#disk.remove(file.path);
  }

  /** All of them, what cannot be trusted too; not the folders, in which another process may be putting one. Returns the bytes. */
  clear(): number {
    const files = this.list();
    for (const file of files) this.remove(file);
    return files.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #cloneTo(file: ReadyFile, to: string): boolean {
    // A small one is taken by a rename, and then was open nowhere in this process.
    if (file.bytes <= LIMITS.warmCopyBytesMax) return false;
    const source = this.#disk.open(file.path, "r");
    try {
      if (!isWorthCloning(this.#native, source, file.bytes) || !this.#native.cloneToPath(source, to)) return false;
    } finally {
      this.#disk.close(source);
    }
    reach("pool:taken");
    return true;
  }

  #isAsNamed(path: string, name: string): boolean {
    const stat = this.#disk.stat(path);
    return stat !== null && versionIn(basename(name), stat) !== null;
  }

  /** It stays for the next one; its ctime says that it was used. */
  #keep(file: ReadyFile, to: string): "cloned" {
    this.#disk.setMode(file.path, 0o600);
    this.#disk.setMode(to, 0o644);
    return "cloned";
  }

  #refuse(to: string): null {
    this.#disk.remove(to);
    return null;
  }

  #removeStray(path: string, stat: FileStat): void {
    if (stat.kind === "directory") this.#disk.removeTree(path);
    else this.#disk.remove(path);
  }
}

function nameOf(version: VersionNumber, stat: FileStat): string {
  return `v${version}-${identityOf(stat)}.db`;
}

function identityOf({ inode, size, mtimeNs }: FileStat): string {
  return [inode.toString(36), size.toString(36), mtimeNs.toString(36), bootMark()].join(".");
}

let knownMark: string | null = null;

function bootMark(): string {
  knownMark ??= createHash("sha256").update(readBootId()).digest("hex").slice(0, BOOT_CHARS);
  return knownMark;
}

/** The version that a file's name says, when the file is what its name says. */
function versionIn(name: string, stat: FileStat): VersionNumber | null {
  const match = /^v(\d+)-(.+)\.db$/.exec(name);
  return stat.kind === "file" && match?.[2] === identityOf(stat) ? (Number(match[1]) as VersionNumber) : null;
}

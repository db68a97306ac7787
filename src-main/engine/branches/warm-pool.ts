/**
 * Keeps files ready for the versions that are asked for, so that making a checkout costs a rename or a clone and a patch.
 *
 * Which versions: of each database for which this process had to make a file, the one last asked for or forked from. A
 * ready file of a version near it will do: it is patched when it is taken. Each checkout uses one up, but for the last one
 * where blocks are shared. They are made anew in the background: one at a time, giving way to verbs, within a budget of
 * the store and well before the disk is full. Nothing depends on it: what fails here costs time only.
 */
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import type { DatabaseId, VersionNumber } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import type { VersionRecord } from "../catalog/records.ts";
import { ReadyFiles, type ReadyFile } from "../checkouts/ready-files.ts";
import { EngineError } from "../io/errors.ts";
import { inspectFilesystem } from "../io/filesystem.ts";
import { materialise } from "../segments/materialise.ts";
import { isMostlyShared, overwriteFile } from "./neighbour.ts";
import { temporaryPath, type Parts } from "./parts.ts";
import { readStoreSettings, writeStoreSettings } from "./store-settings.ts";

export type PoolParts = Pick<Parts, "paths" | "disk" | "native" | "clock" | "randomness" | "catalog" | "segments" | "lineages">;

/** A file that came from the pool, and the pages that it was given then. */
export interface TakenFile {
  readonly how: "cloned" | "taken";
  readonly patched: number;
}

/** What background work gives way to. */
export interface Idle {
  idle(): Promise<void>;
}

export class WarmPool {
  /** Files that were taken from the pool, and those that had to be made another way. */
  hits = 0;
  misses = 0;
  readonly #parts: PoolParts;
  readonly #ready: ReadyFiles;
  readonly #activity: Idle;
  readonly #refills: boolean;
  readonly #hot = new Map<DatabaseId, VersionNumber>();
  /** Databases whose ready files are to be looked at. */
  readonly #due = new Set<DatabaseId>();
  readonly #closing = new AbortController();
  #running: Promise<void> | null = null;
  #sharesBlocks: boolean | null = null;

  /** `refills`: whether this process lives long enough to make files ready. */
  constructor(parts: PoolParts, activity: Idle, options: { readonly refills: boolean }) {
    this.#parts = parts;
    this.#ready = new ReadyFiles({ disk: parts.disk, native: parts.native, folder: parts.paths.readyFiles });
    this.#activity = activity;
    this.#refills = options.refills;
  }

  /** Makes a file of `version` at `path` from a ready one; null, with nothing there, when there is none near. */
  async take(version: VersionRecord, path: string): Promise<TakenFile | null> {
    const near = await this.#near(version, isMostlyShared);
    for (const [index, { file, differing }] of near.entries()) {
      const how = this.#ready.take(file, path, index < near.length - 1 ? "spare" : "last");
      if (how === null) continue;
      try {
        await overwriteFile(this.#parts, version, path, differing);
      } catch (error) {
        this.#parts.disk.remove(path);
        throw error;
      }
      this.hits += 1;
      return { how, patched: differing.length };
    }
    this.misses += 1;
    return null;
  }

  /** A file of this version was asked for. */
  noteMade(version: VersionRecord): void {
    this.#hot.delete(version.database);
    this.#hot.set(version.database, version.number);
    for (const oldest of this.#hot.keys()) {
      if (this.#hot.size <= LIMITS.readyConsideredMax) break;
      this.#hot.delete(oldest);
    }
    this.#schedule(version.database);
  }

  /** A fork asks for no file: only where files have been asked for before, the next one is likely to be of its version. */
  noteForked(database: DatabaseId, version: VersionNumber): void {
    if (!this.#hot.has(database)) return;
    this.#hot.set(database, version);
    this.#schedule(database);
  }

  /** Whether a file of this version that nobody needs any more is worth keeping. */
  wants(version: VersionRecord): boolean {
    const uid = this.#uidOf(version.database);
    const bytes = version.pageSize * version.pageCount;
    if (uid === null || bytes === 0 || bytes > this.budget().bytes) return false;
    return this.#hot.has(version.database) || this.#ready.list(uid).length < LIMITS.readyCopies;
  }

  /** Of files that would be retired one after the other, the bytes by which ready files would grow. Looks only. */
  predictKept(files: readonly { readonly database: DatabaseId; readonly bytes: number }[]): number {
    // The oldest first: the first to go.
    const ready: Pick<ReadyFile, "database" | "bytes">[] = this.#ready.list().toReversed();
    const counts = new Map<string, number>();
    const count = (database: string, more: number): void => void counts.set(database, (counts.get(database) ?? 0) + more);
    for (const { database } of ready) count(database, 1);
    const before = totalBytes(ready);
    const budget = this.budget().bytes;
    const uids = new Map<DatabaseId, string>();
    let total = before;
    let oldest = 0;
    for (const { database, bytes } of files) {
      const uid = uids.get(database) ?? this.#uidOf(database);
      if (uid === null || bytes === 0 || bytes > budget) continue;
      uids.set(database, uid);
      if (!this.#hot.has(database) && (counts.get(uid) ?? 0) >= LIMITS.readyCopies) continue;
      for (let file = ready[oldest]; file && total > budget - bytes; file = ready[++oldest]) {
        total -= file.bytes;
        count(file.database, -1);
      }
      ready.push({ database: uid, bytes });
      count(uid, 1);
      total += bytes;
    }
    return total - before;
  }

  /** Keeps a finished file of this version; it is gone from `path` whatever happens. */
  recycle(version: VersionRecord, path: string): void {
    const uid = this.#uidOf(version.database);
    try {
      if (uid === null) return;
      this.#evict(this.budget().bytes - version.pageSize * version.pageCount);
      this.#ready.add(uid, version.number, path);
    } catch (error) {
      // Only kept to save time later.
      if (!(error instanceof EngineError)) throw error;
    } finally {
      this.#parts.disk.remove(path);
    }
  }

  /** Bytes that ready files may take. */
  budget(): { readonly bytes: number; readonly isDefault: boolean } {
    const { disk, paths } = this.#parts;
    const { readyBudget } = readStoreSettings(disk, paths);
    if (readyBudget !== null) return { bytes: readyBudget, isDefault: false };
    const available = disk.freeBytes(paths.root) + totalBytes(this.#ready.list());
    return { bytes: Math.min(LIMITS.readyBytesMax, Math.floor(available * LIMITS.readyFreeShare)), isDefault: true };
  }

  /** Null for the default. What does not fit any more goes, the oldest first. Errors: those of `writeStoreSettings`. */
  setBudget(bytes: number | null): void {
    const { disk, paths } = this.#parts;
    writeStoreSettings(disk, paths, { ...readStoreSettings(disk, paths), readyBudget: bytes });
    this.#evict(this.budget().bytes);
  }

  usage(): { readonly files: number; readonly bytes: number } {
    const files = this.#ready.list();
    return { files: files.length, bytes: totalBytes(files) };
  }

  /** Returns the bytes. */
  clear(): number {
    this.#due.clear();
    return this.#ready.clear();
  }

  /** Removes those of databases that are gone for good. */
  sweep(): void {
    const { databases } = this.#parts.catalog;
    const kept = new Set([...databases.live(), ...databases.trashed()].map(({ uid }) => Buffer.from(uid).toString("hex")));
    for (const file of this.#ready.list()) if (!kept.has(file.database)) this.#ready.remove(file);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  #schedule(database: DatabaseId): void {
    if (!this.#refills || this.#closing.signal.aborted) return;
    this.#due.add(database);
    this.#running ??= this.#refill().finally(() => {
      this.#running = null;
    });
  }

  /** One database after the other, each once: two that do not fit together would else take turns for ever. */
  async #refill(): Promise<void> {
    const { signal } = this.#closing;
    // A program that has nothing else to do may end.
    await sleep(LIMITS.readyDelayMs, undefined, { ref: false, signal }).catch(() => undefined);
    for (const database of this.#due) {
      this.#due.delete(database);
      try {
        for (let made = 0; made < LIMITS.readyCopies && !signal.aborted; made += 1) if (!(await this.#makeOne(database))) break;
      } catch (error) {
        // A full disk, a damaged segment, the end: whoever needs the file learns of it, and this was only to be ready.
        if (!(error instanceof EngineError)) throw error;
      }
    }
  }

  /** False when enough are ready, or there is no room. */
  async #makeOne(database: DatabaseId): Promise<boolean> {
    const number = this.#hot.get(database);
    const version = number === undefined ? null : this.#parts.catalog.versions.byNumber(database, number);
    const uid = this.#uidOf(database);
    if (!version || version.pageCount === 0 || uid === null) return false;
    const bytes = version.pageSize * version.pageCount;
    const budget = this.budget().bytes;
    const near = await this.#near(version, ({ pageCount }, { length }) => length <= Math.max(64, pageCount * LIMITS.readyNearShare));
    if (near.length >= Math.min(this.#copiesOf(bytes), Math.floor(budget / bytes))) return false;
    this.#evict(budget - bytes);
    if (this.#parts.disk.freeBytes(this.#parts.paths.root) < bytes + LIMITS.readyFloorBytes) return false;
    const path = temporaryPath(this.#parts, "ready.db");
    try {
      // The last one stays where it can be taken: then the chain is decoded instead.
      const source = near.length > 1 ? near.at(-1) : undefined;
      if (!source || !(await this.#copy(uid, source.file, path))) await this.#build(version, path);
      else if (source.differing.length > 0) await overwriteFile(this.#parts, version, path, source.differing, () => this.#giveWay());
      this.#ready.add(uid, version.number, path);
    } finally {
      this.#parts.disk.remove(path);
    }
    return true;
  }

  #copiesOf(bytes: number): number {
    const { disk, native, paths } = this.#parts;
    if (bytes <= LIMITS.warmCopyBytesMax) return LIMITS.readyCopies;
    this.#sharesBlocks ??= inspectFilesystem(paths.root, { disk, native }).reflink;
    return this.#sharesBlocks ? 1 : LIMITS.readyCopies;
  }

  async #build(version: VersionRecord, path: string): Promise<void> {
    const { disk, native, clock, lineages } = this.#parts;
    const chain = await lineages.reader(version.database, version.number);
    const order = { disk, native, path, journal: "wal", changeCounter: clock.now() >>> 0, checksum: version.checksum } as const;
    await materialise(chain, order, { giveWay: () => this.#giveWay() });
  }

  /**
   * Copies a ready file. It is out of everybody's reach meanwhile: taken by somebody it would be a checkout that this
   * process reads, and whose locks it drops when it closes it (the POSIX lock trap). False, with nothing at `path`, when
   * somebody was quicker.
   */
  async #copy(uid: string, file: ReadyFile, path: string): Promise<boolean> {
    const own = temporaryPath(this.#parts, "source.db");
    const how = this.#ready.take(file, own);
    if (how === null) return false;
    if (how === "cloned") {
      this.#parts.disk.rename(own, path);
      return true;
    }
    try {
      // Another thread's work: it stands in no verb's way, and a burst of forks wants the copies soon.
      await this.#parts.disk.copy(own, path, async () => this.#refuseWhenClosing());
      return true;
    } finally {
      this.#ready.add(uid, file.version, own);
    }
  }

  /** Throws `cancelled` when the store is being closed. */
  async #giveWay(): Promise<void> {
    await setImmediate();
    if (!this.#closing.signal.aborted) await this.#activity.idle();
    this.#refuseWhenClosing();
  }

  #refuseWhenClosing(): void {
    if (this.#closing.signal.aborted) throw new EngineError("cancelled", "Making a file ready was cancelled");
  }

  /** Ready files from which `version` can be made, the nearest first. */
  async #near(
    version: VersionRecord,
    isNear: (version: VersionRecord, differing: Uint32Array) => boolean,
  ): Promise<{ readonly file: ReadyFile; readonly differing: Uint32Array }[]> {
    const uid = this.#uidOf(version.database);
    if (uid === null) return [];
    const found: { file: ReadyFile; differing: Uint32Array }[] = [];
    for (const file of this.#ready.list(uid).slice(0, LIMITS.readyConsideredMax)) {
      const known = this.#parts.catalog.versions.byNumber(version.database, file.version);
      if (!known || known.pageSize !== version.pageSize) continue;
      const differing = await this.#differing(file.version, version);
      if (differing !== null && isNear(version, differing)) found.push({ file, differing });
    }
    return found.toSorted((a, b) => a.differing.length - b.differing.length);
  }

  /** Null where the ready file's version cannot be read: what is wrong with it is no matter of another one. */
  async #differing(held: VersionNumber, { database, number }: VersionRecord): Promise<Uint32Array | null> {
    try {
      return await this.#parts.lineages.differing(database, held, number);
    } catch (error) {
      if (error instanceof EngineError && (error.code === "segment-missing" || error.code === "segment-corrupt")) return null;
      throw error;
    }
  }

  #uidOf(database: DatabaseId): string | null {
    const record = this.#parts.catalog.databases.byId(database);
    return record ? Buffer.from(record.uid).toString("hex") : null;
  }

  /** Until the rest fits into `bytes`. */
  #evict(bytes: number): void {
    const files = this.#ready.list();
    let total = totalBytes(files);
    for (const file of files.toReversed()) {
      if (total <= bytes) return;
      this.#ready.remove(file);
      total -= file.bytes;
    }
  }
}

function totalBytes(files: readonly Pick<ReadyFile, "bytes">[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

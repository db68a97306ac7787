/**
 * Keeps chains short. A version at which merged segments are due is found when it is committed, and they are made in the
 * background, a few milliseconds at a time and after the verbs; `gc` makes up for what short-lived processes left.
 * Nothing is read or written while nothing is committed.
 *
 * Segment files first, durably; then their rows in one transaction. A crash in between leaves files that no row names,
 * which gc removes. Of several processes that merge the same range, the first to add its row wins, and the others remove
 * what they wrote.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { LIMITS } from "#shared/limits.ts";
import type { DatabaseId, VersionNumber } from "#shared/ids.ts";
import type { Parts } from "../branches/parts.ts";
import type { StoredLink } from "../catalog/merged-segments.ts";
import { BASE_LEVEL, type SegmentRecord, type VersionRecord } from "../catalog/records.ts";
import { EngineError } from "../io/errors.ts";
import { reach } from "../io/faults.ts";
import { FrameCache } from "../segments/frame-cache.ts";
import { planMerges, type PlannedMerge } from "../segments/merge-plan.ts";
import { mergeSegments, pagesInSlices, type Advance } from "../segments/merge-segments.ts";
import { partName, type SegmentParts } from "../segments/segment-parts.ts";
import type { SegmentReader } from "../segments/segment-reader.ts";
import type { StoredSegment } from "../segments/segment-writer.ts";
import { writeBaseOfPages } from "../segments/write-base.ts";
import { breathe, type PhasedWork } from "../transfer/long-work.ts";
import type { Activity } from "./activity.ts";

export type MergerParts = Pick<Parts, "catalog" | "segments" | "lineages" | "writers">;

/** How long a merge waits at a time for a catalog that another process is writing to. */
const LOCK_WAIT_MS = 2;
const LOCK_PAUSE_MS = 20;
/** Heads whose runs are remembered. */
const RUNS_KEPT_MAX = 4_096;

/** "rewritten": as a base. "overtaken": a version went, or somebody else was first; nothing is left of it. */
type Outcome = "merged" | "rewritten" | "overtaken";

interface Target {
  readonly database: DatabaseId;
  readonly version: VersionNumber;
}

export class Merger {
  readonly #parts: MergerParts;
  readonly #activity: Activity;
  readonly #fanIn: number;
  readonly #queue: Target[] = [];
  /** Segments of level 0 at the end of a version's chain, for the versions that were committed last. */
  readonly #runs = new Map<string, number>();
  #running: Promise<void> | null = null;
  /** Merges that may still be made, once the store is being closed. */
  #left = Infinity;
  /** Whether the one under way is ended also then. */
  #isSmall = false;
  #sliceStart = 0;
  #isPublishing = false;
  #problem: string | null = null;

  constructor(parts: MergerParts, activity: Activity, fanIn: number = LIMITS.mergeFanIn) {
    this.#parts = parts;
    this.#activity = activity;
    this.#fanIn = fanIn;
  }

  /** Why the last background merge failed; null when it did not. Chains stay longer then, and nothing else is wrong. */
  get problem(): string | null {
    return this.#problem;
  }

  /** A version was committed: looks, soon, whether merges are due in its chain. Most times it knows that none is. */
  note(database: DatabaseId, version: VersionNumber, parent: VersionNumber | null): void {
    const before = parent === null ? undefined : this.#runs.get(`${database}:${parent}`);
    const run = parent === null ? 0 : before === undefined ? undefined : before + 1;
    if (run !== undefined) this.#keepRun(database, version, run);
    if (this.#isClosing || (run !== undefined && run < this.#fanIn)) return;
    this.#queue.push({ database, version });
    this.#running ??= this.#run();
  }

  /** Resolves when nothing is due any more of what this process committed. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Ends a few small merges, which takes some milliseconds each, and gives the others up. */
  async close(): Promise<void> {
    if (!this.#isClosing) this.#left = LIMITS.mergesAtCloseMax;
    await this.#running;
  }

  /** Makes every merge that is due in the store, as far as it can be made; stops early when the work is cancelled. */
  async catchUp(work: PhasedWork): Promise<void> {
    this.#problem = null;
    let sliceStart = performance.now();
    const advance: Advance = async () => {
      if (performance.now() - sliceStart < LIMITS.mergeSliceMs) return;
      await breathe(work);
      sliceStart = performance.now();
    };
    for (const { id } of this.#parts.catalog.databases.live()) {
      const due = this.#parts.catalog.versions.toMerge(id, this.#fanIn);
      if (due.length > 0) work.phase?.("Merging chains");
      for (const [index, version] of due.entries()) {
        work.progress?.(index, due.length);
        try {
          await this.#mergeChain({ database: id, version }, advance);
        } catch (error) {
          if (isGivenUp(error)) return;
          this.#keepProblem(error);
        }
      }
    }
  }

  #keepRun(database: DatabaseId, version: VersionNumber, run: number): void {
    this.#runs.set(`${database}:${version}`, run);
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= RUNS_KEPT_MAX) return;
      this.#runs.delete(oldest);
    }
  }

  async #run(): Promise<void> {
    // The verb that committed answers first.
    await nextTurn();
    for (let target = this.#queue.shift(); target; target = this.#queue.shift()) {
      try {
        await this.#mergeChain(target, () => this.#giveWay());
        this.#problem = null;
      } catch (error) {
        this.#queue.length = 0;
        if (isGivenUp(error)) break;
        this.#keepProblem(error);
        // What failed will most likely fail again: not before as many versions as make a merge.
        this.#keepRun(target.database, target.version, 0);
      }
    }
    this.#running = null;
  }

  /** For `status`: no verb has failed. */
  #keepProblem(error: unknown): void {
    this.#problem = error instanceof Error ? error.message : String(error);
  }

  get #isClosing(): boolean {
    return this.#left !== Infinity;
  }

  /** Between slices. Throws `cancelled` when the store is being closed and this merge is not small. */
  async #giveWay(): Promise<void> {
    if (performance.now() - this.#sliceStart < LIMITS.mergeSliceMs) return;
    await nextTurn();
    // Where versions come faster than they are merged, waiting would make every chain, and with it every verb, slower.
    // And while it publishes it keeps gc away.
    if (!this.#isClosing && !this.#isPublishing && this.#queue.length < this.#fanIn) await this.#activity.idle();
    if (this.#isClosing && !this.#isSmall) throw givenUp();
    this.#sliceStart = performance.now();
  }

  async #mergeChain({ database, version }: Target, advance: Advance): Promise<void> {
    const { versions } = this.#parts.catalog;
    let overtaken = "";
    for (let isDone = false; !isDone;) {
      const chain = versions.chain(database, version);
      isDone = true;
      for (const merge of planMerges(chain, this.#fanIn)) {
        this.#isSmall = isSmall(merge, chain);
        await advance(0);
        if (this.#isClosing && (!this.#isSmall || (this.#left -= 1) < 0)) throw givenUp();
        const outcome = await this.#merge(database, merge, advance);
        if (outcome === "merged") continue;
        // What follows in the plan may not fit any more. Overtaken twice at one place, it is no race: verify says what it is.
        const place = `${merge.to}.${merge.level}`;
        isDone = outcome === "overtaken" && place === overtaken;
        overtaken = place;
        break;
      }
      if (isDone)
        this.#keepRun(
          database,
          version,
          versions.chain(database, version).findIndex(({ level }) => level > 0),
        );
    }
  }

  async #merge(database: DatabaseId, merge: PlannedMerge, advance: Advance): Promise<Outcome> {
    const { catalog, lineages, writers } = this.#parts;
    const [before, after] = [catalog.versions.byNumber(database, merge.from), catalog.versions.byNumber(database, merge.to)];
    const records = merge.covers.map(({ to, level }) => catalog.versions.segmentAt(database, to, level));
    if (!before || !after || records.includes(null)) return "overtaken";
    const covers: SegmentReader[] = [];
    for (const record of records) if (record) covers.push(lineages.openSegment(record));
    const segments = this.#segmentsFor(covers);
    const state = await lineages.openDetached(database, before.number, segments.frames);
    const order = { before: state, beforeChecksum: before.checksum, covers, checksum: after.checksum, level: merge.level };
    const encoder = await mergeSegments(order, segments, advance);
    return writers.whilePublishing(async () => {
      this.#isPublishing = true;
      const storing = encoder === "rewrite" ? this.#writeBase(after, segments, advance) : publish(encoder);
      const stored = await storing.finally(() => (this.#isPublishing = false));
      reach("merge:written");
      const record = { ...stored, database, to: merge.to, from: stored.level === BASE_LEVEL ? null : merge.from };
      if (!(await this.#add(record))) {
        await removeFiles(segments, stored);
        return "overtaken";
      }
      reach("merge:committed");
      lineages.renew(database, { to: merge.to, level: stored.level });
      return encoder === "rewrite" ? "rewritten" : "merged";
    });
  }

  /** What a small merge reads is what the verbs read; a large one would drive all of that out of their cache. */
  #segmentsFor(covers: readonly SegmentReader[]): SegmentParts {
    const { segments } = this.#parts;
    const bytes = covers.reduce((sum, { index }) => sum + index.pages * index.pageSize, 0);
    const frames = bytes <= LIMITS.mergeMemoryBytes ? segments.frames : new FrameCache(LIMITS.mergeCacheBytes);
    return { ...segments, frames, syncsAsItGoes: true };
  }

  async #writeBase(version: VersionRecord, segments: SegmentParts, advance: Advance): Promise<StoredSegment> {
    const chain = await this.#parts.lineages.openDetached(version.database, version.number, new FrameCache(LIMITS.mergeCacheBytes));
    const { pageSize, pageCount } = chain;
    const base = await writeBaseOfPages({ pageSize, pageCount, pages: pagesInSlices(chain, advance) }, segments);
    if (Buffer.compare(base.checksum, version.checksum) === 0) return base.segment;
    await removeFiles(segments, base.segment);
    throw new EngineError("segment-corrupt", `Cannot store v${version.number} as a base: it does not have the recorded state checksum`);
  }

  /**
   * Waits politely for a busy catalog. After any other error nobody knows whether the row is there, so the files stay: gc
   * removes them when it is not.
   */
  async #add(record: SegmentRecord): Promise<boolean> {
    for (const deadline = performance.now() + LIMITS.catalogLockWaitMs; ;) {
      try {
        return this.#parts.catalog.addMerged(record, LOCK_WAIT_MS);
      } catch (error) {
        if (!(error instanceof EngineError && error.code === "store-busy") || performance.now() > deadline) throw error;
      }
      await sleep(LOCK_PAUSE_MS);
    }
  }
}

/** What a closing store does not leave to a longer-lived process, or to gc. */
function isSmall(merge: PlannedMerge, chain: readonly StoredLink[]): boolean {
  const covered = new Set(merge.covers.map(({ to, level }) => `${to}.${level}`));
  const bytes = chain.reduce((sum, link) => sum + (covered.has(`${link.to}.${link.level}`) ? link.bytes : 0), 0);
  return bytes <= LIMITS.mergeAtCloseBytesMax && chain.length <= LIMITS.mergeAtCloseChainMax;
}

function isGivenUp(error: unknown): boolean {
  return error instanceof EngineError && error.code === "cancelled";
}

function givenUp(): EngineError {
  return new EngineError("cancelled", "Merging was given up because the store was closed", { untouched: "Nothing was changed." });
}

async function publish(encoder: {
  publish(): Promise<{ readonly segment: StoredSegment }>;
  discard(): Promise<void>;
}): Promise<StoredSegment> {
  try {
    return (await encoder.publish()).segment;
  } catch (error) {
    await encoder.discard();
    throw error;
  }
}

async function removeFiles(segments: SegmentParts, { file, parts }: StoredSegment): Promise<void> {
  if (file === null) return;
  for (let part = 0; part < parts; part += 1) await segments.objects.remove(partName(file, part));
}

/**
 * Finished runs, one JSON file each, in the folder `benchmarks` of a store. A file is written beside and renamed: a killed
 * program leaves the run as it was after its last step. Files that hold no run are left alone and not listed.
 */
import { join } from "node:path";
import type { BenchRun, BenchRunHead } from "#shared/bench-views.ts";
import { isRunId, parseBenchHead, parseBenchRun } from "#shared/bench-run-schema.ts";
import { toJson } from "#shared/bench-report.ts";
import { EngineError } from "#engine/io/errors.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";

/** Where a store keeps its runs. The engine does not look into it. */
export function benchmarksFolder(store: string): string {
  return join(store, "benchmarks");
}

/** What follows the head in a file of `toJson`, how such a file ends, and how long a head may be. */
const HEAD_END = ',"facts":[';
const RUN_END = "]}\n";
const HEAD_BYTES_MAX = 64 * 1024;

interface KnownHead {
  /** Size and time of the file that was read. */
  readonly stamp: string;
  readonly head: BenchRunHead | null;
}

export class BenchHistory {
  readonly folder: string;
  /** Files are looked at once. */
  readonly #known = new Map<string, KnownHead>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Newest first. */
  heads(): BenchRunHead[] {
    const names = nodeDisk.list(this.folder).filter((name) => name.endsWith(".json"));
    return names
      .flatMap((name) => this.#headOf(name.slice(0, -".json".length)) ?? [])
      .toSorted((a, b) => b.startedAt - a.startedAt || b.id.localeCompare(a.id));
  }

  /** Null when there is no such run, or its file is damaged. */
  read(id: string): BenchRun | null {
    if (!isRunId(id)) return null;
    const run = readRunFile(this.#path(id));
    return run?.id === id ? run : null;
  }

  /** Makes the folder when there is none. Throws as the disk does; then the earlier state of the file stands. */
  write(run: BenchRun): void {
    if (nodeDisk.stat(this.folder) === null) nodeDisk.makeDirectory(this.folder);
    writeWhole(this.#path(run.id), toJson(run));
  }

  /** False when there was none. */
  remove(id: string): boolean {
    this.#known.delete(id);
    return isRunId(id) && nodeDisk.remove(this.#path(id));
  }

  #headOf(id: string): BenchRunHead | null {
    const stat = nodeDisk.stat(this.#path(id));
    if (!stat) return null;
    const stamp = `${stat.size} ${stat.mtimeNs} ${stat.inode}`;
    const known = this.#known.get(id);
    if (known?.stamp === stamp) return known.head;
    const found = readHead(this.#path(id));
    const head = found?.id === id ? found : null;
    this.#known.set(id, { stamp, head });
    return head;
  }

  #path(id: string): string {
    return join(this.folder, `${id}.json`);
  }
}

export function headOf({ id, suite, title, size, state, startedAt, endedAt, mark }: BenchRun): BenchRunHead {
  return { id, suite, title, size, state, startedAt, endedAt, mark };
}

/**
 * Null when the file is missing or holds no run. A run whose program was killed says that it runs: it is told as what it is,
 * partial.
 */
export function readRunFile(path: string): BenchRun | null {
  if (nodeDisk.stat(path)?.kind !== "file") return null;
  const run = parseBenchRun(parseJson(Buffer.from(nodeDisk.readWhole(path)).toString("utf8")));
  return run && asItIs(run);
}

/**
 * The same for the head alone, which `toJson` writes first: a run may hold hundreds of thousands of samples behind it. What
 * is cut off at its end is no run.
 */
function readHead(path: string): BenchRunHead | null {
  const size = nodeDisk.stat(path)?.size ?? 0;
  const file = nodeDisk.open(path, "r");
  try {
    const start = Buffer.alloc(Math.min(size, HEAD_BYTES_MAX));
    const end = Buffer.alloc(Math.min(size, RUN_END.length));
    nodeDisk.read(file, start, 0);
    nodeDisk.read(file, end, size - end.length);
    const [text, rest] = start.toString("utf8").split(HEAD_END, 2);
    const head = rest !== undefined && end.toString("utf8") === RUN_END ? parseBenchHead(parseJson(`${text}}`)) : null;
    return head && asItIs(head);
  } finally {
    nodeDisk.close(file);
  }
}

function asItIs<T extends BenchRunHead>(run: T): T {
  return run.state === "running" || run.state === "stopping" ? { ...run, state: "partial" } : run;
}

/** Written beside, synced and renamed: whoever opens `path` finds the old file or the new one. */
export function writeWhole(path: string, text: string): void {
  const unfinished = `${path}.${process.pid}.new`;
  try {
    nodeDisk.remove(unfinished);
    const file = nodeDisk.open(unfinished, "wx+");
    try {
      nodeDisk.write(file, Buffer.from(text), 0);
      nodeDisk.sync(file);
    } finally {
      nodeDisk.close(file);
    }
    nodeDisk.rename(unfinished, path);
  } catch (error) {
    removeQuietly(unfinished);
    throw error;
  }
}

/** On the way out of a failure, which is the one to be told. */
function removeQuietly(path: string): void {
  try {
    nodeDisk.remove(path);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

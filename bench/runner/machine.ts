/** The machine card: what has to be the same for figures of two runs to be compared. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { availableParallelism, arch, cpus, loadavg, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import type { MachineCard } from "#shared/bench-views.ts";
import { percentile } from "#shared/bench-statistics.ts";
import { inspectFilesystem } from "#engine/io/filesystem.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { diagnose } from "#engine/upkeep/doctor.ts";

const APPEND_BYTES = 300;
const APPENDS = 50;
/** A disk that is very slow at syncing is known well enough after so long. */
const APPENDS_MS_MAX = 1_000;

/** Looks at the machine and at the disk of `folder`, in which it makes and removes small files. Takes up to a second. */
export async function readMachine(folder: string): Promise<MachineCard> {
  const load = loadavg()[0] ?? 0;
  const native = loadNative();
  const filesystem = inspectFilesystem(folder, { disk: nodeDisk, native });
  const { program, node, sqlite, addon } = await diagnose(null);
  return {
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    // A container's memory where it has less than the machine.
    memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Infinity),
    system: `${type()} ${release()} ${arch()}`,
    filesystem: filesystem.type,
    reflink: filesystem.reflink,
    node,
    sqlite,
    program,
    addon,
    appendMs: measureAppend(join(folder, "append.log")),
    load,
  };
}

/** Names of machine, filesystem and program: runs with other marks are no fair comparison. */
export function markOf(machine: MachineCard): string {
  const { processor, cores, filesystem, reflink, program, node } = machine;
  return `${processor} × ${cores}, ${filesystem}${reflink ? " with reflinks" : ""}, ${program}, Node ${node.replace(/^v/, "")}`;
}

/** Median milliseconds of one durable append to a growing file: what durability costs at least here. */
function measureAppend(path: string): number {
  const line = Buffer.alloc(APPEND_BYTES, "x");
  const file = openSync(path, "wx");
  const samples: number[] = [];
  try {
    const end = performance.now() + APPENDS_MS_MAX;
    do {
      const start = performance.now();
      writeSync(file, line);
      fdatasyncSync(file);
      samples.push(performance.now() - start);
    } while (samples.length < APPENDS && performance.now() < end);
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
  return percentile(
    samples.toSorted((a, b) => a - b),
    50,
  );
}

/** What it takes to throw every branch of a run away and get the disk back. */
import { allDone } from "./all-done.ts";
import { freeBytes } from "./sizes.ts";
import { DATABASE, type RunResult } from "./drive.ts";

export interface Reclaimed {
  readonly branches: number;
  readonly destroyMs: number;
  readonly gcMs: number;
  /** Bytes by which the disk's free space went up. */
  readonly bytes: number;
}

/** Destroys all live branches but the root, as many at once as there are places, then purges the trash. */
export async function reclaim({ store, tree }: RunResult, atOnce: number, pause: () => Promise<void>): Promise<Reclaimed> {
  const before = freeBytes(store.path);
  const doomed = tree.liveNodes().filter((node) => node !== tree.root);
  const left = [...doomed];
  const start = performance.now();
  const destroyAll = async (): Promise<void> => {
    for (let node = left.shift(); node; node = left.shift()) {
      await store.destroy({ database: DATABASE, branch: node.branch });
      await pause();
    }
  };
  await allDone(Array.from({ length: atOnce }, destroyAll));
  const destroyed = performance.now();
  await store.gc({ dryRun: false, purgeAllTrash: true });
  const ended = performance.now();
  return {
    branches: doomed.length,
    destroyMs: destroyed - start,
    gcMs: ended - destroyed,
    bytes: freeBytes(store.path) - before,
  };
}

/**
 * The limit for a workload's wall clock: the same statements and queries by the same processes, on plain copies of the
 * database that were made beforehand. Making copies is not counted, nor is anything about branches.
 */
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { allDone } from "./all-done.ts";
import type { RunOrder } from "./drive.ts";
import { totalSteps } from "./parameters.ts";
import { TOTAL_OF_LINES } from "./statements.ts";

const COPIES_MAX = 64;
const COPIES_BYTES_MAX = 2 * 1024 ** 3;

/** Milliseconds. `passReads`: how many branches the run's passes have read in all. */
export async function measureFloor(
  order: RunOrder,
  { passReads, sourceBytes }: { readonly passReads: number; readonly sourceBytes: number },
  pause: (steps: number) => Promise<void>,
): Promise<number> {
  const folder = join(order.folder, "copies");
  const original = makeOriginal(order);
  const steps = totalSteps(order.parameters);
  const batch = Math.max(order.places.length, Math.min(COPIES_MAX, Math.floor(COPIES_BYTES_MAX / sourceBytes)));
  let ms = 0;
  for (let first = 0; first < steps; first += batch) {
    const count = Math.min(batch, steps - first);
    await makeCopies(original, folder, count, () => pause(first));
    ms += await timeBatch(order, (place, index) => stepAt(order, place, join(folder, `${index}.db`), first + index), count);
  }
  await makeCopies(original, folder, Math.min(batch, passReads), () => pause(steps));
  ms += await timeBatch(
    order,
    (place, index) => place.call({ act: "read", path: join(folder, `${index % batch}.db`), query: TOTAL_OF_LINES }),
    passReads,
  );
  rmSync(folder, { recursive: true, force: true });
  rmSync(original);
  return ms;
}

/** In WAL mode, as checkouts are: what is compared is branching, not journals. */
function makeOriginal({ source, folder }: RunOrder): string {
  const path = join(folder, "original.db");
  copyFileSync(source, path);
  const database = new Database(path);
  database.pragma("journal_mode = WAL");
  database.close();
  return path;
}

async function makeCopies(source: string, folder: string, count: number, pause: () => Promise<void>): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (let index = 0; index < count; index += 1) {
    copyFileSync(source, join(folder, `${index}.db`));
    await pause();
  }
}

/** `count` pieces of work, as many at once as in the run itself: never more than it has workers. */
async function timeBatch(
  { places, parameters }: RunOrder,
  act: (place: RunOrder["places"][number], index: number) => Promise<unknown>,
  count: number,
): Promise<number> {
  let next = 0;
  const start = performance.now();
  await allDone(
    places.slice(0, parameters.workers).map(async (place) => {
      while (next < count) {
        next += 1;
        await act(place, next - 1);
      }
    }),
  );
  return performance.now() - start;
}

/** Steps in the order in which workers take turns: all first steps, then all second ones. */
async function stepAt(order: RunOrder, place: RunOrder["places"][number], path: string, number: number): Promise<void> {
  const { workload, parameters, evaluation, seed, scale } = order;
  const step = { workload, worker: number % parameters.workers, step: Math.floor(number / parameters.workers), seed, scale };
  await place.call({ act: "work", path, step, parameters });
  await place.call({ act: "evaluate", path, step, parameters, evaluation, again: false });
}

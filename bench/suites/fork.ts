import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createStore, type Store } from "#engine/store.ts";
import { AppendLog, catalogBytes, takeTurns, type Bench, type Suite, type Turns } from "../support.ts";

const ROUNDS = 300;
const BRANCHES = [10, 1_000, 10_000];
const IN_FLIGHT = 64;
const IN_FLIGHT_FORKS = 10_000;
const RESERVED_BYTES = 1024 * 1024;
/** A store tells a fork's cost by its bytes once pages have filled up. */
const GROWTH_FORKS = 1_000;

export const forkSuite: Suite = {
  name: "fork",
  about: "a durable fork through the library, against appending 300 B + fdatasync on the same disk (into blocks that exist)",
  async run(bench) {
    const medians: number[] = [];
    const perLimit = async (label: string, store: Store, at?: string) => {
      const turns = await measure(bench, store, at);
      medians.push(bench.ratio(label, turns, { most: 2 }) / (turns.limit.toSorted((a, b) => a - b)[turns.limit.length >> 1] ?? 1));
    };
    for (const megabytes of [12, 1024]) {
      const store = await makeStore(bench, megabytes);
      try {
        if (megabytes === 1024) {
          await perLimit("1 GB, 10 branches, at the head", store);
          continue;
        }
        for (const branches of BRANCHES) {
          await fillUp(store, branches);
          await perLimit(`12 MB, ${branches} branches, at the head`, store);
        }
        await perLimit("12 MB, 10,000 branches, at a checkpoint", store, "start");
        await measureGrowth(bench, store);
        await measureInFlight(bench, store);
      } finally {
        await store.close();
      }
    }
    const [lowest, highest] = [Math.min(...medians), Math.max(...medians)];
    bench.figure("widest step between these ratios, from their middle", ((highest - lowest) / (highest + lowest)) * 100, "%", { most: 20 });
  },
};

async function makeStore(bench: Bench, megabytes: number): Promise<Store> {
  const store = await createStore(bench.path(`fork-${megabytes}`), { actor: "bench" });
  await store.create({ database: "shop", from: bench.database(megabytes) });
  await store.checkpoint({ database: "shop", branch: "main", name: "start" });
  await fillUp(store, 10);
  return store;
}

/** Forks of main until the store has this many branches. */
async function fillUp(store: Store, branches: number): Promise<void> {
  const missing = branches - (await store.status({})).branches;
  for (let left = missing; left > 0; left -= 1_000) {
    await store.fork({ database: "shop", branch: "main", newBranch: `fill-${branches}-${left}`, count: Math.min(left, 1_000) });
  }
}

let names = 0;
function nextName(): string {
  names += 1;
  return `attempt-${names}`;
}

async function measure(bench: Bench, store: Store, at: string | undefined): Promise<Turns> {
  const log = new AppendLog(bench.path("append.log"), RESERVED_BYTES);
  try {
    const fork = () => store.fork({ database: "shop", branch: "main", newBranch: nextName(), ...(at === undefined ? {} : { at }) });
    for (let warm = 0; warm < 50; warm += 1) await fork();
    return await takeTurns({ rounds: ROUNDS, limit: log.append, subject: fork });
  } finally {
    log.close();
  }
}

async function measureGrowth(bench: Bench, store: Store): Promise<void> {
  const before = catalogBytes(store.path);
  const objects = segmentFiles(store);
  for (let count = 0; count < GROWTH_FORKS; count += 1) await store.fork({ database: "shop", branch: "main", newBranch: nextName() });
  bench.figure(`growth of the store per fork, mean of ${GROWTH_FORKS}`, (catalogBytes(store.path) - before) / GROWTH_FORKS, "B", {
    most: 130,
  });
  bench.figure("objects per fork", segmentFiles(store) - objects, "", { most: 0 });
}

function segmentFiles(store: Store): number {
  return readdirSync(join(store.path, "segments")).length;
}

async function measureInFlight(bench: Bench, store: Store): Promise<void> {
  let left = IN_FLIGHT_FORKS;
  const start = performance.now();
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      await store.fork({ database: "shop", branch: "main", newBranch: nextName() });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
  bench.figure(`forks a second, ${IN_FLIGHT} in flight`, IN_FLIGHT_FORKS / ((performance.now() - start) / 1000), "/s", { least: 8_000 });
}

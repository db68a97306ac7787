import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createStore, type Store } from "#engine/store.ts";
import { AppendLog, catalogBytes, time, type Bench, type Suite } from "../support.ts";

const ROUNDS = 300;
const BRANCHES = [10, 1_000, 10_000];
const IN_FLIGHT = 64;
const IN_FLIGHT_FORKS = 10_000;
const RESERVED_BYTES = 1024 * 1024;
/** A store tells a fork's cost by its bytes once pages have filled up. */
const GROWTH_FORKS = 1_000;

/** One way to fork, in a store of its own. */
interface Case {
  readonly label: string;
  readonly store: Store;
  readonly at?: string;
}

export const forkSuite: Suite = {
  name: "fork",
  about: "a durable fork through the library, against appending 300 B + fdatasync on the same disk",
  async run(bench) {
    const small = await Promise.all(BRANCHES.map((branches) => makeStore(bench, 12, branches)));
    const [few, , most] = small;
    const large = await makeStore(bench, 1024, 10);
    try {
      const cases: Case[] = small.map((store, index) => ({ label: `12 MB, ${BRANCHES[index]} branches, at the head`, store }));
      if (most) cases.push({ label: "12 MB, 10,000 branches, at a checkpoint", store: most, at: "start" });
      cases.push({ label: "1 GB, 10 branches, at the head", store: large });
      await measureInTurns(bench, cases);
      if (few) await measureGrowth(bench, few);
      if (few) await measureInFlight(bench, few);
    } finally {
      for (const store of [...small, large]) await store.close();
    }
  },
};

/** Both limits, then every case, again and again: so that all meet the same disk and the same neighbours. */
async function measureInTurns(bench: Bench, cases: readonly Case[]): Promise<void> {
  const growing = new AppendLog(bench.path("growing.log"));
  const existing = new AppendLog(bench.path("existing.log"), RESERVED_BYTES);
  const fork = ({ store, at }: Case) =>
    store.fork({ database: "shop", branch: "main", newBranch: nextName(), ...(at === undefined ? {} : { at }) });
  const samples = { growing: [] as number[], existing: [] as number[], cases: cases.map(() => [] as number[]) };
  try {
    for (const one of cases) for (let warm = 0; warm < 50; warm += 1) await fork(one);
    for (let round = 0; round < ROUNDS; round += 1) {
      samples.growing.push(await time(growing.append));
      samples.existing.push(await time(existing.append));
      for (const [index, one] of cases.entries()) samples.cases[index]?.push(await time(() => fork(one)));
    }
  } finally {
    growing.close();
    existing.close();
  }
  const limit = bench.samples("limit: append 300 B + fdatasync", samples.growing).median;
  const stricter = bench.samples("the same into blocks that exist", samples.existing).median;
  const medians = cases.map(({ label }, index) => {
    const { median } = bench.samples(label, samples.cases[index] ?? []);
    bench.figure(`${label}: fork / append`, median / limit, "×", { most: 2 });
    bench.figure(`${label}: fork / append into blocks that exist`, median / stricter, "×");
    return median;
  });
  const [lowest, highest] = [Math.min(...medians), Math.max(...medians)];
  bench.figure("widest step between the cases, from their middle", ((highest - lowest) / (highest + lowest)) * 100, "%", { most: 20 });
}

async function makeStore(bench: Bench, megabytes: number, branches: number): Promise<Store> {
  const store = await createStore(bench.path(`fork-${megabytes}-${branches}`), { actor: "bench" });
  await store.create({ database: "shop", from: bench.database(megabytes) });
  await store.checkpoint({ database: "shop", branch: "main", name: "start" });
  await fillUp(store, branches);
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

/** One store that grows: what each number of live branches costs, and what the machine runs out of first. */
import { existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { medianOf } from "#shared/bench-statistics.ts";
import { Random } from "#shared/bench-random.ts";
import Database from "better-sqlite3";
import { openStore, type Store } from "#engine/store.ts";
import { runMemoryChild } from "../goals/memory.ts";
import { AppendLog } from "../common/limits.ts";
import { ACTOR, catalogBytes, eraseBranch, MAIN, makeStore, nextName, useSharedStore } from "../common/stores.ts";
import { sizeText } from "../common/tables.ts";
import { takeTurns } from "../common/turns.ts";
import { time, type Bench, type SeriesPlan, type Step } from "../suite.ts";
import type { Scale } from "./scale.ts";

const FIRST_ROWS = 200;
const IN_FLIGHT = 64;
/** Forks between two looks at whether the run was stopped. */
const FORKS_AT_ONCE = 500;
/** Of fewer branches, the catalog's pages say more than their bytes. */
const COUNTED_MIN = 1_000;
/** Few against many: enough for a median. */
const FLAT_ROUNDS = 50;
const FLAT_WARM_UP = 10;
const MEBIBYTE = 1024 ** 2;

const words = (branches: number) => `${branches.toLocaleString("en")} branches`;

export function branchesStep(scale: Scale, branches: number): Step {
  const row = (id: string, title: string, more: Partial<SeriesPlan> = {}): SeriesPlan => ({
    id: `${id}-${branches}`,
    group: words(branches),
    title,
    unit: "ms",
    planned: scale.rounds,
    ...more,
  });
  return {
    id: `branches-${branches}`,
    title: `${words(branches)}, live`,
    series: [
      row("append", "append 300 B + fdatasync"),
      row("fork", "fork", { limit: `append-${branches}`, goal: { of: "ratio", most: 1.5 } }),
      row("list", `the first ${FIRST_ROWS} rows`),
      row("status", "status", { references: branches === 1_000 ? ["offshoot-0.2.9-linux/cli/status-1000"] : [] }),
      row("open", "open the store and close it", { planned: scale.checkoutRounds }),
      row("checkout", "checkout of a fresh branch", { planned: scale.checkoutRounds }),
      row("branch-bytes", "bytes of catalog a branch, of those added here", {
        unit: "bytes",
        planned: 1,
        ...(branches < COUNTED_MIN ? {} : { goal: { of: "median", most: 130 } }),
      }),
      row("memory", "most memory of a process that opens the store and lists", { unit: "bytes", planned: 1 }),
    ],
    run: (bench) => measureAt(bench, scale, branches),
  };
}

async function measureAt(bench: Bench, scale: Scale, branches: number): Promise<void> {
  const store = await useSharedStore(bench, scale.megabytes);
  const log = new AppendLog(join(bench.folder, "append.log"));
  try {
    await store.checkout(MAIN);
    await grow(bench, store, branches);
    let name = "";
    await takeTurns(
      bench,
      [
        { series: `append-${branches}`, act: log.append },
        {
          series: `fork-${branches}`,
          prepare: () => {
            name = nextName();
          },
          act: () => store.fork({ ...MAIN, newBranch: name }),
          // So that there are as many live branches at the end as at the beginning.
          tidy: () => store.destroy({ database: MAIN.database, branch: name }),
        },
        { series: `list-${branches}`, act: () => store.branches({ database: MAIN.database, limit: FIRST_ROWS }) },
        { series: `status-${branches}`, act: () => store.status({}) },
      ],
      { title: `Fork and list among ${words(branches)}`, rounds: scale.rounds, warmUp: 5 },
    );
    await takeTurns(
      bench,
      [
        { series: `open-${branches}`, act: async () => (await openStore(store.path, ACTOR)).close() },
        {
          series: `checkout-${branches}`,
          prepare: async () => {
            name = nextName();
            await store.fork({ ...MAIN, newBranch: name });
          },
          act: () => store.checkout({ database: MAIN.database, branch: name }),
          tidy: () => eraseBranch(store, name),
        },
      ],
      { title: `Open and check out among ${words(branches)}`, rounds: scale.checkoutRounds, warmUp: 1 },
    );
    bench.record(`memory-${branches}`, await lookedAt(bench, store));
  } finally {
    log.close();
    await store.close();
  }
}

/** Forks of main, an operation each and many in flight, until so many branches are live. Records what each of them added. */
async function grow(bench: Bench, store: Store, branches: number): Promise<void> {
  const before = catalogBytes(store);
  const first = (await store.status({})).branches;
  for (let live = first; live < branches; live += FORKS_AT_ONCE) {
    bench.phase(`Fork until there are ${words(branches)}`, live, branches);
    await bench.pause();
    await forkMany(store, Math.min(FORKS_AT_ONCE, branches - live));
  }
  if (branches > first) bench.record(`branch-bytes-${branches}`, (catalogBytes(store) - before) / (branches - first));
  else bench.skip(`branch-bytes-${branches}`, "The store had as many branches already");
}

async function forkMany(store: Store, count: number): Promise<void> {
  let left = count;
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      await store.fork({ ...MAIN, newBranch: nextName("live") });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
}

async function lookedAt(bench: Bench, store: Store): Promise<number> {
  return existsSync("/proc/self/status") ? (await runMemoryChild(bench, "look", store.path)).engineBytes : process.memoryUsage().rss;
}

/** The widest step between the numbers of branches; bytes that reads add; what the machine has room for. */
export function wallsStep(scale: Scale): Step {
  const most = scale.branches.at(-1) ?? 0;
  return {
    id: "walls",
    title: "Reads, and what the machine runs out of first",
    series: [
      {
        id: "fork-widest-step",
        group: "All",
        title: `fork: step from one branch to ${words(most)}, from their middle`,
        unit: "ratio",
        planned: 1,
        goal: { of: "median", most: 0.2 },
      },
      {
        id: "read-bytes",
        group: "All",
        title: `bytes that ${scale.reads.toLocaleString("en")} reads of an idle branch add`,
        unit: "bytes",
        planned: 1,
        goal: { of: "median", most: 0 },
        references: ["sandbase/read-bytes"],
      },
      {
        id: "idle-bytes",
        group: "All",
        title: `an idle branch of ${words(most)}, with all that the store keeps for them`,
        unit: "bytes",
        planned: 1,
        references: ["sandbase/idle-bytes"],
      },
    ],
    run: async (bench) => {
      const store = await useSharedStore(bench, scale.megabytes);
      try {
        const memoryOfFew = await measureFlatness(bench, store);
        const { path } = await store.checkout(MAIN);
        bench.record("read-bytes", await measureReads(store, path, { reads: scale.reads, seed: bench.order.seed }));
        const { branches } = await store.status({});
        const bytes = catalogBytes(store) / branches;
        bench.record("idle-bytes", bytes);
        await noteWalls(bench, store, { branches, bytesOfBranch: bytes, bytesOfFile: statSync(path).size, memoryOfFew });
      } finally {
        await store.close();
      }
    },
  };
}

/**
 * All those branches against a store that has one, in turns: the minutes between the steps above would show, too. Returns
 * the memory that looking at the store of one takes.
 */
async function measureFlatness(bench: Bench, many: Store): Promise<number> {
  const few = await makeStore(bench, "few", 1);
  const samples = { few: [] as number[], many: [] as number[] };
  try {
    for (let round = -FLAT_WARM_UP; round < FLAT_ROUNDS; round += 1) {
      bench.phase("Fork among few and among many, in turns", Math.max(0, round), FLAT_ROUNDS);
      await bench.pause();
      for (const [name, store] of [["few", few] as const, ["many", many] as const]) {
        const branch = nextName();
        const ms = await time(() => store.fork({ ...MAIN, newBranch: branch }));
        if (round >= 0) samples[name].push(ms);
        await store.destroy({ database: MAIN.database, branch });
      }
    }
  } finally {
    await few.close();
  }
  const [low, high] = [medianOf(samples.few) ?? 0, medianOf(samples.many) ?? 0];
  bench.record("fork-widest-step", Math.abs(high - low) / (high + low));
  bench.fact("fork in a store of one branch", low, "ms");
  bench.fact("fork in this store", high, "ms");
  return lookedAt(bench, few);
}

/** Bytes that the store has more of after reads by a stock client and by the engine. */
async function measureReads(
  store: Store,
  path: string,
  { reads, seed }: { readonly reads: number; readonly seed: number },
): Promise<number> {
  const random = new Random(seed);
  const before = bytesIn(store.path);
  const client = new Database(path, { readonly: true });
  try {
    const rows = client.prepare<[], number>("SELECT max(id) FROM big").pluck().get() ?? 1;
    const read = client.prepare("SELECT note FROM big WHERE id = ?");
    for (let count = 0; count < reads; count += 1) read.get(1 + random.below(rows));
  } finally {
    client.close();
  }
  for (let count = 0; count < reads; count += 100) await store.history(MAIN);
  return bytesIn(store.path) - before;
}

/** Of all files but shared memory, which is none of a store's bytes, and goes with the client. */
function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !name.endsWith("-shm"))
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}

interface Costs {
  readonly branches: number;
  readonly bytesOfBranch: number;
  readonly bytesOfFile: number;
  readonly memoryOfFew: number;
}

/** How many branches each resource is enough for, and which one is the first to go. */
async function noteWalls(bench: Bench, store: Store, { branches, bytesOfBranch, bytesOfFile, memoryOfFew }: Costs): Promise<void> {
  const disk = statfsSync(store.path);
  const free = disk.bavail * disk.bsize;
  const memory = await lookedAt(bench, store);
  const memoryOfBranch = Math.max(0, memory - memoryOfFew) / branches;
  bench.fact("free on the disk", free, "bytes");
  bench.fact("free inodes", disk.ffree);
  bench.fact("memory of the machine", totalmem(), "bytes");
  bench.fact(`most memory of a process among ${words(branches)}`, memory, "bytes");
  bench.fact("of this for each branch", memoryOfBranch, "bytes");
  const withoutFile: Walls = {
    disk: free / bytesOfBranch,
    memory: memoryOfBranch > 0 ? totalmem() / memoryOfBranch : Infinity,
  };
  const withFile: Walls = {
    memory: withoutFile["memory"] ?? Infinity,
    // An unchanged file that shares its blocks takes none of its own.
    disk: free / (bench.filesystem.reflink ? bytesOfBranch : bytesOfFile + bytesOfBranch),
    // Filesystems that make inodes as they go report none.
    inodes: disk.ffree > 0 ? disk.ffree : Infinity,
  };
  noteFirstWall(bench, "branches without a file", withoutFile);
  noteFirstWall(bench, `branches with an unchanged file of ${sizeText(Math.max(1, Math.round(bytesOfFile / MEBIBYTE)))}`, withFile);
}

/** Resource, and the branches that it is enough for. */
type Walls = Readonly<Record<string, number>>;

function noteFirstWall(bench: Bench, what: string, walls: Walls): void {
  for (const [resource, enough] of Object.entries(walls)) {
    bench.fact(`${what} until ${resource} is used up`, Number.isFinite(enough) ? Math.floor(enough) : "no end in sight");
  }
  const first = Object.entries(walls).toSorted(([, a], [, b]) => a - b)[0];
  bench.fact(`${what}: met first`, first?.[0] ?? "unknown");
}

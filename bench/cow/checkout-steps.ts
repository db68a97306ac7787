/** Files of branches after a fork: made from a neighbour, from the pool or from segments; with a warm cache and a cold one. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import type { Store } from "#engine/store.ts";
import { notePeers } from "../peers/find-program.ts";
import { openAndAsk, WAY_TITLES, WAYS, wayOf, type Way } from "../common/checkouts.ts";
import { copyBytes, Cp, dropFromCache, missingCacheDrop, reflink, removeDatabase } from "../common/limits.ts";
import { eraseBranch, MAIN, makeStore, nextName, removeShortcuts } from "../common/stores.ts";
import { sizeId, sizeText } from "../common/tables.ts";
import { isCancelled, takeTurns } from "../common/turns.ts";
import { time, type Bench, type SeriesPlan, type Step } from "../suite.ts";
import { published, type Scale } from "./scale.ts";

const REST_MS = 250;
const WHOSE = ["parent", "child"] as const;
const CACHES = ["warm", "cold"] as const;
const READS = ["fresh", "second", "copy"] as const;

const READ_TITLES: Readonly<Record<(typeof READS)[number], string>> = {
  fresh: "first read of a child's fresh file",
  second: "second read of it",
  copy: "first read of a plain copy that was just written",
};

export function checkoutStep(scale: Scale): Step {
  const size = sizeText(scale.middle);
  const row = (id: string, group: string, title: string, more: Partial<SeriesPlan> = {}): SeriesPlan => ({
    id,
    group,
    title: `${title}, ${size}`,
    unit: "ms",
    planned: scale.checkoutRounds,
    ...more,
  });
  return {
    id: "checkout",
    title: `Checkout after a fork, ${size}`,
    series: [
      row("cp", "Limit", "cp", { references: published("cp", sizeId(scale.middle), ["offshoot-0.2.12"]) }),
      row("reflink", "Limit", "reflink"),
      row("checkout-segments", "Checkout", "no other file there: from segments", { limit: "cp" }),
      ...WHOSE.flatMap((whose) =>
        CACHES.map((cache) =>
          row(`checkout-${whose}-${cache}`, "Checkout", `of the ${whose} after a fork, ${cache} cache`, {
            limit: "cp",
            references: cache === "warm" ? published(`checkout-${whose}`, sizeId(scale.middle), ["offshoot-0.2.12"]) : [],
          }),
        ),
      ),
      row("checkout-child-burst", "Checkout", "of children in a row, without a rest for what runs in the background", { limit: "cp" }),
      ...WAYS.map((way) => row(`checkout-way-${way}`, "Checkout", `of these, ${WAY_TITLES[way]}`, { limit: "cp", planned: 0 })),
      row("checkout-clean", "Checkout", "that is clean already", { references: ["offshoot-0.2.12/make-bench/checkout-clean-64mb"] }),
      row("checkout-open", "Checkout", "that is clean already + open + one query", {
        references: ["offshoot-0.2.12/make-bench/session-open-64mb"],
      }),
      ...READS.map((read) => row(`read-${read}`, "First read", READ_TITLES[read])),
    ],
    run: (bench) => measureCheckouts(bench, scale),
  };
}

async function measureCheckouts(bench: Bench, scale: Scale): Promise<void> {
  notePeers(bench);
  const source = await bench.database(scale.middle);
  const store = await makeStore(bench, "checkout", scale.middle);
  const rounds = scale.checkoutRounds;
  try {
    await measureCopies(bench, { source, store, rounds });
    const child = nextName("child");
    await store.fork({ ...MAIN, newBranch: child });
    await store.checkout(MAIN);
    await store.checkout({ database: MAIN.database, branch: child });
    const ways = new Set<Way>();
    const missing = missingCacheDrop(bench.folder);
    if (missing !== null) for (const whose of WHOSE) bench.skip(`checkout-${whose}-cold`, missing);
    for (const cache of CACHES.filter((each) => each === "warm" || missing === null)) {
      for (let round = 0; round < rounds; round += 1) {
        bench.phase(`Checkout of parent and child, ${cache} cache`, round, rounds);
        await measureParent(bench, store, { child, cache, ways });
        await measureChild(bench, store, { cache, ways, source });
      }
    }
    await measureBurst(bench, store, { rounds, ways });
    for (const way of WAYS) if (!ways.has(way)) bench.skip(`checkout-way-${way}`, "No checkout of this run was served this way");
    await measureClean(bench, store, rounds);
  } finally {
    await store.close();
  }
}

async function measureCopies(
  bench: Bench,
  { source, store, rounds }: { readonly source: string; readonly store: Store; readonly rounds: number },
): Promise<void> {
  const cp = new Cp();
  const copy = join(bench.folder, "copy.db");
  const fresh = { prepare: () => removeDatabase(copy), tidy: () => removeDatabase(copy) };
  if (!bench.filesystem.reflink) bench.skip("reflink", `Files on ${bench.filesystem.type} share no blocks`);
  await takeTurns(
    bench,
    [
      { series: "cp", act: () => cp.copy(source, copy), ...fresh },
      ...(bench.filesystem.reflink ? [{ series: "reflink", act: () => reflink(source, copy), ...fresh }] : []),
      { series: "checkout-segments", prepare: () => removeShortcuts(store), act: () => store.checkout(MAIN) },
    ],
    { title: "cp and checkout from segments", rounds, warmUp: 1, settle: bench.folder },
  );
}

interface Taking {
  readonly cache: (typeof CACHES)[number];
  readonly ways: Set<Way>;
}

/** The parent's file is removed each time; the child's is there. */
async function measureParent(bench: Bench, store: Store, { child, cache, ways }: Taking & { readonly child: string }): Promise<void> {
  await store.checkout({ database: MAIN.database, branch: child });
  removeDatabase(store.checkoutPath(MAIN.database, MAIN.branch));
  await takeOne(bench, store, { branch: MAIN.branch, series: `checkout-parent-${cache}`, cache, ways });
}

/** A fresh child each time; the parent's file is there. What it reads first, and what a plain copy costs to read. */
async function measureChild(bench: Bench, store: Store, { cache, ways, source }: Taking & { readonly source: string }): Promise<void> {
  const branch = nextName();
  await store.fork({ ...MAIN, newBranch: branch });
  await takeOne(bench, store, { branch, series: `checkout-child-${cache}`, cache, ways });
  if (cache === "warm") {
    const file = store.checkoutPath(MAIN.database, branch);
    bench.record("read-fresh", await time(() => readAll(file)));
    bench.record("read-second", await time(() => readAll(file)));
    const copy = join(bench.folder, "read.db");
    copyBytes(source, copy, "no sync");
    bench.record("read-copy", await time(() => readAll(copy)));
    removeDatabase(copy);
  }
  await eraseBranch(store, branch);
}

/** Where files are kept ready, they run out. */
async function measureBurst(
  bench: Bench,
  store: Store,
  { rounds, ways }: { readonly rounds: number; readonly ways: Set<Way> },
): Promise<void> {
  const branches = Array.from({ length: rounds }, () => nextName());
  for (const [round, branch] of branches.entries()) {
    bench.phase("Checkout of children in a row", round, rounds);
    await store.fork({ ...MAIN, newBranch: branch });
    await takeOne(bench, store, { branch, series: "checkout-child-burst", cache: "warm", ways, restMs: 0 });
  }
  for (const branch of branches) await eraseBranch(store, branch);
}

async function takeOne(
  bench: Bench,
  store: Store,
  {
    branch,
    series,
    cache,
    ways,
    restMs = REST_MS,
  }: Taking & { readonly branch: string; readonly series: string; readonly restMs?: number },
): Promise<void> {
  if (restMs > 0) await sleep(restMs);
  await bench.pause();
  try {
    if (cache === "cold") dropAll(store.path);
    const start = performance.now();
    const { checkout } = await store.checkout({ database: MAIN.database, branch });
    const ms = performance.now() - start;
    bench.record(series, ms);
    const way = wayOf(checkout);
    if (!way) return;
    ways.add(way);
    bench.record(`checkout-way-${way}`, ms);
  } catch (error) {
    if (isCancelled(bench, error)) throw error;
    bench.fail(series, error);
  }
}

/** Everything of the store but the catalog leaves the system's cache. */
function dropAll(store: string): void {
  for (const name of ["checkouts", "cache", "segments", "readonly"]) for (const file of filesIn(join(store, name))) dropFromCache(file);
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

async function measureClean(bench: Bench, store: Store, rounds: number): Promise<void> {
  const { path } = await store.checkout(MAIN);
  await takeTurns(
    bench,
    [
      { series: "checkout-clean", act: () => store.checkout(MAIN) },
      {
        series: "checkout-open",
        act: async () => {
          await store.checkout(MAIN);
          openAndAsk(path);
        },
      },
    ],
    { title: "Checkout of a clean file", rounds, warmUp: 2 },
  );
}

/** Reads every row, as a query that no index helps. */
function readAll(path: string): void {
  const client = new Database(path);
  try {
    client.prepare("SELECT sum(length(note)), sum(length(token)) FROM big").get();
  } finally {
    client.close();
  }
}

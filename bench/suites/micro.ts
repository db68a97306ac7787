/**
 * The microbenchmarks of BranchBench's harness, on a store of ours: what one operation takes among 1 … 1,024 branches, for
 * one caller and for many. Method and caveats: docs/BENCHMARKS.md.
 */
import type { BenchSize, BenchTable } from "#shared/bench-views.ts";
import { formatBytes } from "#shared/units.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import type { Bench, Order, SeriesPlan, Step, Suite } from "../suite.ts";
import { seedBytes } from "../branchbench/seed.ts";
import {
  AT_ONCE_OPERATIONS,
  FILES_MAX,
  PROCESSES_MAX,
  runAtOnce,
  runThroughput,
  THROUGHPUT_OPERATIONS,
  type ThroughputPoint,
} from "../micro/at-once.ts";
import { countOf, runLatency, shapeOf, type Counts } from "../micro/latency.ts";
import { OPERATIONS, type Operation } from "../micro/operations.ts";

const GIB = 1024 ** 3;
const POWERS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] as const;
const QUICK_POWERS = [1, 8, 64] as const;

const COUNTS: Readonly<Record<"full" | "quick", Counts>> = {
  full: { create: 20, connect: 50, connectNew: 9, point: 1_000, rangeUpdate: 200, schema: 10, rangeRows: 200 },
  quick: { create: 3, connect: 5, connectNew: 3, point: 50, rangeUpdate: 10, schema: 3, rangeRows: 50 },
};
const AT_ONCE = { full: { createRounds: 3, perThread: 200, rangeRows: 200 }, quick: { createRounds: 1, perThread: 20, rangeRows: 50 } };
const THROUGHPUT = {
  full: { pointCount: 5_000, rangeCount: 1_000, rangeRows: 100, rounds: 3 },
  quick: { pointCount: 200, rangeCount: 40, rangeRows: 50, rounds: 1 },
};

/** What grows from one point of a throughput series to the next. */
const KINDS = [
  { id: "one-branch", title: "one branch, more at once" },
  { id: "one-thread", title: "more branches, one at a time" },
  { id: "proportional", title: "as many branches as are at once" },
] as const;

export const suite: Suite = {
  id: "micro",
  title: "Microbenchmarks",
  about: "One operation among 1 to 1,024 branches, alone and with many at once, against the same on a plain copy",
  sizes: [
    { id: "quick", label: "0.8 MiB, up to 64 branches", seconds: 20, diskBytes: 0.3 * GIB },
    { id: "S", label: "17 MiB, up to 1,024 branches", seconds: 300, diskBytes: 3 * GIB },
    { id: "M", label: "123 MiB, up to 1,024 branches", seconds: 900, diskBytes: 12 * GIB },
    { id: "L", label: "509 MiB, up to 1,024 branches", seconds: 3_600, diskBytes: 45 * GIB },
  ],
  options: [
    {
      id: "part",
      title: "What is measured",
      values: [
        { id: "all", title: "Everything" },
        { id: "latency", title: "One caller" },
        { id: "at-once", title: "Many callers" },
        { id: "throughput", title: "Operations in a second" },
      ],
    },
    {
      id: "shape",
      title: "Shape of the tree, for one caller",
      values: [
        { id: "spine", title: "Spine: each forks the one before" },
        { id: "fan-out", title: "Fan-out: all fork the root" },
        { id: "bushy", title: "Bushy: each forks a random one" },
      ],
    },
    {
      id: "changes",
      title: "What each branch changes, for one caller",
      values: [
        { id: "none", title: "Nothing" },
        { id: "row", title: "One row, and a checkpoint" },
      ],
    },
  ],
  plan: (order) => [
    ...(has(order, "latency") ? powersOf(order).map((n) => planLatency(order, n)) : []),
    ...(has(order, "at-once") ? powersOf(order).map((threads) => planAtOnce(order, threads)) : []),
    ...(has(order, "throughput") ? [planThroughput(order)] : []),
  ],
  tables: (order) => [
    ...(has(order, "latency") ? [latencyTable(order)] : []),
    ...(has(order, "at-once") ? [atOnceTable(order)] : []),
    ...(has(order, "throughput") ? [throughputTable(order)] : []),
  ],
};

function has({ options }: Order, part: "latency" | "at-once" | "throughput"): boolean {
  return (options["part"] ?? "all") === "all" || options["part"] === part;
}

function powersOf({ size }: Order): readonly number[] {
  return size === "quick" ? QUICK_POWERS : POWERS;
}

function formOf(size: BenchSize): "full" | "quick" {
  return size === "quick" ? "quick" : "full";
}

/** Why files of so many branches cannot be made here; null when they can. */
function tooLarge({ folder, filesystem, order }: Bench, files: number): string | null {
  const bytes = files * seedBytes(order.size) * 1.1;
  const free = nodeDisk.freeBytes(folder);
  if (filesystem.reflink || bytes <= free) return null;
  return `Files of ${files} branches need ${formatBytes(bytes)} on ${filesystem.type}, which cannot share blocks; ${formatBytes(free)} are free`;
}

const PLACES = ["first", "middle", "last"] as const;

function planLatency(order: Order, n: number): Step {
  const counts = COUNTS[formOf(order.size)];
  const group = `${n} ${n === 1 ? "branch" : "branches"}`;
  const one = (id: string, title: string, planned: number, more: Partial<SeriesPlan> = {}): SeriesPlan => ({
    id: `n${n}-${id}`,
    group,
    title,
    unit: "ms",
    planned,
    ...more,
  });
  return {
    id: `latency-${n}`,
    title: `One caller, ${group}`,
    series: [
      ...PLACES.map((place) =>
        one(`create-${place}`, `create, from the ${place}`, counts.create, { references: createdBy(order, n, place) }),
      ),
      ...PLACES.map((place) => one(`delete-${place}`, `delete a child of the ${place}`, counts.create)),
      one("connect-new", "connect, a file made from nothing", counts.connectNew),
      ...PLACES.map((place) =>
        one(`connect-${place}`, `connect to the ${place}`, counts.connect, { references: connectedBy(order, place) }),
      ),
      ...OPERATIONS.flatMap((operation) => [
        one(operation, TITLES[operation], countOf(operation, counts), { limit: `n${n}-plain-${operation}` }),
        one(`plain-${operation}`, `${TITLES[operation]}, plain copy`, countOf(operation, counts)),
      ]),
    ],
    missing: (bench) => (bench.order.options["changes"] === "row" ? tooLarge(bench, n) : null),
    run: (bench) => runLatency(bench, n, counts),
  };
}

const TITLES: Readonly<Record<Operation, string>> = {
  read: "read a row",
  insert: "insert a row",
  update: "update a row",
  delete: "delete a row",
  "range-read": "read a range",
  "range-update": "update a range",
  "add-index": "add an index",
  "drop-index": "drop an index",
  "add-column": "add a column",
  "drop-column": "drop a column",
};

function planAtOnce(order: Order, threads: number): Step {
  const plan = { threads, ...AT_ONCE[formOf(order.size)] };
  const files = Math.min(threads, FILES_MAX);
  const operations = Math.min(threads, PROCESSES_MAX) * plan.perThread;
  const one = (id: string, title: string, planned: number, references: readonly string[] = []): SeriesPlan => ({
    id: `t${threads}-${id}`,
    group: `${threads} at once`,
    title,
    unit: "ms",
    planned,
    references,
  });
  return {
    id: `at-once-${threads}`,
    title: `${threads} at once`,
    series: [
      one("create", "create", threads * plan.createRounds, createdAtOnceBy(order, threads)),
      one("connect", "connect, a file made from nothing", files),
      ...AT_ONCE_OPERATIONS.map((operation) => one(operation, TITLES[operation], operations)),
    ],
    missing: (bench) => tooLarge(bench, files),
    run: (bench) => runAtOnce(bench, plan),
  };
}

function throughputPoints(order: Order): readonly (ThroughputPoint & { readonly title: string })[] {
  const powers = order.size === "quick" ? [1, 4] : POWERS.filter((power) => power <= PROCESSES_MAX);
  return KINDS.flatMap(({ id, title }) =>
    powers.map((power) => ({
      id: `throughput-${id}-${power}`,
      title: `${title}: ${power}`,
      branches: id === "one-branch" ? 1 : power,
      threads: id === "one-thread" ? 1 : power,
    })),
  );
}

function planThroughput(order: Order): Step {
  const points = throughputPoints(order);
  const counts = THROUGHPUT[formOf(order.size)];
  return {
    id: "throughput",
    title: "Operations in a second",
    series: points.flatMap((point) =>
      THROUGHPUT_OPERATIONS.map((operation) => ({
        id: `${point.id}-${operation}`,
        group: point.title,
        title: TITLES[operation],
        unit: "per-second" as const,
        planned: counts.rounds,
        references: throughputBy(order, point.id, operation),
      })),
    ),
    missing: (bench) => tooLarge(bench, Math.max(...points.map(({ branches }) => branches))),
    run: (bench) => runThroughput(bench, points, counts),
  };
}

function latencyTable(order: Order): BenchTable {
  const powers = powersOf(order);
  const ids = [
    ...PLACES.map((place) => [`create-${place}`, `create, from the ${place}`] as const),
    ...PLACES.map((place) => [`delete-${place}`, `delete a child of the ${place}`] as const),
    ["connect-new", "connect, a file made from nothing"] as const,
    ...PLACES.map((place) => [`connect-${place}`, `connect to the ${place}`] as const),
    ...OPERATIONS.flatMap((operation) => [
      [operation, TITLES[operation]] as const,
      [`plain-${operation}`, `${TITLES[operation]}, plain copy`] as const,
    ]),
  ];
  return {
    title: `One caller, by number of branches (${shapeOf(order.options["shape"])})`,
    columns: ["median", ...powers.map(String)],
    rows: ids.map(([id, label]) => ({ label, cells: powers.map((n) => ({ series: `n${n}-${id}`, statistic: "median" as const })) })),
    note: "Operations run on the last branch's file and on a plain copy, in turns.",
  };
}

function atOnceTable(order: Order): BenchTable {
  const powers = powersOf(order);
  const ids = ["create", "connect", ...AT_ONCE_OPERATIONS] as const;
  return {
    title: "Many at once",
    columns: ["median", ...powers.map(String)],
    rows: ids.map((id) => ({
      label: id === "create" || id === "connect" ? id : TITLES[id],
      cells: powers.map((threads) => ({ series: `t${threads}-${id}`, statistic: "median" as const })),
    })),
    note: `Forks and checkouts: callers of one engine. Operations: at most ${PROCESSES_MAX} processes, on files of at most ${FILES_MAX} branches.`,
  };
}

function throughputTable(order: Order): BenchTable {
  const points = throughputPoints(order);
  return {
    title: "Operations in a second",
    columns: ["median", ...THROUGHPUT_OPERATIONS.map((operation) => TITLES[operation])],
    rows: points.map(({ id, title }) => ({
      label: title,
      cells: THROUGHPUT_OPERATIONS.map((operation) => ({ series: `${id}-${operation}`, statistic: "median" as const })),
    })),
    note: `At most ${PROCESSES_MAX} at once: each is a process.`,
  };
}

/** Published medians for the same number of branches. Forks of the last branch: in a spine the deepest. */
function createdBy({ size }: Order, n: number, place: (typeof PLACES)[number]): string[] {
  if (size === "quick" || place !== "last") return [];
  const systems = { 1: ["dolt", "file-copy", "transaction", "neon", "xata", "tiger"], 4: ["tiger"], 8: ["xata"], 16: ["neon"] };
  const found = n === 1024 ? ["dolt", "file-copy", "transaction"] : ((systems as Readonly<Record<number, string[]>>)[n] ?? []);
  return found.map((system) => `micro/${system}/create-${n}`);
}

function connectedBy({ size }: Order, place: (typeof PLACES)[number]): string[] {
  if (size === "quick" || place !== "last") return [];
  return ["dolt/connect-min", "dolt/connect-max", "file-copy/connect", "transaction/connect", "neon/connect-min"].map(
    (id) => `micro/${id}`,
  );
}

function createdAtOnceBy({ size }: Order, threads: number): string[] {
  if (size === "quick") return [];
  if (threads === 16) return ["micro/neon/concurrent-create-16"];
  return threads === 1024 ? ["dolt", "file-copy", "transaction"].map((system) => `micro/${system}/concurrent-create-1024`) : [];
}

/** The systems' figures for one branch and one at a time; for more, those with as many branches as were at once. */
function throughputBy({ size }: Order, point: string, operation: (typeof THROUGHPUT_OPERATIONS)[number]): string[] {
  if (size === "quick") return [];
  if (point === "throughput-proportional-1") return [`micro/dolt/throughput-${operation}-1`, `micro/neon/throughput-${operation}-1`];
  if (point === "throughput-proportional-16") return [`micro/neon/throughput-${operation}-16`];
  return point === "throughput-one-branch-1" && operation === "read" ? ["micro/dolt/throughput-read-one-branch-1"] : [];
}

/** offshoot's own suites: copy-on-write, isolation, `make bench`. */
import type { BenchReference } from "#shared/bench-views.ts";
import { SECOND, references, type Figure } from "./build-references.ts";
import { BESIDE_OFFSHOOT, OFFSHOOT, OFFSHOOT_11, OFFSHOOT_7, OFFSHOOT_BEFORE } from "./origins.ts";

const BYTES = { unit: "bytes", statistic: "median" } as const;
const COUNT = { unit: "count", statistic: "median" } as const;
const ONCE = { statistic: "single run" } as const;
const P95 = { statistic: "p95" } as const;
const RAW = "one of the five samples behind the median";

function raw(id: string, label: string, samples: readonly number[]): readonly Figure[] {
  return samples.map((value, index) => [`${id}-sample-${index + 1}`, `${label}, sample ${index + 1}`, value, { ...ONCE, note: RAW }]);
}

const COW: readonly Figure[] = [
  ["fork-head-12mb", "fork at the head, 12 MB", 15],
  ["fork-head-100mb", "fork at the head, 100 MB", 43.6],
  ["fork-head-1gb", "fork at the head, 1 GB", 9.5],
  ["fork-checkpoint-12mb", "fork at a checkpoint, 12 MB", 8.7],
  ["fork-checkpoint-100mb", "fork at a checkpoint, 100 MB", 8.8],
  ["fork-checkpoint-1gb", "fork at a checkpoint, 1 GB", 10.4],
  ...raw("fork-head-12mb", "fork at the head, 12 MB", [13.7, 15.3, 14.9, 15.6, 15]),
  ...raw("fork-head-100mb", "fork at the head, 100 MB", [43.8, 43.7, 43.6, 20.4, 9.1]),
  ...raw("fork-head-1gb", "fork at the head, 1 GB", [8.7, 8.9, 9.5, 10.1, 10.5]),
  ...raw("fork-checkpoint-12mb", "fork at a checkpoint, 12 MB", [8.7, 9.6, 9.6, 7.4, 8.2]),
  ...raw("fork-checkpoint-100mb", "fork at a checkpoint, 100 MB", [9.2, 8.8, 10.6, 8.3, 8.7]),
  ...raw("fork-checkpoint-1gb", "fork at a checkpoint, 1 GB", [9.4, 10.1, 11.4, 10.4, 11.2]),
  ["added-bytes-100mb", "bytes added per fork, 100 MB", 377, { ...BYTES, note: "376.9 at N = 100" }],
  ["added-objects-100mb", "objects added per fork, 100 MB", 2, COUNT],
  ["added-time-100mb", "fork, N = 100, 100 MB", 16.8],
  ["added-bytes-materialised-100mb", "bytes added per fork, forced copy, 100 MB", 105_883_916, BYTES],
  ["added-objects-materialised-100mb", "objects added per fork, forced copy, 100 MB", 2, COUNT],
  ["added-time-materialised-100mb", "fork by forced copy, 100 MB", 44.5],
  ["divergence-8-100mb", "bytes stored, 8 one-row transactions, 100 MB", 6_089, BYTES],
  [
    "divergence-8-per-transaction-100mb",
    "bytes per one-row transaction, k = 8, 100 MB",
    761.1,
    { ...BYTES, note: "about 714 of them pages" },
  ],
  ["divergence-8-pages-per-transaction-100mb", "bytes of pages per one-row transaction, k = 8, 100 MB", 714, BYTES],
  ["divergence-8-time-100mb", "8 one-row transactions with flush, 100 MB", 0.67 * SECOND, ONCE],
  ["divergence-20-100mb", "bytes stored, 20 one-row transactions, 100 MB", 105_898_603, BYTES],
  ["divergence-20-per-transaction-100mb", "bytes per one-row transaction, k = 20, 100 MB", 5_294_930, BYTES],
  ["divergence-20-time-100mb", "20 one-row transactions with flush, 100 MB", 1.3 * SECOND, ONCE],
  ["checkout-parent-100mb", "checkout of the parent after a fork, 100 MB", 8.8],
  ["checkout-child-100mb", "checkout of the child after a fork, 100 MB", 9.9],
];

const COW_BEFORE: readonly Figure[] = [
  ["fork-head-100mb", "fork at the head, 100 MB", 45.4],
  ["fork-head-1gb", "fork at the head, 1 GB", 376.7],
  ["fork-checkpoint-12mb", "fork at a checkpoint, 12 MB", 9.2],
  ["fork-checkpoint-1gb", "fork at a checkpoint, 1 GB", 8.7],
  ["checkout-parent-100mb", "checkout of the parent after a fork, 100 MB", 262.8],
  ["checkout-child-100mb", "checkout of the child after a fork, 100 MB", 262.1],
];

const COW_7: readonly Figure[] = [
  ["fork-head-12mb", "fork at the head, 12 MB", 17],
  ["fork-head-100mb", "fork at the head, 100 MB", 50.3],
  ["fork-head-1gb", "fork at the head, 1 GB", 418],
  ["fork-checkpoint-12mb", "fork at a checkpoint, 12 MB", 11.7],
  ["fork-checkpoint-100mb", "fork at a checkpoint, 100 MB", 11.3],
  ["fork-checkpoint-1gb", "fork at a checkpoint, 1 GB", 9.3],
  ["cp-100mb", "cp, 100 MB", 43.5],
  ["divergence-8-per-transaction-100mb", "bytes per one-row transaction, 100 MB", 776, BYTES],
  ["checkout-parent-100mb", "checkout of the parent after a fork, 100 MB", 610],
  ["checkout-child-100mb", "checkout of the child after a fork, 100 MB", 357.7],
];

const ISOLATION: readonly Figure[] = [
  ["fork-open-close-10mb", "fork + open + close, 10 MB", 54.89],
  ["fork-open-close-100mb", "fork + open + close, 100 MB", 199.78],
  ["fork-open-close-100mb-p95", "fork + open + close, 100 MB", 230.44, P95],
  ["fork-10mb", "fork alone, 10 MB", 11.96],
  ["fork-100mb", "fork alone, 100 MB", 9.63],
  ["fork-100mb-rerun-1", "fork alone, 100 MB, again", 8.79],
  ["fork-100mb-rerun-1-p95", "fork alone, 100 MB, again", 10.24, P95],
  ["fork-100mb-rerun-2", "fork alone, 100 MB, a third time", 8.62],
  ["fork-100mb-rerun-2-p95", "fork alone, 100 MB, a third time", 9.71, P95],
  ["fork-open-close-10mb-other-1", "fork + open + close, 10 MB, other run", 55.63],
  ["fork-open-close-100mb-other-1", "fork + open + close, 100 MB, other run", 201.43],
  ["fork-10mb-other-1", "fork alone, 10 MB, other run", 9.7],
  ["fork-100mb-other-1", "fork alone, 100 MB, other run", 8.8],
  ["fork-open-close-10mb-other-2", "fork + open + close, 10 MB, another run", 52.64],
  ["fork-open-close-100mb-other-2", "fork + open + close, 100 MB, another run", 198.33],
  ["open-of-fork-10mb", "fork + open + close against fork alone, 10 MB", 4.6, { unit: "ratio" }],
  ["open-of-fork-100mb", "fork + open + close against fork alone, 100 MB", 20.7, { unit: "ratio" }],
];

const ISOLATION_BESIDE: readonly Figure[] = [
  ["backup-10mb", "SQLite backup() with fsync, 10 MB", 10.39],
  ["backup-100mb", "SQLite backup() with fsync, 100 MB", 98.66],
  ["backup-100mb-0.2.11", "SQLite backup() with fsync, 100 MB, page of v0.2.11", 93.06],
  ["file-copy-10mb", "file copy without fsync, 10 MB", 1, { note: "published as “less than 1 ms”" }],
  [
    "postgres-template-10mb",
    "Postgres CREATE DATABASE … TEMPLATE by docker exec, 10 MB",
    50.61,
    { note: "Postgres's database is 10.6 MiB" },
  ],
  [
    "postgres-template-100mb",
    "Postgres CREATE DATABASE … TEMPLATE by docker exec, 100 MB",
    118.8,
    { note: "Postgres's database is 105.2 MiB" },
  ],
  ["postgres-template-100mb-0.2.11", "Postgres CREATE DATABASE … TEMPLATE by docker exec, 100 MB, page of v0.2.11", 119.91],
  ["postgres-cold", "Postgres, cold container to pg_isready", 347.26, { note: "n = 3" }],
  ["postgres-cold-p95", "Postgres, cold container to pg_isready", 427.5, { ...P95, note: "n = 3" }],
  ["postgres-select", "docker exec SELECT 1", 34.7],
  ["postgres-select-p90", "docker exec SELECT 1, 90th percentile", 38.1, { note: "published as p90; n = 3" }],
  ["postgres-ready-to-select", "Postgres, pg_isready to first SELECT", 77.16],
  ["postgres-ready-to-select-p90", "Postgres, pg_isready to first SELECT, 90th percentile", 166.92, { note: "published as p90; n = 3" }],
];

const MAKE_BENCH: readonly Figure[] = [
  ["fork-head-64mb", "fork at the head, 64 MB", 19.75],
  ["fork-head-512mb", "fork at the head, 512 MB", 11.7],
  ["fork-head-64mb-rerun", "fork at the head, 64 MB, again", 17.7],
  ["fork-head-512mb-rerun", "fork at the head, 512 MB, again", 10.4],
  ["checkout-clean-64mb", "checkout that is clean already, 64 MB", 0.3125],
  ["checkout-clean-512mb", "checkout that is clean already, 512 MB", 0.3239],
  ["session-open-64mb", "opening a session, 64 MB", 6.24],
  ["session-open-512mb", "opening a session, 512 MB", 5.69],
  ["session-open-64mb-rerun", "opening a session, 64 MB, again", 6.4],
  ["session-open-512mb-rerun", "opening a session, 512 MB, again", 5.8],
  ["flush-bytes-64mb", "bytes of one forced flush, 64 MB", 67_759_458, BYTES],
  ["flush-bytes-512mb", "bytes of one forced flush, 512 MB", 542_254_275, BYTES],
];

const MAKE_BENCH_BEFORE: readonly Figure[] = [
  ["fork-head-64mb", "fork at the head, 64 MB", 31.09],
  ["fork-head-512mb", "fork at the head, 512 MB", 183.05],
  ["checkout-clean-64mb", "checkout that is clean already, 64 MB", 21.9],
  ["checkout-clean-512mb", "checkout that is clean already, 512 MB", 176.98],
  ["session-open-64mb", "opening a session, 64 MB", 27.76],
  ["session-open-512mb", "opening a session, 512 MB", 180.07],
  ["flush-bytes-64mb", "bytes of one forced flush, 64 MB", 67_759_458, BYTES],
  ["flush-bytes-512mb", "bytes of one forced flush, 512 MB", 542_254_275, BYTES],
  ["fork-4gb", "fork, 4 GB", 3.41 * SECOND, { note: "older page" }],
  ["fork-4gb-buffered", "fork, 4 GB, before it streamed", 83.4 * SECOND, { note: "older page" }],
  ["fork-minio-64mb", "fork on MinIO, 64 MB", 153, { note: "older page" }],
  ["fork-minio-512mb", "fork on MinIO, 512 MB", 1_030, { note: "older page" }],
  ["fork-minio-buffered-64mb", "fork on MinIO, 64 MB, before", 536.9, { note: "older page" }],
  ["fork-minio-buffered-512mb", "fork on MinIO, 512 MB, before", 4_570, { note: "older page" }],
];

export const OFFSHOOT_SUITES: readonly BenchReference[] = [
  ...references("offshoot-0.2.12/cow", OFFSHOOT, COW),
  ...references("offshoot-0.2.12/cow", BESIDE_OFFSHOOT, [
    ["cp-100mb", "cp, 100 MB", 18.5],
    ...raw("cp-100mb", "cp, 100 MB", [18.7, 18.5, 18.3, 18.7, 18.4]),
    ["cp-100mb-bytes-per-second", "cp, 100 MB, bytes in a second", 5_630_000_000, { unit: "per-second" }],
  ]),
  ...references("offshoot-before-0.2.12/cow", OFFSHOOT_BEFORE, COW_BEFORE),
  ...references("offshoot-0.2.7/cow", OFFSHOOT_7, COW_7),
  ...references("offshoot-0.2.12/isolation", OFFSHOOT, ISOLATION),
  ...references("offshoot-0.2.12/isolation", BESIDE_OFFSHOOT, ISOLATION_BESIDE),
  ...references("offshoot-0.2.11/isolation", OFFSHOOT_11, [
    ["fork-open-close-10mb", "fork + open + close, 10 MB", 68.34],
    ["fork-open-close-100mb", "fork + open + close, 100 MB", 420.87],
    ["fork-open-close-100mb-p95", "fork + open + close, 100 MB", 435.87, P95],
    ["fork-100mb", "fork alone, 100 MB", 9.41],
  ]),
  ...references("offshoot-0.2.12/make-bench", OFFSHOOT, MAKE_BENCH),
  ...references("offshoot-before-0.2.12/make-bench", OFFSHOOT_BEFORE, MAKE_BENCH_BEFORE),
  ...references(
    "offshoot-0.2.12/sizes",
    OFFSHOOT,
    [
      ["10mb", "the database called 10 MB", 10 * 1024 ** 2],
      ["100mb", "the database called 100 MB", 100.1 * 1024 ** 2],
    ],
    BYTES,
  ),
];

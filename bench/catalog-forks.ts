/**
 * What a durable fork costs the catalog, against the least that durability costs on the same disk: one append of 300
 * bytes with fdatasync. The two alternate, so that both meet the same disk; medians and their ratio are printed, for
 * stores of 10 to 100,000 branches, and forks a second with 64 callers in flight.
 *
 *   node bench/catalog-forks.ts [FOLDER]     FOLDER: on the disk to measure; default: the system's temporary folder
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Catalog, type CatalogPorts } from "#engine/catalog/catalog.ts";
import { BASE_LEVEL } from "#engine/catalog/records.ts";
import type { BranchRecord, NewBranches, OperationDraft } from "#engine/catalog/records.ts";
import { systemClock, systemRandomness } from "#engine/io/clock.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";

const ROUNDS = 400;
const IN_FLIGHT = 64;
const IN_FLIGHT_FORKS = 20_000;
const SIZES = [10, 1_000, 10_000, 100_000];
const PORTS: CatalogPorts = { disk: nodeDisk, native: loadNative() };

function draft(rest: Partial<OperationDraft> & Pick<OperationDraft, "kind">): OperationDraft {
  return { uid: systemRandomness.bytes(16), at: systemClock.now(), actor: "bench", database: null, branch: null, moves: [], ...rest };
}

function forkDraft(main: BranchRecord, names: readonly string[]): OperationDraft {
  const newBranches: NewBranches = { names, head: main.head, forkVersion: main.head, parent: main.id, ttlMs: null, meta: {} };
  return draft({ kind: "fork", database: main.database, branch: main.id, newBranches });
}

async function createMain(catalog: Catalog): Promise<BranchRecord> {
  const bytes = Buffer.alloc(5000);
  const operation = await catalog.commit(
    draft({
      kind: "create-database",
      newDatabase: { uid: systemRandomness.bytes(16), name: "shop", journal: "wal", source: null },
      versions: [
        {
          parent: null,
          kind: "import",
          branch: null,
          pageSize: 4096,
          pageCount: 25_000,
          checksum: Buffer.alloc(16),
          changedPages: 25_000,
          message: null,
          meta: {},
          segment: { level: BASE_LEVEL, bytes: bytes.length, inline: bytes, file: null, parts: 0 },
        },
      ],
      newBranches: { names: ["main"], head: { new: 0 }, forkVersion: null, parent: null, ttlMs: null, meta: {} },
    }),
  );
  const main = operation.branch === null ? null : catalog.branches.byId(operation.branch);
  if (!main) throw new Error("main was just made");
  return main;
}

const milliseconds = (from: bigint): number => Number(process.hrtime.bigint() - from) / 1e6;

function quantile(samples: readonly number[], share: number): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length * share)] ?? Number.NaN;
}

/** Appends and forks in turn; milliseconds of each. */
async function measureForks(catalog: Catalog, main: BranchRecord, log: number): Promise<{ appends: number[]; forks: number[] }> {
  const [appends, forks]: [number[], number[]] = [[], []];
  const line = Buffer.alloc(300, "x");
  const tag = catalog.lastOperation();
  for (let round = 0; round < ROUNDS; round += 1) {
    const appendStart = process.hrtime.bigint();
    writeSync(log, line);
    fdatasyncSync(log);
    appends.push(milliseconds(appendStart));
    const one = forkDraft(main, [`attempt-${tag}-${round}`]);
    const forkStart = process.hrtime.bigint();
    await catalog.commit(one);
    forks.push(milliseconds(forkStart));
  }
  return { appends, forks };
}

async function measureInFlight(catalog: Catalog, main: BranchRecord): Promise<number> {
  const tag = catalog.lastOperation();
  let next = 0;
  const start = process.hrtime.bigint();
  const caller = async (): Promise<void> => {
    while (next < IN_FLIGHT_FORKS) {
      next += 1;
      await catalog.commit(forkDraft(main, [`flight-${tag}-${next}`]));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
  return IN_FLIGHT_FORKS / (milliseconds(start) / 1000);
}

const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), "coppice-bench-"));
try {
  console.log(
    `range locks: ${PORTS.native.hasRangeLocks ? "yes" : "no"}; ${ROUNDS} rounds; ${IN_FLIGHT} callers, ${IN_FLIGHT_FORKS} forks`,
  );
  console.log("branches   append ms   fork ms   p95 ms   fork/append   64 in flight /s");
  for (const size of SIZES) {
    const path = join(folder, `catalog-${size}`);
    PORTS.disk.makeDirectory(path);
    Catalog.create(join(path, "catalog.db"), PORTS, { uid: systemRandomness.bytes(16), at: systemClock.now() });
    const catalog = Catalog.open(join(path, "catalog.db"), PORTS);
    const main = await createMain(catalog);
    await catalog.commit(
      forkDraft(
        main,
        Array.from({ length: size - 1 }, (_, index) => `branch-${index}`),
      ),
    );
    const log = openSync(join(path, "append.log"), "w");
    const { appends, forks } = await measureForks(catalog, main, log);
    closeSync(log);
    const [append, fork] = [quantile(appends, 0.5), quantile(forks, 0.5)];
    const rate = await measureInFlight(catalog, main);
    catalog.close();
    const cells = [
      String(size).padStart(8),
      append.toFixed(3).padStart(11),
      fork.toFixed(3).padStart(9),
      quantile(forks, 0.95).toFixed(3).padStart(8),
    ];
    console.log(`${cells.join(" ")} ${(fork / append).toFixed(2).padStart(13)} ${rate.toFixed(0).padStart(17)}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

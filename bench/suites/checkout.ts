/** What bringing files and versions together costs, against plain copies and plain reads of the same bytes. */
import { spawnSync } from "node:child_process";
import { closeSync, fdatasyncSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import Database from "better-sqlite3";
import { loadNative } from "#engine/io/load-native.ts";
import { createStore, type Store } from "#engine/store.ts";
import { runSql, takeTurns, time, type Bench, type Suite } from "../support.ts";

const ROUNDS = 40;
const COPIES = 7;
const MEGABYTE = 1024 * 1024;
const branch = { database: "shop", branch: "main" };

export const rollbackSuite: Suite = {
  name: "rollback",
  about: "rollback of a 1 GB checkout between versions about 50 pages apart, client closed, against writing 50 pages + fdatasync",
  async run(bench) {
    const store = await createStore(bench.path("rollback"), { actor: "bench" });
    try {
      await store.create({ database: "shop", from: bench.database(1024) });
      const { path } = await store.checkout(branch);
      await store.checkpoint({ ...branch, name: "a" });
      touchPages(path, 50);
      const { changedPages } = await store.checkpoint({ ...branch, name: "b" });
      bench.figure("pages between the two versions", changedPages, "");
      const file = openSync(bench.path("pages"), "w");
      const page = Buffer.alloc(4096, "x");
      const writePages = () => {
        for (let number = 0; number < 50; number += 1) writeSync(file, page, 0, page.length, number * 400 * page.length);
        fdatasyncSync(file);
      };
      const turns = await takeTurns({
        rounds: ROUNDS,
        limit: writePages,
        subject: (round) => store.rollback({ ...branch, to: round % 2 === 0 ? "a" : "b" }),
      });
      closeSync(file);
      bench.figure("rollback, 1 GB, 50 pages: median", bench.ratio("rollback, 1 GB, 50 pages", turns), "ms", { most: 10 });
      await measureCheckpoint(bench, store, path);
    } finally {
      await store.close();
      rmSync(store.path, { recursive: true });
    }
  },
};

/** Writes to about so many pages, far from each other. */
function touchPages(path: string, pages: number): void {
  runSql(path, `UPDATE big SET state = state || '!' WHERE id % ((SELECT max(id) FROM big) / ${pages}) = 1`);
}

async function measureCheckpoint(bench: Bench, store: Store, path: string): Promise<void> {
  const reader = scanner(path);
  const client = new Database(path);
  const last = client.prepare<[], number>("SELECT max(id) FROM big").pluck().get() ?? 0;
  const ids = Array.from({ length: 10 }, (_, index) => 1 + Math.floor((last / 10) * index)).join();
  const change = `UPDATE big SET customer = customer + 1 WHERE id IN (${ids})`;
  const checkpoint = () => store.checkpoint(branch);
  try {
    client.exec(change);
    await checkpoint();
    const open = await takeTurns({ rounds: 10, limit: reader.scan, prepare: () => client.exec(change), subject: checkpoint });
    bench.figure(
      "checkpoint, 10 pages of 1 GB, client open: median",
      bench.ratio("checkpoint, client open (limit: hash 1 GB)", open),
      "ms",
      { most: 15 },
    );
  } finally {
    client.close();
    reader.close();
  }
  const closed = await takeTurns({ rounds: 5, limit: scanOnce(path), prepare: () => runSql(path, change), subject: checkpoint });
  bench.ratio("checkpoint, client closed (limit: hash 1 GB)", closed, { most: 1.3 });
}

/** Reads a whole file and hashes its pages, as the comparison of last resort does. */
function scanner(path: string): { scan: () => void; close: () => void } {
  const native = loadNative();
  const file = openSync(path, "r");
  const chunk = Buffer.alloc(4 * MEGABYTE);
  return {
    scan: () => {
      for (let position = 0; ;) {
        const length = readSync(file, chunk, 0, chunk.length, position);
        if (length === 0) return;
        native.hashPages(chunk.subarray(0, length), 4096);
        position += length;
      }
    },
    close: () => closeSync(file),
  };
}

/** No client of this process has the file open, so closing it takes no lock away. */
function scanOnce(path: string): () => void {
  return () => {
    const { scan, close } = scanner(path);
    scan();
    close();
  };
}

export const checkoutSuite: Suite = {
  name: "checkout",
  about: "a file of 100 MB from nothing, against cp of the same file",
  async run(bench) {
    const source = bench.database(100);
    const store = await createStore(bench.path("checkout"), { actor: "bench" });
    const copy = bench.path("copy.db");
    const cp = () => {
      spawnSync("cp", [source, copy], { stdio: "inherit" });
    };
    try {
      await store.create({ database: "shop", from: source });
      await store.fork({ ...branch, newBranch: "b", count: COPIES });
      await store.checkpoint({ ...branch, name: "start" });
      const decode = [];
      const copies = [];
      for (let round = 0; round < COPIES; round += 1) {
        rmSync(copy, { force: true });
        copies.push(await time(cp));
        decode.push(await time(() => store.openCheckpoint({ database: "shop", branch: "main", at: "v1" })));
        rmSync(bench.path("checkout", "readonly"), { recursive: true, force: true });
      }
      bench.ratio("by decoding", { limit: copies, subject: decode }, { most: 2.5 });
      await store.checkout(branch);
      const neighbour = await takeTurns({
        rounds: COPIES,
        limit: cp,
        subject: (round) => store.checkout({ database: "shop", branch: `b-${round + 1}` }),
      });
      bench.ratio("from a neighbour's file", neighbour, { most: 1.5 });
      await store.checkout(branch);
    } finally {
      await store.close();
      rmSync(store.path, { recursive: true });
      rmSync(copy, { force: true });
    }
  },
};

import Database from "better-sqlite3";
import { createStore } from "#engine/store.ts";
import { catalogBytes, type Suite } from "../support.ts";

/** Pages of the catalog hold about forty of these, so a figure for eight is the mean of many eights. */
const STEPS = [8, 20, 1_000];
const ROWS_LEAD = 200;

export const growthSuite: Suite = {
  name: "growth",
  about: "bytes that the store grows by per one-row insert + checkpoint on a database of 100 MB, operation and version rows included",
  async run(bench) {
    const store = await createStore(bench.path("growth"), { actor: "bench" });
    await store.create({ database: "shop", from: bench.database(100) });
    const branch = { database: "shop", branch: "main" };
    const { path } = await store.checkout(branch);
    const client = new Database(path);
    const insert = client.prepare("INSERT INTO small (note) VALUES (?)");
    let row = 0;
    let segmentBytes = 0;
    const checkpoint = async () => {
      row += 1;
      insert.run(`note ${row} of somebody`);
      segmentBytes += (await store.checkpoint(branch)).storedBytes;
    };
    const step = async (times: number) => {
      for (let count = 0; count < times; count += 1) await checkpoint();
    };
    try {
      await step(ROWS_LEAD);
      for (const k of STEPS) {
        const rounds = Math.max(1, Math.ceil(200 / k));
        const before = catalogBytes(store.path);
        segmentBytes = 0;
        await step(k * rounds);
        bench.figure(`k = ${k}: all in, mean of ${k * rounds}`, (catalogBytes(store.path) - before) / (k * rounds), "B", { most: 250 });
        bench.figure(`k = ${k}: of this, the segment`, segmentBytes / (k * rounds), "B");
      }
    } finally {
      client.close();
      await store.close();
    }
  },
};

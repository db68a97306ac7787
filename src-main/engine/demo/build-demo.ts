import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../store-api.ts";
import { writeDemoDatabase } from "./demo-database.ts";
import { DEMO_STORY, type DemoStep } from "./demo-story.ts";

export const DEMO_DATABASE = "shop";

/** Runs SQL in a database file as any client would, and closes it again. */
export type RunSql = (path: string, sql: string) => void;

/**
 * Fills a store with the demo: the shop with twenty branches. Throws `name-taken` when the store has a database of that
 * name, and what the verbs throw.
 */
export async function buildDemo(store: Store, runSql: RunSql): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "coppice-demo-"));
  try {
    const file = join(folder, `${DEMO_DATABASE}.db`);
    writeDemoDatabase(file);
    await store.create({ database: DEMO_DATABASE, from: file });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const step of DEMO_STORY) await carryOut(store, step, runSql);
}

/** `main` is protected in the demo, so moving it takes force. */
async function carryOut(store: Store, step: DemoStep, runSql: RunSql): Promise<void> {
  const database = DEMO_DATABASE;
  switch (step.do) {
    case "fork":
      await store.fork({ database, branch: step.from, newBranch: step.branch, at: step.at, ttlMs: step.ttlMs, meta: step.meta });
      return;
    case "sql":
      runSql((await store.checkout({ database, branch: step.branch })).path, step.sql);
      return;
    case "checkpoint":
      await store.checkpoint({ database, branch: step.branch, name: step.name, message: step.message });
      return;
    case "rollback":
      await store.rollback({ database, branch: step.branch, to: step.to, force: true });
      return;
    case "promote":
      await store.promote({ database, source: step.source, onto: step.onto, force: true });
      return;
    case "label": {
      const { meta } = await store.branch({ database, branch: step.branch });
      await store.setMeta({ database, branch: step.branch, meta: { ...meta, status: step.status } });
      return;
    }
    case "protect":
      await store.protect({ database, branch: step.branch, protected: true });
      return;
  }
}

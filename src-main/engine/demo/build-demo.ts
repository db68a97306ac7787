import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EngineError } from "../io/errors.ts";
import type { Work } from "../segments/page-source.ts";
import type { Store } from "../store-api.ts";
import { writeDemoDatabase } from "./demo-database.ts";
import { DEMO_STORY, type DemoStep } from "./demo-story.ts";

export const DEMO_DATABASE = "shop";

/** Runs SQL in a database file as any client would, and closes it again. */
export type RunSql = (path: string, sql: string) => void;

/** Progress counts the steps of the story. */
export type DemoWork = Work & { readonly phase?: (name: string) => void };

/**
 * Fills a store with the demo: the shop with twenty branches. Throws `name-taken` when the store has a database of that
 * name, `cancelled`, and what the verbs throw.
 */
export async function buildDemo(store: Store, runSql: RunSql, work: DemoWork = {}): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "coppice-demo-"));
  try {
    const file = join(folder, `${DEMO_DATABASE}.db`);
    work.phase?.("Writing the shop");
    writeDemoDatabase(file);
    await store.create({ database: DEMO_DATABASE, from: file }, { signal: work.signal });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  work.phase?.("Telling its story");
  for (const [index, step] of DEMO_STORY.entries()) {
    if (work.signal?.aborted) throw new EngineError("cancelled", "Making the demo was cancelled", { untouched: "Nothing of it is kept." });
    await carryOut(store, step, runSql);
    work.progress?.(index + 1, DEMO_STORY.length);
  }
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

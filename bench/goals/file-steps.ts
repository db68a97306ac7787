/** What bringing files and versions together costs, against plain copies and plain reads of the same bytes. */
import { closeSync, openSync } from "node:fs";
import Database from "better-sqlite3";
import type { Store } from "#engine/store.ts";
import { hashFile, hashOpenFile } from "../common/limits.ts";
import { MAIN, runSql, useSharedStore } from "../common/stores.ts";
import { takeTurns } from "../common/turns.ts";
import type { Bench, Step } from "../suite.ts";
import { movesStep } from "../common/moves.ts";
import { sizeText } from "../common/tables.ts";
import type { Scale } from "./scale.ts";

const PAGES_CHANGED = 10;

/** A checkout moves between versions that differ in about fifty pages; no client has it open. */
export function switchStep(scale: Scale): Step {
  return movesStep({ id: "switch", megabytes: scale.large, rounds: scale.switchRounds, seriesOf: (verb) => `switch-${verb}` });
}

/** Ten pages of a large database changed: named by the WAL of an open client, or found in a quiet file. */
export function checkpointStep(scale: Scale): Step {
  const size = sizeText(scale.large);
  const title = `checkpoint, ${PAGES_CHANGED} pages of ${size}`;
  return {
    id: "checkpoint",
    title: `Checkpoint of ${PAGES_CHANGED} changed pages of ${size}`,
    series: [
      { id: "hash-file", group: "Limit", title: `read and hash ${size}`, unit: "ms", planned: scale.checkpointRounds },
      {
        id: "checkpoint-open",
        group: "Checkpoint",
        title: `${title}, client open`,
        unit: "ms",
        planned: scale.checkpointRounds,
        limit: "hash-file",
        goal: { of: "median", most: 5 },
      },
      { id: "hash-file-quiet", group: "Limit", title: `read and hash ${size}, client closed`, unit: "ms", planned: scale.checkpointRounds },
      {
        id: "checkpoint-closed",
        group: "Checkpoint",
        title: `${title}, client closed`,
        unit: "ms",
        planned: scale.checkpointRounds,
        limit: "hash-file-quiet",
        goal: { of: "ratio", most: 1.3 },
      },
    ],
    run: async (bench) => {
      const store = await useSharedStore(bench, scale.large);
      try {
        const { path } = await store.checkout(MAIN);
        const change = changeOfTenPages(path);
        await measureWhileOpen(bench, store, { path, change, rounds: scale.checkpointRounds });
        await takeTurns(
          bench,
          [
            { series: "hash-file-quiet", act: () => hashFile(path) },
            { series: "checkpoint-closed", prepare: () => runSql(path, change), act: () => store.checkpoint(MAIN) },
          ],
          { title: "Hash the file and checkpoint, client closed", rounds: scale.checkpointRounds, warmUp: 1 },
        );
      } finally {
        await store.close();
      }
    },
  };
}

async function measureWhileOpen(
  bench: Bench,
  store: Store,
  { path, change, rounds }: { readonly path: string; readonly change: string; readonly rounds: number },
): Promise<void> {
  // Open longer than the client: closing it earlier would drop the client's locks.
  const file = openSync(path, "r");
  const client = new Database(path);
  try {
    await takeTurns(
      bench,
      [
        { series: "hash-file", act: () => hashOpenFile(file) },
        { series: "checkpoint-open", prepare: () => client.exec(change), act: () => store.checkpoint(MAIN) },
      ],
      { title: "Hash the file and checkpoint, client open", rounds, warmUp: 1 },
    );
  } finally {
    client.close();
    closeSync(file);
  }
}

function changeOfTenPages(path: string): string {
  const database = new Database(path);
  try {
    const last = database.prepare<[], number>("SELECT max(id) FROM big").pluck().get() ?? 0;
    const ids = Array.from({ length: PAGES_CHANGED }, (_, index) => 1 + Math.floor((last / PAGES_CHANGED) * index));
    return `UPDATE big SET customer = customer + 1 WHERE id IN (${ids.join()})`;
  } finally {
    database.close();
  }
}

/** A database in which a row is a page, so that a share of the rows is that share of the pages. */
import Database from "better-sqlite3";
import { Random } from "#shared/bench-random.ts";

/** With its header and the row's other fields it leaves no room for a second one. */
const BODY_BYTES = 3_900;
const PAGE_BYTES = 4_096;
const BATCH_ROWS = 2_000;

/** How a rewritten page differs from what it was. */
export const KINDS = ["touched", "rewritten"] as const;
export type Kind = (typeof KINDS)[number];
export const KIND_TITLES: Readonly<Record<Kind, string>> = {
  touched: "one number of each page changes",
  rewritten: "each page is all new and does not compress",
};

/** Makes the database at `path`; returns its rows. `pause` is called between batches and may throw. */
export async function makeBlocks(
  path: string,
  { megabytes, seed }: { readonly megabytes: number; readonly seed: number },
  pause: (done: number, total: number) => Promise<void>,
): Promise<number> {
  const rows = Math.floor((megabytes * 1024 ** 2) / PAGE_BYTES);
  const random = new Random(seed);
  const body = Buffer.alloc(BODY_BYTES);
  const database = new Database(path);
  try {
    for (const pragma of [`page_size = ${PAGE_BYTES}`, "journal_mode = OFF", "synchronous = OFF"]) database.pragma(pragma);
    database.exec("CREATE TABLE blocks (id INTEGER PRIMARY KEY, changed INTEGER NOT NULL, body BLOB NOT NULL)");
    const insert = database.prepare("INSERT INTO blocks (changed, body) VALUES (1, ?)");
    const fill = database.transaction((count: number) => {
      for (let left = count; left > 0; left -= 1) {
        random.fill(body);
        insert.run(body);
      }
    });
    for (let done = 0; done < rows; done += BATCH_ROWS) {
      fill(Math.min(BATCH_ROWS, rows - done));
      await pause(Math.min(rows, done + BATCH_ROWS), rows);
    }
  } finally {
    database.close();
  }
  return rows;
}

/** Changes that share of the rows, spread evenly, and folds the WAL in, so that the file alone holds them. */
export function changeShare(
  path: string,
  { kind, percent, seed }: { readonly kind: Kind; readonly percent: number; readonly seed: number },
): void {
  const database = new Database(path);
  try {
    database.pragma("synchronous = OFF");
    const rows = database.prepare<[], number>("SELECT max(id) FROM blocks").pluck().get() ?? 0;
    const count = Math.max(1, Math.round((rows * percent) / 100));
    const random = new Random(seed, Math.round(percent * 10));
    const body = Buffer.alloc(BODY_BYTES);
    const touch = database.prepare("UPDATE blocks SET changed = changed + 1 WHERE id = ?");
    const rewrite = database.prepare("UPDATE blocks SET changed = changed + 1, body = ? WHERE id = ?");
    database.transaction(() => {
      for (let index = 0; index < count; index += 1) {
        const id = 1 + Math.floor((index * rows) / count);
        if (kind === "touched") touch.run(id);
        else {
          random.fill(body);
          rewrite.run(body, id);
        }
      }
    })();
    database.pragma("wal_checkpoint(TRUNCATE)");
  } finally {
    database.close();
  }
}

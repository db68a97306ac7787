/**
 * The database that suites import: like what people have, rows of text and numbers that compress, some blobs that do not,
 * an index. Drawn from a generator of our own, because SQLite's random() cannot be seeded: the same seed and size give the
 * same bytes on every machine with the same SQLite.
 */
import { renameSync } from "node:fs";
import Database from "better-sqlite3";
import { Random } from "#shared/bench-random.ts";

const PAGE_BYTES = 4096;
const BATCH_ROWS = 5_000;
const SMALL_ROWS = 200;
const STATES = ["open", "paid", "shipped"] as const;
/** A little below what was asked for: the rest comes with the index and the last batch. */
const FULL_AT = 0.97;

/**
 * Makes a database of about `megabytes` (MiB) at `path`, which does not exist before it is complete. `pause` is called
 * between batches and may throw to end the work; what was made so far stays aside as `<path>.new`.
 */
export async function makeSourceDatabase(
  path: string,
  { megabytes, seed }: { readonly megabytes: number; readonly seed: number },
  pause: (megabytesDone: number) => Promise<void>,
): Promise<void> {
  const unfinished = `${path}.new`;
  const database = new Database(unfinished);
  try {
    for (const pragma of [`page_size = ${PAGE_BYTES}`, "journal_mode = OFF", "synchronous = OFF"]) database.pragma(pragma);
    database.exec(
      "CREATE TABLE big (id INTEGER PRIMARY KEY, customer INTEGER, state TEXT, note TEXT, token BLOB); CREATE TABLE small (id INTEGER PRIMARY KEY, note TEXT)",
    );
    const random = new Random(seed, megabytes);
    const fill = prepareFill(database, random);
    const pages = database.prepare<[], number>("PRAGMA page_count").pluck();
    const bytes = () => (pages.get() ?? 0) * PAGE_BYTES;
    const full = megabytes * 1024 * 1024 * FULL_AT;
    const rows = Math.min(BATCH_ROWS, megabytes * 100);
    while (bytes() < full) {
      fill(rows);
      await pause(bytes() / 1024 ** 2);
    }
    database.exec("CREATE INDEX big_state ON big (state) WHERE customer < 1000");
    const note = database.prepare("INSERT INTO small (note) VALUES (?)");
    for (let row = 1; row <= SMALL_ROWS; row += 1) note.run(`note ${row}`);
  } finally {
    database.close();
  }
  renameSync(unfinished, path);
}

function prepareFill(database: Database.Database, random: Random): (rows: number) => void {
  const insert = database.prepare("INSERT INTO big (customer, state, note, token) VALUES (?, ?, ?, ?)");
  const noise = Buffer.alloc(92);
  const token = Buffer.alloc(100);
  let row = 0;
  return database.transaction((rows: number) => {
    for (let left = rows; left > 0; left -= 1) {
      row += 1;
      const customer = random.below(50_000);
      random.fill(noise);
      random.fill(token);
      const place = `street ${random.below(900)} in town ${random.below(70)}`;
      const text = `order ${row} of customer ${customer}, delivered to ${place}; ${noise.toString("hex", 0, 90)}`;
      insert.run(customer, STATES[random.below(STATES.length)], text, token);
    }
  });
}

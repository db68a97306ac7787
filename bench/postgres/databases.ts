/** A database in Postgres like the one that the other rows copy, and copies of it. */
import type { Connection } from "./cluster.ts";

const MIB = 1024 ** 2;
const ROWS_AT_ONCE = 20_000;

/** How `CREATE DATABASE … TEMPLATE` copies. */
export const STRATEGIES = ["wal-log", "file-copy", "file-copy-clone"] as const;
export type Strategy = (typeof STRATEGIES)[number];

export const STRATEGY_TITLES: Readonly<Record<Strategy, string>> = {
  "wal-log": "STRATEGY WAL_LOG",
  "file-copy": "STRATEGY FILE_COPY",
  "file-copy-clone": "STRATEGY FILE_COPY, file_copy_method = clone",
};

/**
 * Fills the database that `connection` is on with rows until it has about `megabytes` (MiB), an empty one's size included.
 * Returns its bytes. `pause` is called between batches and may throw.
 */
export async function fillDatabase(connection: Connection, megabytes: number, pause: (bytes: number) => Promise<void>): Promise<number> {
  await connection.query("CREATE TABLE big (id serial PRIMARY KEY, customer integer, state text, note text, token text)");
  await connection.query("CREATE TABLE small (id serial PRIMARY KEY, note text)");
  await connection.query("INSERT INTO small (note) SELECT 'note ' || i FROM generate_series(1, 200) AS i");
  let row = 0;
  for (;;) {
    const bytes = await sizeOf(connection);
    await pause(bytes);
    if (bytes >= megabytes * MIB) break;
    const rows = Math.min(ROWS_AT_ONCE, Math.max(500, Math.ceil((megabytes * MIB - bytes) / 500)));
    await connection.query(
      `INSERT INTO big (customer, state, note, token)
       SELECT i::bigint * 7919 % 50000, (ARRAY['open', 'paid', 'shipped'])[1 + i % 3],
         'order ' || i || ' of customer ' || i % 50000 || '; ' || md5(i::text) || md5((i + 1)::text) || md5((i + 2)::text),
         md5('a' || i) || md5('b' || i) || md5('c' || i)
       FROM generate_series(${row + 1}, ${row + rows}) AS i`,
    );
    row += rows;
  }
  await connection.query("VACUUM (FREEZE, ANALYZE)");
  await connection.query("CHECKPOINT");
  return sizeOf(connection);
}

async function sizeOf(connection: Connection): Promise<number> {
  return Number((await connection.query("SELECT pg_database_size(current_database()) AS bytes"))[0]?.["bytes"]);
}

/** Names are of our making: letters, digits and underscores. */
export async function copyDatabase(
  connection: Connection,
  strategy: Strategy,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  await connection.query(`CREATE DATABASE ${to} TEMPLATE ${from} STRATEGY ${strategy === "wal-log" ? "WAL_LOG" : "FILE_COPY"}`);
}

/** For all copies that the connection makes from now on. */
export async function chooseCopyMethod(connection: Connection, strategy: Strategy): Promise<void> {
  await connection.query(`SET file_copy_method = ${strategy === "file-copy-clone" ? "clone" : "copy"}`);
}

export async function dropDatabase(connection: Connection, name: string): Promise<void> {
  await connection.query(`DROP DATABASE IF EXISTS ${name}`);
}

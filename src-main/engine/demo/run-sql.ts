import Database from "better-sqlite3";

/**
 * Runs SQL in a database file as any program of the user would, and closes it again. Only for processes whose engine
 * reads checkouts in its keeper: a connection here would drop locks that it holds itself.
 */
export function runSql(path: string, sql: string): void {
  const connection = new Database(path, { fileMustExist: true });
  try {
    connection.exec(sql);
  } finally {
    connection.close();
  }
}

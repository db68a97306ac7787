import { extname, resolve } from "node:path";

/** Endings that the desktop takes for SQLite files when one is given as an argument. */
const DATABASE_ENDINGS = new Set([".db", ".sqlite", ".sqlite3", ".db3", ".s3db", ".gpkg"]);

/** The database file among the arguments of a start, absolute; null when there is none. Options and the app itself are skipped. */
export function fileArgument(argv: readonly string[], workingFolder: string): string | null {
  const file = argv.slice(1).find((argument) => !argument.startsWith("-") && DATABASE_ENDINGS.has(extname(argument).toLowerCase()));
  return file === undefined ? null : resolve(workingFolder, file);
}

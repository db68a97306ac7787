/** A step's SQL, by a stock client: opens the file, `synchronous=OFF`, every statement in a transaction of its own. */
import Database from "better-sqlite3";
import { FOREIGN_KEYS } from "./schema.ts";
import { statementsOf, type Statement } from "./statements.ts";
import type { SqlAnswer, SqlRequest } from "./sql-protocol.ts";

/** Throws at the first statement that fails: the step has failed then. */
export function runSql(request: SqlRequest): SqlAnswer {
  const start = performance.now();
  const database = new Database(request.path, { readonly: request.act === "read", fileMustExist: true });
  try {
    if (request.act !== "read") for (const pragma of ["synchronous = OFF", `foreign_keys = ${FOREIGN_KEYS}`]) database.pragma(pragma);
    const answer = perform(database, request);
    database.close();
    return { ...answer, ms: performance.now() - start };
  } finally {
    database.close();
  }
}

function perform(database: Database.Database, request: SqlRequest): Omit<SqlAnswer, "ms"> {
  if (request.act === "read") {
    const start = performance.now();
    const row = database
      .prepare<unknown[], unknown[]>(request.query.sql)
      .raw()
      .get(...request.query.values);
    const value = row?.[0];
    return { each: [performance.now() - start], again: [], value: typeof value === "number" ? value : 0 };
  }
  if (request.act === "work") {
    const { schema, data } = statementsOf(request.step, request.parameters, "own");
    return { each: [...schema, ...data].map((statement) => timeOf(() => run(database, statement))), again: [], value: 0 };
  }
  const { queries } = statementsOf(request.step, request.parameters, request.evaluation);
  const each = queries.map((query) => timeOf(() => read(database, query)));
  return { each, again: request.again ? queries.map((query) => timeOf(() => read(database, query))) : [], value: 0 };
}

function run(database: Database.Database, { sql, values }: Statement): void {
  database.prepare(sql).run(...values);
}

function read(database: Database.Database, { sql, values }: Statement): void {
  database
    .prepare(sql)
    .raw()
    .all(...values);
}

function timeOf(act: () => void): number {
  const start = performance.now();
  act();
  return performance.now() - start;
}

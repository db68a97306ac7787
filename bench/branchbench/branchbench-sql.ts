/**
 * A process that runs SQL on checkouts for BranchBench. It is a process and not a thread, so that the driver's own has no
 * SQLite connection on any checkout.
 */
import { serveCalls } from "./calls.ts";
import { runSql } from "./run-sql.ts";
import type { SqlAnswer, SqlRequest } from "./sql-protocol.ts";

serveCalls<SqlRequest, SqlAnswer>(runSql);

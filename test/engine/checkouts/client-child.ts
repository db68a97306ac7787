/** A stock SQLite client in a process of its own: runs what it is sent, one message at a time. */
import Database from "better-sqlite3";
import type { ClientReply, ClientRequest } from "./client.ts";

let connection: Database.Database | null = null;

function run(request: ClientRequest): unknown {
  if (request.do === "open") {
    connection = new Database(request.path, { timeout: request.timeoutMs });
    return null;
  }
  if (!connection) throw new Error("no connection");
  switch (request.do) {
    case "exec":
      connection.exec(request.sql);
      return null;
    case "all":
      return connection.prepare(request.sql).all();
    case "serialize":
      return connection.serialize();
    case "close":
      connection.close();
      connection = null;
      return null;
  }
}

process.on("message", (request: ClientRequest) => {
  let reply: ClientReply;
  try {
    reply = { ok: true, value: run(request) };
  } catch (error) {
    reply = {
      ok: false,
      message: error instanceof Error ? error.message : String(error),
      code: error instanceof Database.SqliteError ? error.code : "",
    };
  }
  process.send?.(reply);
});
process.on("disconnect", () => process.exit(0));

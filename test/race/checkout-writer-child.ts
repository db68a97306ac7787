/**
 * A stock client that writes as fast as it gets the lock. Arguments: database, writer's name, "short" to open the file
 * anew for each transaction. Prints each committed row's number; ends when its input does.
 */
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";

const [path = "", writer, style] = process.argv.slice(2);
const stopping = new AbortController();
process.stdin.resume();
process.stdin.on("end", () => stopping.abort());
for (let row = 1; !stopping.signal.aborted;) {
  const connection = new Database(path, { timeout: 200 });
  const transactions = style === "short" ? 1 : 5;
  for (let transaction = 0; transaction < transactions; transaction += 1) {
    try {
      connection.prepare("INSERT INTO log (writer, row, text) VALUES (?, ?, ?)").run(writer, row, "x".repeat((row * 37) % 900));
      process.stdout.write(`${row}\n`);
      row += 1;
    } catch (error) {
      if (!(error instanceof Database.SqliteError) || !error.code.startsWith("SQLITE_BUSY")) throw error;
    }
    await sleep(1);
  }
  connection.close();
  await sleep((row * 13) % 110);
}

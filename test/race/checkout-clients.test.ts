import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import type { PageBatch } from "#engine/format/page-batch.ts";
import { EngineError } from "#engine/io/errors.ts";
import { createCheckoutFiles } from "#engine/checkouts/keeper-client.ts";
import { disk, makePlace, native, onCleanup } from "../engine/checkouts/support.ts";

const WRITERS = 2;
const ROUNDS = 200;
const ROUNDS_MAX = 50 * ROUNDS;
const ROWS_MIN = 5;

interface Writer {
  readonly child: ChildProcess;
  readonly name: string;
  printed: string;
  complaints: string;
}

function startWriter(path: string, name: string, style: string): Writer {
  const child = spawn(process.execPath, [join(import.meta.dirname, "checkout-writer-child.ts"), path, name, style], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  onCleanup(() => child.kill("SIGKILL"));
  const writer: Writer = { child, name, printed: "", complaints: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    writer.printed += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    writer.complaints += text;
  });
  return writer;
}

it.each([
  ["wal", true],
  ["delete", true],
  ["wal", false],
] as const)(
  "CHECKOUT-21: writers in %s mode lose nothing while their file is held and patched (own process: %s)",
  async (journal, ownProcess) => {
    const place = makePlace();
    const database = new Database(place.path);
    database.pragma(`journal_mode = ${journal}`);
    database.exec("CREATE TABLE log (id INTEGER PRIMARY KEY, writer TEXT, row INTEGER, text TEXT)");
    database.close();
    const writers = Array.from({ length: WRITERS }, (_, index) => startWriter(place.path, `w${index}`, index === 0 ? "long" : "short"));
    const files = createCheckoutFiles({ ownProcess, disk, native, temporary: place.temporary });
    onCleanup(() => files.close());
    const counts = { write: 0, exclusive: 0, busy: 0, cli: 0 };
    let pages = 0;
    // On a fast machine the rounds are over before every writer has come to write.
    const isWritten = (): boolean => writers.every(({ printed }) => printed.split("\n").length > ROWS_MIN + 1);
    for (let round = 0; round < ROUNDS || (round < ROUNDS_MAX && !isWritten()); round += 1) {
      const mode = round % 2 === 0 ? "write" : "exclusive";
      try {
        const held = await files.hold(place.path, mode, 250);
        try {
          const changes = await held.changes({ fingerprint: null, pageSize: 4096, pageHashes: async () => new Uint8Array(0) });
          const batches: PageBatch[] = [];
          for await (const batch of changes.batches) batches.push(batch);
          pages = changes.pageCount;
          // The same content again: whatever a writer had committed must still be there afterwards.
          if (mode === "exclusive")
            await held.patch({
              pageSize: changes.pageSize,
              pageCount: changes.pageCount,
              batches: (async function* () {
                yield* batches;
              })(),
            });
          await held.fingerprint();
        } finally {
          await held.release();
        }
        counts[mode] += 1;
      } catch (error) {
        if (!(error instanceof EngineError) || error.code !== "checkout-busy") throw error;
        counts.busy += 1;
      }
      if (round % 10 === 0) {
        const cli = spawnSync("sqlite3", ["-cmd", ".timeout 2000", place.path, `INSERT INTO log (writer, row) VALUES ('cli', ${round})`], {
          encoding: "utf8",
        });
        if (cli.error === undefined && cli.status === 0) counts.cli += 1;
      }
    }
    for (const writer of writers) {
      const ended = once(writer.child, "close");
      writer.child.stdin?.end();
      await ended;
      expect(writer.complaints).toBe("");
    }
    console.log(journal, counts, `${pages} pages`);
    const check = new Database(place.path);
    expect(check.pragma("integrity_check", { simple: true })).toBe("ok");
    for (const { name, printed } of writers) {
      const rows = check.prepare("SELECT row FROM log WHERE writer = ? ORDER BY row").pluck().all(name);
      expect(rows).toEqual(printed.trim().split("\n").map(Number));
      expect(rows.length).toBeGreaterThan(ROWS_MIN);
    }
    expect(check.prepare("SELECT count(*) FROM log WHERE writer = 'cli'").pluck().get()).toBe(counts.cli);
    check.close();
    expect(counts.write).toBeGreaterThan(5);
    expect(counts.exclusive).toBeGreaterThan(0);
  },
);

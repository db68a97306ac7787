/** One-row transactions, each followed by a checkpoint: what a branch grows by as it diverges. */
import Database from "better-sqlite3";
import { Random } from "#shared/bench-random.ts";
import type { Store } from "#engine/store.ts";
import type { Bench } from "../suite.ts";
import { MAIN, storedBytes } from "./stores.ts";

/** Transactions before the first that is counted: the catalog's pages settle. */
const LEAD = 100;
/** A page of the catalog holds about forty versions: fewer transactions than this say more about pages than about bytes. */
const COUNTED_MIN = 1_000;
/** Of the random numbers of the mixed kind. */
const STREAM = 71;

export interface Divergence {
  /** Mean bytes per transaction: the catalog's growth, and segment files. */
  readonly allIn: number;
  /** Of these the pages' changes. */
  readonly segment: number;
  /** Mean milliseconds of a transaction with its checkpoint. */
  readonly ms: number;
}

/** Inserts one row a transaction; or takes turns between insert, update and delete all over the database. */
export type Kind = "insert" | "mixed";

/** A branch's file with a client on it, on which transactions are made. */
export class Diverging {
  readonly #bench: Bench;
  readonly #store: Store;
  readonly #client: Database.Database;
  readonly #transact: () => void;

  private constructor(bench: Bench, store: Store, client: Database.Database, kind: Kind) {
    this.#bench = bench;
    this.#store = store;
    this.#client = client;
    this.#transact = prepareTransaction(client, kind, bench.order.seed);
  }

  static async open(bench: Bench, store: Store, kind: Kind): Promise<Diverging> {
    const { path } = await store.checkout(MAIN);
    return new Diverging(bench, store, new Database(path), kind);
  }

  async warmUp(transactions = LEAD): Promise<void> {
    for (let count = 0; count < transactions; count += 1) await this.#step(count, transactions);
  }

  /** Means over rows of `k` transactions: as many rows as it takes for the catalog's pages not to show. */
  async measure(k: number, countedMin = COUNTED_MIN): Promise<Divergence> {
    const counted = k * Math.max(1, Math.ceil(countedMin / k));
    const before = storedBytes(this.#store);
    let segment = 0;
    const start = performance.now();
    for (let count = 0; count < counted; count += 1) segment += await this.#step(count, counted);
    const ms = (performance.now() - start) / counted;
    return { allIn: (storedBytes(this.#store) - before) / counted, segment: segment / counted, ms };
  }

  close(): void {
    this.#client.close();
  }

  /** Stored bytes. */
  async #step(done: number, total: number): Promise<number> {
    if (done % 20 === 0) {
      this.#bench.phase("Write a row and checkpoint", done, total);
      await this.#bench.pause();
    }
    this.#transact();
    return (await this.#store.checkpoint(MAIN)).storedBytes;
  }
}

function prepareTransaction(client: Database.Database, kind: Kind, seed: number): () => void {
  const insert = client.prepare("INSERT INTO small (note) VALUES (?)");
  let row = 0;
  const insertOne = () => {
    row += 1;
    insert.run(`note ${row} of somebody`);
  };
  if (kind === "insert") return insertOne;
  const random = new Random(seed, STREAM);
  const rows = client.prepare<[], number>("SELECT max(id) FROM big").pluck().get() ?? 1;
  const update = client.prepare("UPDATE big SET state = ?, customer = ? WHERE id = ?");
  const remove = client.prepare("DELETE FROM big WHERE id = ?");
  const add = client.prepare("INSERT INTO big (customer, state, note, token) VALUES (?, 'open', ?, ?)");
  const token = Buffer.alloc(100);
  const kinds = [
    insertOne,
    () => update.run("paid", random.below(50_000), 1 + random.below(rows)),
    () => update.run("shipped", random.below(1_000), 1 + random.below(rows)),
    () => {
      random.fill(token);
      add.run(random.below(50_000), `order of customer ${random.below(50_000)}, delivered to town ${random.below(70)}`, token);
    },
    () => remove.run(1 + random.below(rows)),
  ];
  let next = 0;
  return () => {
    kinds[next % kinds.length]?.();
    next += 1;
  };
}

import { expect, it } from "vitest";
import {
  batchesBetween,
  collect,
  differingPages,
  knownAs,
  makeDatabase,
  normalised,
  onCleanup,
  openClient,
  seededRandom,
} from "./support.ts";
import { Client } from "./client.ts";
import { makeShadowPlace, openShadowFiles, withHold, type Content } from "./shadow-support.ts";

const ROUNDS = Number(process.env["COPPICE_FIEMAP_ROUNDS"] ?? 100);
const SEED = Number(process.env["COPPICE_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const ROUNDS_PER_DATABASE = 50;
const PAGE_SIZES = [512, 1024, 4096, 4096, 8192, 65_536];
/** Pages that a WAL or a patch had may be named although they are the same. */
const LOOSE_MAX = 64;

type Random = (below: number) => number;
type Act = (random: Random, rows: number) => string;

const row = (random: Random, rows: number): number => 1 + random(rows);
const SQL: readonly Act[] = [
  (random, rows) => `UPDATE item SET tag = 't${random(100)}' WHERE id = ${row(random, rows)}`,
  (random, rows) => `UPDATE item SET tag = 'same' WHERE id BETWEEN ${row(random, rows)} AND ${row(random, rows)}`,
  // There and back: the same bytes on other blocks.
  (random, rows) => `UPDATE item SET tag = tag || 'x' WHERE id = ${row(random, rows)}; UPDATE item SET tag = rtrim(tag, 'x')`,
  // Whole pages of noise, of zeros, and of what was there.
  (random) => `UPDATE raw SET data = randomblob(${20_000 + random(60_000)}) WHERE id = ${1 + random(8)}`,
  (random) => `UPDATE raw SET data = zeroblob(length(data)) WHERE id = ${1 + random(8)}`,
  (random) => `UPDATE raw SET data = CAST(data AS BLOB) || x'' WHERE id = ${1 + random(8)}`,
  (random) => `INSERT INTO raw (data) VALUES (randomblob(${random(200_000)}))`,
  () => "DELETE FROM raw WHERE id > 8 AND id % 2 = 0",
  (random, rows) => `DELETE FROM item WHERE id = ${row(random, rows)}`,
  () => "INSERT INTO item (tag, text) SELECT tag, text FROM item LIMIT 40",
  () => "BEGIN; UPDATE item SET tag = 'gone'; ROLLBACK",
  () => "PRAGMA incremental_vacuum(20)",
  () => "PRAGMA wal_checkpoint(PASSIVE)",
  () => "PRAGMA wal_checkpoint(TRUNCATE)",
];
const RARE: readonly Act[] = [
  () => "VACUUM",
  () => "PRAGMA journal_mode = delete",
  () => "PRAGMA journal_mode = truncate",
  () => "PRAGMA journal_mode = wal",
  () => "CREATE INDEX IF NOT EXISTS by_tag ON item (tag, text)",
  () => "DROP INDEX IF EXISTS by_tag",
];

async function work(client: Client, random: Random, path: string): Promise<void> {
  for (let acts = random(5); acts >= 0; acts -= 1) {
    const list = random(12) === 0 ? RARE : SQL;
    await client.exec((list[random(list.length)] ?? (() => ""))(random, 1_500));
  }
  // The last connection to close folds the WAL in: what most programs do between two looks.
  if (random(2) === 0) {
    await client.close();
    await client.open(path);
    await setUp(client, random);
  }
}

async function setUp(client: Client, random: Random): Promise<void> {
  const autocheckpoint = [0, 5, 1000][random(3)] ?? 0;
  await client.exec(`PRAGMA wal_autocheckpoint = ${autocheckpoint}; PRAGMA synchronous = ${["OFF", "NORMAL"][random(2)]}`);
  await client.exec(`PRAGMA secure_delete = ${random(2)}`);
}

interface State {
  content: Content;
  fingerprint: string | null;
  readonly earlier: Content[];
}

it.for(["xfs", "btrfs"] as const)(
  `SHADOW-2: on %s, ${ROUNDS} rounds of random work leave no changed page unfound`,
  { timeout: 120_000 + ROUNDS * 2_000 },
  async (kind, { skip }) => {
    const place = makeShadowPlace(kind, 1024);
    if (typeof place === "string") return skip(place);
    console.log(`${kind}: seed ${SEED}`);
    const random = seededRandom(SEED);
    const files = openShadowFiles(place);
    const proofs: Record<string, number> = {};
    const reader = new Client();
    onCleanup(() => reader.kill());
    for (let first = 0; first < ROUNDS; first += ROUNDS_PER_DATABASE) {
      const path = `${place.folder}/checkouts/from-${first}.db`;
      const here = { ...place, path };
      const pageSize = PAGE_SIZES[random(PAGE_SIZES.length)] ?? 4096;
      makeDatabase(path, { pageSize, rows: 8_000 });
      const client = await openClient(path, "auto_vacuum = incremental");
      await client.exec(
        "CREATE TABLE raw (id INTEGER PRIMARY KEY, data BLOB); INSERT INTO raw (data) SELECT randomblob(50000) FROM item LIMIT 8",
      );
      const state: State = { content: await readAnew(reader, path, pageSize), fingerprint: null, earlier: [] };
      for (let round = first; round < Math.min(ROUNDS, first + ROUNDS_PER_DATABASE); round += 1) {
        await work(client, random, path);
        const proof = await withHold(files, here, "write", async (held) => {
          const now = await readAnew(reader, path, pageSize);
          // SQLite's write lock keeps no sqliteCheckpoint out.
          const fold = async () => (random(4) === 0 ? client.exec("PRAGMA wal_checkpoint(PASSIVE)") : undefined);
          await fold();
          const changes = await held.changes(knownAs(state.content, state.fingerprint));
          await fold();
          const found = await collect(changes);
          judge(`round ${round} of seed ${SEED} (${changes.proof}, ${pageSize})`, changes.proof, found, state.content, now);
          // Sometimes a look is only a look.
          if (random(4) > 0) Object.assign(state, { content: now, fingerprint: await held.fingerprint() });
          expect(state.fingerprint === null || files.check(path, state.fingerprint) !== "missing").toBe(true);
          return changes.proof;
        });
        proofs[proof] = (proofs[proof] ?? 0) + 1;
        if (random(6) === 0) await patchBack(client, reader, random, files, here, state);
      }
      expect(await client.all("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
      await client.kill();
    }
    console.log(`${kind}: ${JSON.stringify(proofs)}`);
    expect(proofs["extents"] ?? 0, JSON.stringify(proofs)).toBeGreaterThan(ROUNDS / 10);
  },
);

/** By a client without a page cache: what one has freed, it need not write. */
async function readAnew(reader: Client, path: string, pageSize: number): Promise<Content> {
  await reader.open(path);
  const content = normalised(await reader.serialize(), pageSize);
  await reader.close();
  return content;
}

function judge(about: string, proof: string, found: Map<number, Uint8Array>, before: Content, now: Content): void {
  const differing = differingPages(before, now);
  expect(
    differing.filter((page) => !found.has(page)),
    `missed in ${about}`,
  ).toEqual([]);
  for (const [page, bytes] of found) {
    const same = Buffer.compare(bytes, now.pages.subarray((page - 1) * now.pageSize, page * now.pageSize)) === 0;
    expect(same, `bytes of page ${page} in ${about}`).toBe(true);
  }
  const spare = { scan: 0, fingerprint: 0, extents: LOOSE_MAX }[proof] ?? Infinity;
  expect(found.size - differing.length, `pages too many in ${about}`).toBeLessThanOrEqual(spare);
}

/** As a rollback does: what there is is saved, or is known, and an earlier state takes its place. */
async function patchBack(
  client: Client,
  reader: Client,
  random: Random,
  files: ReturnType<typeof openShadowFiles>,
  place: Parameters<typeof withHold>[1],
  state: State,
): Promise<void> {
  const { pageSize } = state.content;
  const now = await readAnew(reader, place.path, pageSize);
  await client.close();
  await withHold(files, place, "exclusive", async (held) => {
    const changes = await held.changes(knownAs(state.content, state.fingerprint));
    judge(`a patch (${changes.proof})`, changes.proof, await collect(changes), state.content, now);
    if (changes.candidates > 0 || random(2) === 0) {
      const fingerprint = await held.fingerprint();
      state.earlier.push(state.content);
      Object.assign(state, { content: now, fingerprint });
    }
    const wanted = state.earlier[random(state.earlier.length)] ?? now;
    const fingerprint = await held.patch({ pageSize, pageCount: wanted.pageCount, batches: batchesBetween(now, wanted) });
    Object.assign(state, { content: wanted, fingerprint });
  });
  await client.open(place.path);
  await setUp(client, random);
}

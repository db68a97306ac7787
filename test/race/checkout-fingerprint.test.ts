import { expect, it } from "vitest";
import {
  collect,
  differingPages,
  knownAs,
  makeDatabase,
  makePlace,
  normalised,
  openClient,
  openFiles,
  seededRandom,
} from "../engine/checkouts/support.ts";
import { makeShadowPlace, openShadowFiles } from "../engine/checkouts/shadow-support.ts";

const ROUNDS = 2000;
/** Their clocks are the kernel's, but each file system keeps and rounds times by itself. */
const LOOP_ROUNDS = 500;
const CASES = [
  ...(["wal", "delete", "persist"] as const).map((journal) => ({ place: "the temporary folder", journal, rounds: ROUNDS }) as const),
  ...(["xfs", "btrfs", "ext4"] as const).flatMap((place) =>
    (["wal", "delete"] as const).map((journal) => ({ place, journal, rounds: LOOP_ROUNDS }) as const),
  ),
];

/** One small thing a client does; whether it commits a change. */
const ACTS: readonly [commits: boolean, sql: (row: number, round: number) => string][] = [
  [true, (row, round) => `UPDATE item SET tag = 'r${String(round).padStart(4, "0")}' WHERE id = ${row}`],
  [true, (row) => `UPDATE item SET text = substr(text, 2) || substr(text, 1, 1) || ${row} WHERE id = ${row}`],
  [
    true,
    (row, round) => `DELETE FROM item WHERE id = ${row}; INSERT INTO item VALUES (${row}, 'n${String(round).padStart(4, "0")}', 'new')`,
  ],
  [false, (row) => `BEGIN; UPDATE item SET tag = 'gone' WHERE id = ${row}; ROLLBACK`],
  [false, (row) => `SELECT * FROM item WHERE id = ${row}`],
];

function expectNone(pages: number[], round: number): void {
  expect(pages, `pages missed or wrong in round ${round}`).toEqual([]);
}

it.for(CASES)(
  "CHECKOUT-2: none of $rounds small writes right after a fingerprint is missed on $place in $journal mode",
  async ({ place: kind, journal, rounds }, { skip }) => {
    const seed = Date.now() % 1_000_000;
    console.log(`seed ${seed}`);
    const random = seededRandom(seed);
    const mounted = kind === "the temporary folder" ? null : makeShadowPlace(kind);
    if (typeof mounted === "string") return skip(mounted);
    const place = mounted ?? makePlace();
    makeDatabase(place.path, { rows: 1000 });
    const files = mounted ? openShadowFiles(mounted) : openFiles(place);
    const client = await openClient(place.path, `journal_mode = ${journal}`, "wal_autocheckpoint = 40", "synchronous = OFF");
    let known = normalised(await client.serialize(), 4096);
    let fingerprint: string | null = null;
    for (let round = 0; round < rounds; round += 1) {
      const held = await files.hold(place.path, "write", 1000);
      if (round % 25 === 0) {
        // What has piled up since the last look is found, page by page.
        const now = normalised(await client.serialize(), 4096);
        const found = await collect(await held.changes(knownAs(known, fingerprint)));
        const missed = differingPages(known, now).filter((page) => !found.has(page));
        const wrong = [...found].filter(([page, bytes]) => Buffer.compare(bytes, now.pages.subarray((page - 1) * 4096, page * 4096)) !== 0);
        expectNone([...missed, ...wrong.map(([page]) => page)], round);
        known = now;
        fingerprint = await held.fingerprint();
      }
      const current = await held.fingerprint();
      await held.release();
      expect(current).not.toBeNull();
      const [commits, sql] = ACTS[random(ACTS.length)] ?? [false, () => ""];
      await client.exec(sql(1 + random(1000), round));
      const checked = files.check(place.path, current);
      expect(commits && checked !== "unknown", `a write missed in round ${round}`).toBe(false);
      if (random(50) === 0) await client.all("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    expect(await client.all("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
  },
);

/** Verbs that move a branch whose file is there: a pointer, and the pages that two versions do not share. */
import { join } from "node:path";
import type { Store } from "#engine/store.ts";
import type { Bench, SeriesPlan, Step } from "../suite.ts";
import { AppendLog, PageWriter } from "./limits.ts";
import { MAIN, nextName, touchPages, useSharedStore } from "./stores.ts";
import { sizeText } from "./tables.ts";
import { takeTurns, type Contestant } from "./turns.ts";

const PAGES_APART = 50;
export const MOVES = ["rollback", "promote", "undo"] as const;
export type MoveVerb = (typeof MOVES)[number];

export interface Moves {
  readonly id: string;
  readonly megabytes: number;
  readonly rounds: number;
  readonly seriesOf: (verb: MoveVerb) => string;
}

/** A checkout moves between versions that differ in about fifty pages; no client has it open. */
export function movesStep({ id, megabytes, rounds, seriesOf }: Moves): Step {
  const size = sizeText(megabytes);
  const limit = `${id}-write-pages`;
  const append = `${id}-append`;
  return {
    id,
    title: `Moving a ${size} checkout between versions about ${PAGES_APART} pages apart`,
    series: [
      { id: limit, group: "Limit", title: `write ${PAGES_APART} pages + fdatasync`, unit: "ms", planned: rounds },
      ...MOVES.map((verb): SeriesPlan => ({
        id: seriesOf(verb),
        group: "Switch",
        title: `${verb}, ${size}`,
        unit: "ms",
        planned: rounds,
        limit,
        goal: { of: "median", most: 5 },
      })),
      { id: append, group: "Limit", title: "append 300 B + fdatasync", unit: "ms", planned: rounds },
      ...MOVES.map((verb): SeriesPlan => ({
        id: `${seriesOf(verb)}-bare`,
        group: "Switch",
        title: `${verb} of a branch without a file, ${size}`,
        unit: "ms",
        planned: rounds,
        limit: append,
      })),
    ],
    run: async (bench) => {
      const store = await useSharedStore(bench, megabytes);
      const pages = new PageWriter(join(bench.folder, "pages"), PAGES_APART);
      const log = new AppendLog(join(bench.folder, "append.log"));
      try {
        const versions = await makeTwoVersions(bench, store);
        await takeTurns(
          bench,
          [
            { series: limit, act: pages.write },
            { series: seriesOf("rollback"), act: () => store.rollback({ ...MAIN, to: versions.earlier }) },
            {
              series: seriesOf("promote"),
              act: () => store.promote({ database: MAIN.database, source: versions.ahead, onto: MAIN.branch }),
            },
            {
              series: seriesOf("undo"),
              act: () => store.undo({ database: MAIN.database }),
              tidy: () => store.rollback({ ...MAIN, to: versions.later }),
            },
          ],
          { title: "Move between two versions", rounds, warmUp: 2 },
        );
        await takeTurns(bench, [{ series: append, act: log.append }, ...bareMoves(store, versions, (verb) => `${seriesOf(verb)}-bare`)], {
          title: "Move a branch without a file",
          rounds,
          warmUp: 2,
        });
      } finally {
        log.close();
        pages.close();
        await store.close();
      }
    },
  };
}

/** The same with the branch that stays at the later version, of which nobody has made a file: a pointer alone. */
function bareMoves(store: Store, { earlier, later, ahead, still }: Versions, seriesOf: (verb: MoveVerb) => string): readonly Contestant[] {
  const { database } = MAIN;
  return [
    { series: seriesOf("rollback"), act: () => store.rollback({ database, branch: ahead, to: earlier }) },
    { series: seriesOf("promote"), act: () => store.promote({ database, source: still, onto: ahead }) },
    { series: seriesOf("undo"), act: () => store.undo({ database }), tidy: () => store.rollback({ database, branch: ahead, to: later }) },
  ];
}

interface Versions {
  /** Names of checkpoints of main. */
  readonly earlier: string;
  readonly later: string;
  /** Branches at the later one, without a file. */
  readonly ahead: string;
  readonly still: string;
}

/** Main's file holds the later one. */
async function makeTwoVersions(bench: Bench, store: Store): Promise<Versions> {
  const { path } = await store.checkout(MAIN);
  const earlier = await store.checkpoint({ ...MAIN, name: nextName("earlier") });
  touchPages(path, PAGES_APART);
  const later = await store.checkpoint({ ...MAIN, name: nextName("later") });
  bench.fact("pages between the two versions", later.changedPages);
  const [ahead, still] = [nextName("ahead"), nextName("still")];
  for (const newBranch of [ahead, still]) await store.fork({ ...MAIN, newBranch });
  return { earlier: earlier.name, later: later.name, ahead, still };
}

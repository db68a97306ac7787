/** offshoot's command on this machine, where it is installed: beside ours, never mixed with them. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { findPeer, missingPeer } from "../peers/find-program.ts";
import { OffshootStore } from "../peers/offshoot.ts";
import { removeDatabase } from "../common/limits.ts";
import { nextName } from "../common/stores.ts";
import { sizeText } from "../common/tables.ts";
import { takeTurns, type Contestant } from "../common/turns.ts";
import type { SeriesPlan, Step } from "../suite.ts";
import type { Scale } from "./scale.ts";

const DATABASE = "shop";
const START = "start";

/** Row, its words, and what was published for the same command at 100 MB. */
const ROWS = [
  ["version", "start-up", "start"],
  ["fork-checkpoint", "fork at a checkpoint", "fork-checkpoint"],
  ["fork-head", "fork at a quiet head", "fork-head"],
  ["checkout-fresh", "fresh checkout", "checkout-fresh"],
  ["checkout-unchanged", "unchanged checkout", "checkout-unchanged"],
  ["checkpoint", "checkpoint of one row", "checkpoint-1-row"],
  ["rollback", "rollback", "rollback"],
  ["promote", "promote", "promote"],
  ["destroy", "destroy of a branch without a file", "destroy"],
] as const;
type Row = (typeof ROWS)[number][0];

export function offshootStep(scale: Scale): Step {
  const size = sizeText(scale.middle);
  return {
    id: "offshoot",
    title: `offshoot's command, ${size}`,
    series: ROWS.map(([row, words, published]): SeriesPlan => ({
      id: `offshoot-${row}`,
      group: "offshoot here, command",
      title: `${words}, ${size}`,
      unit: "ms",
      planned: scale.checkoutRounds,
      references: scale.middle === 100 ? [`offshoot-0.2.9-linux/cli/${published}-100mb`] : [],
    })),
    missing: () => (findPeer("offshoot") ? null : missingPeer("offshoot")),
    run: async (bench) => {
      const peer = findPeer("offshoot");
      if (!peer) throw new Error(missingPeer("offshoot"));
      bench.fact("offshoot", peer.version);
      const store = new OffshootStore(peer.path, join(bench.folder, "store"));
      store.init();
      store.create(DATABASE, await bench.database(scale.middle));
      const path = store.checkout(DATABASE, "main");
      store.checkpoint(DATABASE, "main", START);
      await takeTurns(bench, contestants(store, path), { title: "offshoot's command", rounds: scale.checkoutRounds });
    },
  };
}

function at(row: Row, act: () => unknown, more: Pick<Contestant, "prepare"> = {}): Contestant {
  return { series: `offshoot-${row}`, act, ...more };
}

function contestants(store: OffshootStore, path: string): readonly Contestant[] {
  let source = "";
  let target = "";
  const forkOne = (): string => {
    const name = nextName();
    store.fork(DATABASE, "main", name, START);
    return name;
  };
  return [
    at("version", () => store.version()),
    at("fork-checkpoint", () => store.fork(DATABASE, "main", nextName(), START)),
    at("fork-head", () => store.fork(DATABASE, "main", nextName())),
    at("checkout-fresh", () => store.checkout(DATABASE, "main"), { prepare: () => removeDatabase(path) }),
    at("checkout-unchanged", () => store.checkout(DATABASE, "main")),
    at("checkpoint", () => store.checkpoint(DATABASE, "main", nextName("point")), { prepare: () => insertRow(path) }),
    at("rollback", () => store.rollback(DATABASE, "main", START)),
    // Onto a branch of its own: promoting takes the target's checkpoints away.
    at("promote", () => store.promote(DATABASE, source, target), {
      prepare: () => {
        source = forkOne();
        target = forkOne();
      },
    }),
    at("destroy", () => store.destroy(DATABASE, source), {
      prepare: () => {
        source = forkOne();
      },
    }),
  ];
}

function insertRow(path: string): void {
  const client = new Database(path);
  try {
    client.exec("INSERT INTO small (note) VALUES ('one row')");
  } finally {
    client.close();
  }
}

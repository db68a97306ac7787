/** offshoot on this machine, where it is installed: the same rows, beside ours and never mixed with them. */
import { tmpdir } from "node:os";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findPeer, missingPeer } from "../peers/find-program.ts";
import { OffshootStore } from "../peers/offshoot.ts";
import { openAndAsk } from "../common/checkouts.ts";
import { nextName } from "../common/stores.ts";
import { takeTurns } from "../common/turns.ts";
import type { Step } from "../suite.ts";
import { published, type Scale } from "./scale.ts";

const DATABASE = "shop";

export function offshootStep(scale: Scale, megabytes: number): Step {
  return {
    id: `offshoot-${megabytes}mb`,
    title: `A private copy of ${megabytes} MB by offshoot`,
    series: [
      {
        id: `offshoot-fork-${megabytes}mb`,
        group: `${megabytes} MB`,
        title: "offshoot here: fork alone, by socket",
        unit: "ms",
        planned: scale.rounds,
        references: published("fork", megabytes, false),
      },
      {
        id: `offshoot-fork-open-close-${megabytes}mb`,
        group: `${megabytes} MB`,
        title: "offshoot here: fork + open + close, by socket",
        unit: "ms",
        planned: scale.rounds,
        references: published("fork-open-close", megabytes),
      },
    ],
    missing: () => (findPeer("offshoot") ? null : missingPeer("offshoot")),
    run: async (bench) => {
      const peer = findPeer("offshoot");
      if (!peer) throw new Error(missingPeer("offshoot"));
      bench.fact("offshoot", peer.version);
      const store = new OffshootStore(peer.path, join(bench.folder, "store"));
      store.init();
      store.create(DATABASE, await bench.database(megabytes));
      // A socket's name has to be short.
      const sockets = mkdtempSync(join(tmpdir(), "coppice-bench-socket-"));
      try {
        const daemon = await store.serve(join(sockets, "s"));
        let branch = "";
        try {
          await takeTurns(
            bench,
            [
              { series: `offshoot-fork-${megabytes}mb`, act: () => daemon.fork(DATABASE, "main", nextName()) },
              {
                series: `offshoot-fork-open-close-${megabytes}mb`,
                prepare: () => {
                  branch = nextName();
                },
                act: async () => {
                  await daemon.fork(DATABASE, "main", branch);
                  openAndAsk(await daemon.open(DATABASE, branch));
                  await daemon.close(DATABASE, branch);
                },
                tidy: () => daemon.destroy(DATABASE, branch),
              },
            ],
            { title: "offshoot: fork, open, close", rounds: scale.rounds, warmUp: 1 },
          );
        } finally {
          await daemon.stop();
        }
      } finally {
        rmSync(sockets, { recursive: true, force: true });
      }
    },
  };
}

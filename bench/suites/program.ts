/** What a user waits for: a cold command, a store that opens, a long list. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createStore, openStore } from "#engine/store.ts";
import { takeTurns, time, type Suite } from "../support.ts";

const ROUNDS = 25;
const BRANCHES = 10_000;
const PAGE_ROWS = 200;

export const cliSuite: Suite = {
  name: "cli",
  about: "a cold `coppice fork`, against `node -e 0` of the same Node",
  async run(bench) {
    const program = join(import.meta.dirname, "../../out/main/cli.js");
    if (!existsSync(program)) {
      bench.say("  (skipped: build the project first, `npm run build`)");
      return;
    }
    const store = await createStore(bench.path("cli"), { actor: "bench" });
    await store.create({ database: "shop", from: bench.database(12) });
    await store.close();
    const turns = await takeTurns({
      rounds: ROUNDS,
      limit: () => runNode(["-e", "0"]),
      subject: (round) => runNode([program, "fork", "shop@main", `cold-${round}`, "--store", store.path]),
    });
    bench.ratio("coppice fork, cold", turns, { most: 2.5 });
  },
};

function runNode(args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`node ${args.join(" ")}: ${stderr}`);
}

export const listSuite: Suite = {
  name: "list",
  about: "a store of 10,000 branches: opening it, its first page of rows, and one changed row",
  async run(bench) {
    const path = bench.path("list");
    const store = await createStore(path, { actor: "bench" });
    const branch = { database: "shop", branch: "main" };
    try {
      await store.create({ database: "shop", from: bench.database(12) });
      for (let done = 1; done < BRANCHES; done += 1_000) await store.fork({ ...branch, newBranch: `b-${done}`, count: 1_000 });
      const first: number[] = [];
      const all: number[] = [];
      const changed: number[] = [];
      const opened: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const since = store.lastOperation();
        await store.fork({ ...branch, newBranch: `late-${round}` });
        changed.push(await time(() => store.branchChanges({ database: "shop", since })));
        first.push(await time(() => store.branches({ database: "shop", limit: PAGE_ROWS })));
        if (round < 5) all.push(await time(() => store.branches({ database: "shop", limit: 5_000 })));
        opened.push(await time(async () => (await openStore(path, { actor: "bench" })).close()));
      }
      bench.samples("open the store and close it", opened);
      bench.samples(`the first ${PAGE_ROWS} rows`, first);
      bench.samples("the first 5,000 rows", all);
      bench.samples("what one operation changed", changed);
    } finally {
      await store.close();
    }
  },
};

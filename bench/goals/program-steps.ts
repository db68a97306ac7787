/** What a user waits for: a cold command, a store that opens, a long list; and the memory of an import. */
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "#engine/store.ts";
import { describeBuilt, findBuilt, runNode } from "../common/child.ts";
import { runMemoryChild, type Taken } from "./memory.ts";
import { Cp, removeDatabase } from "../common/limits.ts";
import { ACTOR, fillUp, MAIN, makeStore, nextName } from "../common/stores.ts";
import { takeTurns } from "../common/turns.ts";
import { time, type Bench, type SeriesPlan, type Step } from "../suite.ts";
import { sizeText } from "../common/tables.ts";
import type { Scale } from "./scale.ts";

const FIRST_ROWS = 200;
const MANY_ROWS = 5_000;
const MEGABYTE = 1024 ** 2;

export function listStep(scale: Scale): Step {
  const branches = scale.listBranches.toLocaleString("en");
  const plan = (id: string, title: string): SeriesPlan => ({
    id,
    group: `${branches} branches`,
    title,
    unit: "ms",
    planned: scale.programRounds,
  });
  return {
    id: "list",
    title: `A store of ${branches} branches`,
    series: [
      plan("list-open", "open the store and close it"),
      plan("list-first", `the first ${FIRST_ROWS} rows`),
      plan("list-many", `the first ${MANY_ROWS.toLocaleString("en")} rows`),
      plan("list-changed", "what one operation changed"),
      { ...plan("list-status", "status"), references: ["offshoot-0.2.9-linux/cli/status-1000"] },
    ],
    run: async (bench) => {
      const store = await makeStore(bench, "list", scale.forkCases[0]?.megabytes ?? 1);
      try {
        await fillUp(bench, store, scale.listBranches);
        let since = 0;
        await takeTurns(
          bench,
          [
            { series: "list-open", act: async () => (await openStore(store.path, ACTOR)).close() },
            { series: "list-first", act: () => store.branches({ database: MAIN.database, limit: FIRST_ROWS }) },
            { series: "list-many", act: () => store.branches({ database: MAIN.database, limit: MANY_ROWS }) },
            {
              series: "list-changed",
              prepare: async () => {
                since = store.lastOperation();
                await store.fork({ ...MAIN, newBranch: nextName() });
              },
              act: () => store.branchChanges({ database: MAIN.database, since }),
            },
            { series: "list-status", act: () => store.status({}) },
          ],
          { title: "List", rounds: scale.programRounds, warmUp: 1 },
        );
      } finally {
        await store.close();
      }
    },
  };
}

/** The command as it is shipped, from a process that does not exist yet. */
export function commandStep(scale: Scale): Step {
  return {
    id: "command",
    title: "A cold command",
    series: [
      { id: "node", group: "Limit", title: "node -e 0", unit: "ms", planned: scale.programRounds },
      {
        id: "command-fork",
        group: "Command",
        title: "coppice fork",
        unit: "ms",
        planned: scale.programRounds,
        limit: "node",
        goal: { of: "ratio", most: 2.5 },
        references: ["offshoot-0.2.9-linux/cli/fork-checkpoint-100mb"],
      },
    ],
    missing: () => (findBuilt("cli.js") ? null : "The command line is not built (npm run build)"),
    run: async (bench) => {
      const program = findBuilt("cli.js") ?? "";
      bench.fact("command measured of", describeBuilt(program));
      const store = await makeStore(bench, "command", scale.forkCases[0]?.megabytes ?? 1);
      await store.close();
      await takeTurns(
        bench,
        [
          { series: "node", act: () => runNode(bench, ["-e", "0"]) },
          { series: "command-fork", act: () => runNode(bench, [program, "fork", "shop@main", nextName("cold"), "--store", store.path]) },
        ],
        { title: "Start a command", rounds: scale.programRounds, warmUp: 1 },
      );
    },
  };
}

/** A process of its own does the work, and the kernel tells the most that it ever held. */
export function memoryStep(megabytes: number): Step {
  const size = sizeText(megabytes);
  const verbs = ["import", "checkout"] as const;
  return {
    id: "memory",
    title: `Memory of an import and a checkout of ${size}`,
    series: [
      { id: "memory-cp", group: "Limit", title: `cp, ${size}`, unit: "ms", planned: 1 },
      ...verbs.flatMap((verb): SeriesPlan[] => [
        {
          id: `memory-${verb}-engine`,
          group: verb === "import" ? "Import" : "Checkout",
          title: `most memory of the engine's process, ${size}`,
          unit: "bytes",
          planned: 1,
          goal: { of: "median", most: 150 * MEGABYTE },
        },
        {
          id: `memory-${verb}-helper`,
          group: verb === "import" ? "Import" : "Checkout",
          title: `most memory of its helper, ${size}`,
          unit: "bytes",
          planned: 1,
          goal: { of: "median", most: 150 * MEGABYTE },
        },
        {
          id: `memory-${verb}-time`,
          group: verb === "import" ? "Import" : "Checkout",
          title: `time, ${size}`,
          unit: "ms",
          planned: 1,
          limit: "memory-cp",
        },
      ]),
    ],
    missing: () => (existsSync("/proc/self/status") ? null : "The system does not tell what a process held at most"),
    run: async (bench) => {
      const source = await bench.database(megabytes);
      const copy = join(bench.folder, "copy.db");
      const cp = new Cp();
      bench.record("memory-cp", await time(() => cp.copy(source, copy)));
      removeDatabase(copy);
      const store = join(bench.folder, "store");
      for (const verb of verbs) {
        bench.phase(`${verb} of ${size}`);
        await bench.pause();
        const taken = await runMemoryChild(bench, verb, store, source);
        recordTaken(bench, verb, taken);
        if (verb === "import") bench.fact("stored of what was imported", taken.storedBytes / statSync(source).size, "ratio");
      }
      rmSync(store, { recursive: true });
    },
  };
}

function recordTaken(bench: Bench, verb: string, { engineBytes, helperBytes, ms }: Taken): void {
  bench.record(`memory-${verb}-engine`, engineBytes);
  bench.record(`memory-${verb}-helper`, helperBytes);
  bench.record(`memory-${verb}-time`, ms);
}

/** The same with Postgres: a database copied from a template, a server that starts, a connection. */
import { join } from "node:path";
import { Cluster, type Connection } from "../postgres/cluster.ts";
import {
  chooseCopyMethod,
  copyDatabase,
  dropDatabase,
  fillDatabase,
  STRATEGIES,
  STRATEGY_TITLES,
  type Strategy,
} from "../postgres/databases.ts";
import { installRuntime, missingPostgres, type Runtime } from "../postgres/runtime.ts";
import { endIfStopped, isCancelled, takeTurns } from "../common/turns.ts";
import type { Bench, SeriesPlan, Step } from "../suite.ts";
import { published, type Scale } from "./scale.ts";

const COPY = "attempt";
const templateOf = (megabytes: number) => `seed_${megabytes}`;
const seriesOf = (strategy: Strategy, megabytes: number) => `postgres-${strategy}-${megabytes}mb`;

function seriesOfStep(scale: Scale): readonly SeriesPlan[] {
  return [
    ...scale.sizes.flatMap((megabytes) =>
      STRATEGIES.map((strategy): SeriesPlan => ({
        id: seriesOf(strategy, megabytes),
        group: `${megabytes} MB`,
        title: `Postgres CREATE DATABASE … TEMPLATE, ${STRATEGY_TITLES[strategy]}`,
        unit: "ms",
        planned: scale.rounds,
        references: published("postgres-template", megabytes, false),
      })),
    ),
    {
      id: "postgres-cold",
      group: "Server",
      title: "Postgres, start of a cluster to its first SELECT",
      unit: "ms",
      planned: scale.startRounds,
      references: ["offshoot-0.2.12/isolation/postgres-cold"],
    },
    {
      id: "postgres-connect",
      group: "Server",
      title: "Postgres, connect + SELECT 1",
      unit: "ms",
      planned: scale.rounds,
      references: ["offshoot-0.2.12/isolation/postgres-select"],
    },
  ];
}

export function postgresStep(scale: Scale): Step {
  return {
    id: "postgres",
    title: "Postgres: template databases, start, connection",
    series: seriesOfStep(scale),
    missing: missingPostgres,
    run: async (bench) => {
      try {
        await measurePostgres(bench, scale);
      } catch (error) {
        await endIfStopped(bench);
        throw error;
      }
    },
  };
}

async function measurePostgres(bench: Bench, scale: Scale): Promise<void> {
  bench.phase("Make a Postgres cluster");
  const runtime = tryInstall(bench, scale);
  if (!runtime) return;
  bench.fact("Postgres", runtime.version);
  bench.fact("settings of Postgres", Cluster.settings);
  const cluster = await Cluster.make(runtime, join(bench.folder, "data"), bench.signal);
  try {
    const connection = await cluster.start();
    try {
      for (const megabytes of scale.sizes) {
        try {
          await measureCopies(bench, cluster, { connection, megabytes, rounds: scale.rounds });
        } catch (error) {
          if (isCancelled(bench, error)) throw error;
          for (const strategy of STRATEGIES) bench.fail(seriesOf(strategy, megabytes), error);
        }
      }
      await takeTurns(bench, [{ series: "postgres-connect", act: () => connectAndAsk(cluster) }], {
        title: "Connect to Postgres",
        rounds: scale.rounds,
        warmUp: 1,
      });
    } finally {
      await connection.end();
    }
    await measureStarts(bench, cluster, scale.startRounds);
  } finally {
    await cluster.stop();
  }
}

/** Null, with the reason for every row, where the programs do not run. */
function tryInstall(bench: Bench, scale: Scale): Runtime | null {
  try {
    return installRuntime(join(bench.folder, "runtime"));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    for (const { id } of seriesOfStep(scale)) bench.skip(id, reason);
    return null;
  }
}

async function measureCopies(
  bench: Bench,
  cluster: Cluster,
  { connection, megabytes, rounds }: { readonly connection: Connection; readonly megabytes: number; readonly rounds: number },
): Promise<void> {
  const template = templateOf(megabytes);
  await connection.query(`CREATE DATABASE ${template}`);
  const inside = await cluster.connect(template);
  try {
    const bytes = await fillDatabase(inside, megabytes, (found) => {
      bench.phase(`Fill a Postgres database of ${megabytes} MB`, Math.floor(found / 1024 ** 2), megabytes);
      return bench.pause();
    });
    bench.fact(`Postgres database of ${megabytes} MB`, bytes, "bytes");
  } finally {
    // Nobody may be connected to a template.
    await inside.end();
  }
  const usable = STRATEGIES.filter((strategy) => strategy !== "file-copy-clone" || bench.filesystem.reflink);
  if (!bench.filesystem.reflink) bench.skip(seriesOf("file-copy-clone", megabytes), `Files on ${bench.filesystem.type} share no blocks`);
  await takeTurns(
    bench,
    usable.map((strategy) => ({
      series: seriesOf(strategy, megabytes),
      prepare: async () => {
        await dropDatabase(connection, COPY);
        await chooseCopyMethod(connection, strategy);
      },
      act: () => copyDatabase(connection, strategy, { from: template, to: COPY }),
    })),
    { title: `Copy a Postgres database of ${megabytes} MB`, rounds, warmUp: 1, settle: bench.folder },
  );
  await dropDatabase(connection, COPY);
}

async function connectAndAsk(cluster: Cluster): Promise<void> {
  const connection = await cluster.connect("postgres");
  try {
    await connection.query("SELECT 1");
  } finally {
    await connection.end();
  }
}

/** Each start finds a cluster that was shut down in order, its files in the system's cache. */
async function measureStarts(bench: Bench, cluster: Cluster, rounds: number): Promise<void> {
  await takeTurns(
    bench,
    [
      {
        series: "postgres-cold",
        prepare: () => cluster.stop(),
        act: async () => {
          const connection = await cluster.start();
          await connection.query("SELECT 1");
          await connection.end();
        },
      },
    ],
    { title: "Start Postgres", rounds },
  );
}

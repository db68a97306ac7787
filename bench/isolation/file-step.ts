/** A private copy of a database to work on, by each way that needs no server. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import type { Store } from "#engine/store.ts";
import { findPeer, missingPeer, notePeers, type Peer } from "../peers/find-program.ts";
import { openAndAsk } from "../common/checkouts.ts";
import { AppendLog, copyBytes, reflink, removeDatabase, runProgram } from "../common/limits.ts";
import { eraseBranch, MAIN, makeStore, nextName } from "../common/stores.ts";
import { takeTurns, type Contestant } from "../common/turns.ts";
import type { Bench, SeriesPlan, Step } from "../suite.ts";
import { published, type Scale } from "./scale.ts";

/** Background work of the store may use the time between two samples. */
const REST_MS = 100;
const ALL_PAGES = 0x7fff_ffff;

export function fileStep(scale: Scale, megabytes: number): Step {
  const row = (id: string, title: string, more: Partial<SeriesPlan> = {}): SeriesPlan => ({
    id: `${id}-${megabytes}mb`,
    group: `${megabytes} MB`,
    title,
    unit: "ms",
    planned: scale.rounds,
    ...more,
  });
  return {
    id: `files-${megabytes}mb`,
    title: `A private copy of ${megabytes} MB: branches, backups, copies`,
    series: [
      { ...row("append", "append 300 B + fdatasync"), group: "Limit" },
      row("fork", "fork alone", { limit: `append-${megabytes}mb`, references: published("fork", megabytes, false) }),
      row("fork-open-close", "fork + open + close", { limit: `copy-${megabytes}mb`, references: published("fork-open-close", megabytes) }),
      row("backup", "SQLite backup(), fsync", { references: published("backup", megabytes) }),
      row("backup-shell", "sqlite3 .backup, fsync"),
      row("backup-shell-async", "sqlite3 .backup --async, no fsync"),
      row("copy-sync", "file copy, fsync"),
      row("copy", "file copy, no fsync", { references: megabytes === 10 ? ["offshoot-0.2.12/isolation/file-copy-10mb"] : [] }),
      row("reflink", "reflink of the file, no fsync"),
    ],
    run: async (bench) => {
      notePeers(bench);
      const source = await bench.database(megabytes);
      const store = await makeStore(bench, "store", megabytes);
      const log = new AppendLog(join(bench.folder, "append.log"));
      try {
        await store.checkout(MAIN);
        const contestants = [...branchRows(store, megabytes), ...copyRows(bench, source, megabytes)];
        await takeTurns(bench, [{ series: `append-${megabytes}mb`, act: log.append }, ...contestants], {
          title: "Branch, back up and copy, in turns",
          rounds: scale.rounds,
          warmUp: 1,
          settle: bench.folder,
        });
      } finally {
        log.close();
        await store.close();
      }
    },
  };
}

function branchRows(store: Store, megabytes: number): readonly Contestant[] {
  let branch = "";
  return [
    { series: `fork-${megabytes}mb`, act: () => store.fork({ ...MAIN, newBranch: nextName() }) },
    {
      series: `fork-open-close-${megabytes}mb`,
      prepare: async () => {
        branch = nextName();
        await sleep(REST_MS);
      },
      act: async () => {
        await store.fork({ ...MAIN, newBranch: branch });
        openAndAsk((await store.checkout({ database: MAIN.database, branch })).path);
      },
      tidy: () => eraseBranch(store, branch),
    },
  ];
}

function copyRows(bench: Bench, source: string, megabytes: number): readonly Contestant[] {
  const target = join(bench.folder, "copy.db");
  const row = (id: string, act: () => unknown): Contestant => ({
    series: `${id}-${megabytes}mb`,
    prepare: () => removeDatabase(target),
    act,
    tidy: () => removeDatabase(target),
  });
  const rows = [
    row("backup", () => backUp(source, target)),
    row("copy-sync", () => copyBytes(source, target, "sync")),
    row("copy", () => copyBytes(source, target, "no sync")),
  ];
  if (bench.filesystem.reflink) rows.push(row("reflink", () => reflink(source, target)));
  else bench.skip(`reflink-${megabytes}mb`, `Files on ${bench.filesystem.type} share no blocks`);
  const shell = findPeer("sqlite3");
  if (shell) rows.push(...shellRows(shell, { source, target, row }));
  else for (const id of ["backup-shell", "backup-shell-async"]) bench.skip(`${id}-${megabytes}mb`, missingPeer("sqlite3"));
  return rows;
}

interface ShellRows {
  readonly source: string;
  readonly target: string;
  readonly row: (id: string, act: () => unknown) => Contestant;
}

function shellRows(shell: Peer, { source, target, row }: ShellRows): readonly Contestant[] {
  return [
    row("backup-shell", () => runProgram(shell.path, [source, `.backup '${target}'`])),
    row("backup-shell-async", () => runProgram(shell.path, [source, `.backup --async '${target}'`])),
  ];
}

/** All pages in one step: nobody else uses the source. */
async function backUp(source: string, target: string): Promise<void> {
  const database = new Database(source, { readonly: true });
  try {
    await database.backup(target, { progress: () => ALL_PAGES });
  } finally {
    database.close();
  }
}

import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Cluster } from "#bench/postgres/cluster.ts";
import { copyDatabase, chooseCopyMethod, dropDatabase, fillDatabase, STRATEGIES } from "#bench/postgres/databases.ts";
import { runWatched } from "#bench/postgres/run-watched.ts";
import { findPostgres, installRuntime, missingPostgres } from "#bench/postgres/runtime.ts";
import { postgresStep } from "#bench/isolation/postgres-step.ts";
import { fakeBench } from "./fake-bench.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const missing = missingPostgres();
const ROOT = join(import.meta.dirname, "../..");

/** A folder that other users can reach, with the programs in it. */
function makePlace(): string {
  const folder = makeTemporaryFolder();
  chmodSync(folder, 0o755);
  return folder;
}

async function makeCluster(folder: string, signal = new AbortController().signal): Promise<Cluster> {
  const cluster = await Cluster.make(installRuntime(join(folder, "runtime")), join(folder, "data"), signal);
  onTestFinished(() => cluster.stop());
  return cluster;
}

function serverPid(folder: string): number {
  return Number.parseInt(readFileSync(join(folder, "data/postmaster.pid"), "utf8"), 10);
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

async function waitUntil(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1_000 && !holds(); tries += 1) await sleep(10);
  expect(holds()).toBe(true);
}

test.skipIf(missing !== null)(
  "SUITE-5: Postgres runs as an ordinary user, durably, on a private socket, and copies databases by every strategy",
  async () => {
    const folder = makePlace();
    const cluster = await makeCluster(folder);
    const connection = await cluster.start();
    const pid = serverPid(folder);
    expect(statSync(`/proc/${pid}`).uid).not.toBe(0);
    const settings = await connection.query(
      "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses') ORDER BY name",
    );
    expect(settings.map(({ name, setting }) => [name, setting])).toEqual([
      ["fsync", "on"],
      ["full_page_writes", "on"],
      ["listen_addresses", ""],
      ["synchronous_commit", "on"],
    ]);
    expect(statSync(join(folder, "data")).mode & 0o077).toBe(0);
    await connection.query("CREATE DATABASE seed_10");
    const inside = await cluster.connect("seed_10");
    const bytes = await fillDatabase(inside, 10, async () => undefined);
    const rows = await inside.query("SELECT count(*) AS n FROM big");
    await inside.end();
    expect(bytes).toBeGreaterThanOrEqual(10 * 1024 ** 2);
    for (const strategy of STRATEGIES) {
      // Where blocks are not shared, "clone" copies as well.
      await chooseCopyMethod(connection, strategy);
      await copyDatabase(connection, strategy, { from: "seed_10", to: "attempt" });
      const copy = await cluster.connect("attempt");
      expect(await copy.query("SELECT count(*) AS n FROM big")).toEqual(rows);
      await copy.end();
      await dropDatabase(connection, "attempt");
    }
    await connection.end();
    await cluster.stop();
    expect(isAlive(pid)).toBe(false);
    expect(readdirSync(join(folder, "data")).filter((name) => name.startsWith(".s.PGSQL") || name === "postmaster.pid")).toEqual([]);
    // Started again it is the same cluster.
    const again = await cluster.start("seed_10");
    expect(await again.query("SELECT count(*) AS n FROM big")).toEqual(rows);
    await again.end();
  },
);

test.skipIf(missing !== null)("SUITE-5: a run that is stopped ends Postgres in the middle of a statement", async () => {
  const folder = makePlace();
  const stop = new AbortController();
  const cluster = await makeCluster(folder, stop.signal);
  const connection = await cluster.start();
  const pid = serverPid(folder);
  const query = connection.query("SELECT pg_sleep(600)").then(
    () => "slept",
    () => "ended",
  );
  await sleep(50);
  stop.abort();
  expect(await query).toBe("ended");
  await cluster.stop();
  expect(isAlive(pid)).toBe(false);
  await connection.end().catch(() => undefined);
});

test.skipIf(missing !== null)("SUITE-5: Postgres ends when the process that measures is killed", async () => {
  const folder = makePlace();
  const script = join(ROOT, "test/bench/postgres-child.ts");
  const child = spawn(process.execPath, [script, folder], { stdio: ["ignore", "pipe", "inherit"], cwd: ROOT });
  onTestFinished(() => void child.kill("SIGKILL"));
  const line = await new Promise<string>((settle) => child.stdout.setEncoding("utf8").once("data", settle));
  const pid = Number(line);
  expect(readlinkSync(`/proc/${pid}/exe`)).toContain("postgres");
  child.kill("SIGKILL");
  await waitUntil(() => !isAlive(pid));
});

function runScript(script: string): Promise<void> {
  return runWatched(["/bin/sh", "-c", script], { env: { PATH: "/usr/bin:/bin" }, signal: new AbortController().signal });
}

test("SUITE-5: what sets Postgres up ends with a run that is stopped, its own children, too", async () => {
  const pids = join(makePlace(), "pids");
  const stop = new AbortController();
  const env = { PATH: "/usr/bin:/bin" };
  const ended = runWatched(["/bin/sh", "-c", `echo $$ > ${pids}; sleep 600 & echo $! >> ${pids}; wait`], { env, signal: stop.signal }).then(
    () => "finished",
    () => "ended",
  );
  const found = () => (existsSync(pids) ? readFileSync(pids, "utf8") : "").split("\n").filter(Boolean).map(Number);
  await waitUntil(() => found().length === 2);
  expect(found().map(isAlive)).toEqual([true, true]);
  stop.abort();
  expect(await ended).toBe("ended");
  await waitUntil(() => !found().some(isAlive));
});

test("SUITE-5: what sets Postgres up and fails says why", async () => {
  await runScript("exit 0");
  await expect(runScript("echo wrong >&2; exit 3")).rejects.toThrow("ended with 3: wrong");
});

test.skipIf(missing !== null)(
  "SUITE-5: links between libraries are made where the package's script did not run; what does not run says why",
  () => {
    const folder = makePlace();
    const source = findPostgres() ?? "";
    const first = installRuntime(join(folder, "first"), source);
    expect(first.version).toMatch(/^postgres \(PostgreSQL\) \d+/);
    const links = JSON.parse(readFileSync(join(folder, "first/pg-symlinks.json"), "utf8")) as { target: string }[];
    for (const { target } of links) rmSync(join(folder, "first/lib", target.replace(/^.*\//, "")));
    expect(installRuntime(join(folder, "second"), join(folder, "first")).version).toBe(first.version);
    for (const { target } of links) expect(existsSync(join(folder, "second/lib", target.replace(/^.*\//, "")))).toBe(true);
    const broken = join(folder, "broken");
    mkdirSync(join(broken, "bin"), { recursive: true });
    writeFileSync(join(broken, "bin/postgres"), "#!/bin/sh\necho 'no such library' >&2\nexit 127\n", { mode: 0o755 });
    expect(() => installRuntime(join(folder, "third"), broken)).toThrow(/Postgres does not run.*no such library/);
  },
);

test.skipIf(missing !== null || process.getuid?.() !== 0)(
  "SUITE-5: where its user cannot reach the folder, every row says so",
  async () => {
    // Nobody but its owner may enter it.
    const { bench, recorded } = fakeBench(makeTemporaryFolder());
    const step = postgresStep({ sizes: [10], rounds: 1, startRounds: 1 });
    await step.run(bench);
    expect([...recorded.skipped.keys()]).toEqual(step.series.map(({ id }) => id));
    for (const reason of recorded.skipped.values()) expect(reason).toContain("must be able to reach");
    expect([...recorded.samples.keys(), ...recorded.errors.keys()]).toEqual([]);
  },
);

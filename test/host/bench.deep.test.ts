import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { applyUpdate } from "#shared/bench-live.ts";
import type { BenchRun, BenchRunHead, BenchUpdate } from "#shared/bench-views.ts";
import type { HostEvent, RequestInput, RequestName, RequestOutput } from "#shared/contract.ts";
import type { JobView } from "#shared/views.ts";
import { BenchHistory } from "#bench/runner/history.ts";
import { Host, type Face } from "#host/host.ts";
import { Settings } from "#host/settings.ts";

const face: Face = {
  kind: "web",
  chooseFile: () => Promise.resolve(null),
  chooseFolder: () => Promise.resolve(null),
  chooseSaveFile: () => Promise.resolve(null),
  reveal: () => Promise.resolve(),
  themeChanged: () => undefined,
};
// Workers and children start from source here, which takes seconds on a busy machine.
const SLOW = { timeout: 120_000 };

let folder = "";
let host: Host;
let events: HostEvent[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "coppice-bench-host-"));
  host = new Host(face, new Settings(join(folder, "config")), join(import.meta.dirname, "../support/bench-engine-worker.ts"));
  events = [];
  host.onEvent((event) => events.push(event));
});
afterEach(async () => {
  await host.close();
  rmSync(folder, { recursive: true, force: true });
});

async function ask<K extends RequestName>(name: K, input: RequestInput<K>): Promise<RequestOutput<K>> {
  const answer = await host.request(name, input);
  if (!answer.ok) throw new Error(`${name}: ${answer.error.code}: ${answer.error.message}`);
  return answer.result as RequestOutput<K>;
}

async function refusal(name: RequestName, input: object): Promise<string> {
  const answer = await host.request(name, input);
  return answer.ok ? "answered" : answer.error.code;
}

const updates = (): BenchUpdate[] => events.flatMap((event) => (event.type === "bench" ? [event.update] : []));
const jobs = (): JobView[] => events.flatMap((event) => (event.type === "job" ? [event.job] : []));

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10);
}

const hasEnded = () => ["done", "partial", "failed"].includes(updates().at(-1)?.state ?? "");
const hasSamples = () => updates().some(({ series }) => series.some(({ samples }) => samples.length > 0));

function start(suite: BenchRun["suite"]): Promise<BenchRunHead> {
  return ask("bench.start", { suite, size: "quick", folder });
}

test("BENCH-15: a run goes on in a process of its own, is told by updates and a job, and is listed", SLOW, async () => {
  const { suites, folder: place } = await ask("bench.suites", {});
  expect(suites.map(({ id, steps }) => [id, steps.length])).toEqual([
    ["cow", 2],
    ["density", 1],
    ["micro", 2],
    ["write-amplification", 2],
    ["isolation", 1],
    ["goals", 0],
  ]);
  expect(place).toBe(tmpdir());
  const head = await start("cow");
  expect(head).toMatchObject({ suite: "cow", size: "quick" });
  await until(hasEnded);
  const run = await ask("bench.run", { run: head.id });
  expect(run).toMatchObject({ state: "done", title: "Copy-on-write", options: { parent: "peer" } });
  expect(run.series.map(({ samples }) => samples.length)).toEqual([10, 10]);
  // Whoever only listens knows the same.
  const empty = { ...run, series: run.series.map((series) => ({ ...series, samples: [] })) };
  expect(updates().reduce(applyUpdate, empty).series).toEqual(run.series);
  expect(await ask("bench.runs", {})).toMatchObject([{ id: head.id, state: "done" }]);
  expect(readdirSync(folder).filter((name) => name.startsWith(".coppice"))).toEqual([]);
  await ask("bench.remove", { run: head.id });
  expect(await ask("bench.runs", {})).toEqual([]);
  expect(await refusal("bench.run", { run: head.id })).toBe("file-not-found");
});

test("BENCH-15: one run at a time; its job stops it, and what it has is kept as partial", SLOW, async () => {
  const head = await start("density");
  expect(await refusal("bench.start", { suite: "cow", size: "quick" })).toBe("store-busy");
  expect(await refusal("bench.remove", { run: head.id })).toBe("store-busy");
  await until(() => hasSamples() && jobs().length > 0);
  expect((await ask("bench.runs", {}))[0]).toMatchObject({ id: head.id, state: "running" });
  const job = jobs().at(-1);
  expect(job).toMatchObject({ title: "Benchmark: Density", state: "running", cancellable: true, unit: "percent" });
  expect(jobs().every(({ total }) => total === 100 || total === null)).toBe(true);
  await ask("job.cancel", { id: job?.id ?? "" });
  await until(hasEnded);
  expect(updates().map(({ state }) => state)).toContain("stopping");
  await until(() => jobs().at(-1)?.state === "cancelled");
  const run = await ask("bench.run", { run: head.id });
  expect(run).toMatchObject({ state: "partial", failure: null });
  expect(run.series[0]?.samples.length).toBeGreaterThan(0);
  // The next one may start.
  await start("cow");
});

test("BENCH-15: what cannot start says why: unknown suite, option or run, no room, no folder", SLOW, async () => {
  expect(await refusal("bench.start", { suite: "branchbench", size: "quick", folder })).toBe("bad-argument");
  expect(await refusal("bench.start", { suite: "cow", size: "L", folder })).toBe("bad-argument");
  expect(await refusal("bench.start", { suite: "cow", size: "quick", folder, options: { parent: "none" } })).toBe("bad-argument");
  expect(await refusal("bench.start", { suite: "goals", size: "quick", folder })).toBe("disk-full");
  expect(await refusal("bench.start", { suite: "cow", size: "quick", folder: join(folder, "none") })).toBe("file-not-found");
  for (const name of ["bench.stop", "bench.run", "bench.remove"] as const) expect(await refusal(name, { run: "x" })).toBe("file-not-found");
  expect(await ask("bench.runs", {})).toEqual([]);
});

test("BENCH-16: the death of its process fails the run; what was measured is kept and its sandbox removed", SLOW, async () => {
  const head = await start("micro");
  await until(hasEnded);
  const run = await ask("bench.run", { run: head.id });
  expect(run.state).toBe("failed");
  expect(run.failure).toContain("exit code 9");
  expect(run.failure).toContain("these are the last words");
  expect(run.series.map(({ samples }) => samples)).toEqual([[1], [2]]);
  expect(readdirSync(folder).filter((name) => name.startsWith(".coppice"))).toEqual([]);
  await until(() => jobs().at(-1)?.state === "failed");
});

test("BENCH-17: a store keeps its runs, its disk is measured, and another start of the program finds them", SLOW, async () => {
  const store = await ask("store.create", { spec: join(folder, "store") });
  expect((await ask("bench.suites", {})).folder).toBe(join(store.path, "benchmarks"));
  const head = await ask("bench.start", { suite: "cow", size: "quick" });
  await until(hasEnded);
  expect(readdirSync(join(store.path, "benchmarks"))).toEqual([`${head.id}.json`]);
  writeFileSync(join(store.path, "benchmarks", "20261130T120000Z-cow-damaged.json"), "{");
  await host.close();
  host = new Host(face, new Settings(join(folder, "config")), join(import.meta.dirname, "../support/bench-engine-worker.ts"));
  await ask("store.open", { spec: store.path });
  expect((await ask("bench.runs", {})).map(({ id }) => id)).toEqual([head.id]);
  expect(await ask("bench.run", { run: head.id })).toMatchObject({ state: "done", endedAt: expect.any(Number) });
  const usage = await ask("usage.store", {});
  expect(usage.parts.filter(({ storedBytes }) => storedBytes > 0).map(({ name }) => name)).toEqual(["temporary", "kept", "catalog"]);
  expect(await ask("store.verify", {})).toMatchObject({ ok: true });
});

test("BENCH-14: the steps that are done are in the store's file already: all that a killed program leaves", SLOW, async () => {
  const store = await ask("store.create", { spec: join(folder, "store") });
  const head = await start("write-amplification");
  const history = new BenchHistory(join(store.path, "benchmarks"));
  await until(() => history.heads().length > 0);
  const left = history.read(head.id);
  expect(left?.state).toBe("partial");
  expect(left?.series.map(({ id, samples }) => [id, samples.length])).toEqual([
    ["one-ms", 10],
    ["endless-ms", 0],
  ]);
  expect((await ask("bench.runs", {}))[0]).toMatchObject({ id: head.id, state: "running" });
});

test("BENCH-17: closing the store stops its run, which is kept as partial; a store that cannot be opened stops nothing", SLOW, async () => {
  const { path } = await ask("store.create", { spec: join(folder, "store") });
  const head = await start("density");
  await until(hasSamples);
  expect(await refusal("store.open", { spec: join(folder, "none") })).toBe("store-not-found");
  expect((await ask("bench.runs", {}))[0]).toMatchObject({ id: head.id, state: "running" });
  await ask("store.close", {});
  expect(await ask("bench.runs", {})).toEqual([]);
  await ask("store.open", { spec: path });
  const run = await ask("bench.run", { run: head.id });
  expect(run.state).toBe("partial");
  expect(run.series[0]?.samples.length).toBeGreaterThan(0);
});

test("BENCH-17: a run that its store cannot keep stays for the session, and says so", SLOW, async () => {
  const { path } = await ask("store.create", { spec: join(folder, "store") });
  // Nothing can be written into what is no folder.
  writeFileSync(join(path, "benchmarks"), "in the way");
  const head = await start("cow");
  await until(hasEnded);
  const run = await ask("bench.run", { run: head.id });
  expect(run.state).toBe("done");
  expect(run.failure).toContain("could not be kept");
  expect(await ask("bench.runs", {})).toMatchObject([{ id: head.id }]);
});

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { applyUpdate } from "#shared/bench-live.ts";
import { toJson } from "#shared/bench-report.ts";
import type { BenchRun, BenchUpdate } from "#shared/bench-views.ts";
import { BenchHistory } from "#bench/runner/history.ts";
import { commandOf, makeOrder } from "#bench/runner/order.ts";
import { runSuite } from "#bench/runner/run.ts";
import { makeSandbox, removeLeftovers } from "#bench/runner/sandbox.ts";
import type { Step, Suite } from "#bench/suite.ts";
import { EngineError } from "#engine/io/errors.ts";
import { makeRun, makeStep, makeSuite } from "./samples.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "coppice-bench-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Watch {
  readonly signal?: AbortSignal;
  readonly onUpdate?: (update: BenchUpdate) => void;
  readonly onStep?: (run: BenchRun) => void;
}

function runSteps(steps: readonly Step[], watch: Watch = {}, suite: Suite = makeSuite(steps)): Promise<BenchRun> {
  return runSuite({ suite, order: makeOrder(suite, {}), folder, signal: new AbortController().signal, ...watch });
}

test("BENCH-8: steps run one after the other; one that fails is recorded, and the others go on", async () => {
  const kept: BenchRun[] = [];
  const run = await runSteps(
    [
      makeStep("first", async (bench) => {
        bench.record("first-ms", 5);
        bench.fact("depth", 3);
        throw new Error("out of paper");
      }),
      makeStep("second", async (bench) => {
        for (let value = 1; value <= 3; value += 1) bench.record("second-ms", value);
        bench.fail("second-ms", new Error("late"), "timeout");
        bench.fact("depth", 3);
        bench.fact("depth", 4);
      }),
      makeStep("third", () => Promise.reject(new Error("never called")), { missing: () => "no such program here" }),
      makeStep("fourth", async (bench) => bench.skip("fourth-ms", "only this one")),
    ],
    { onStep: (step) => kept.push(step) },
  );
  expect(run.state).toBe("done");
  expect(run.series.map(({ samples, errors, timeouts, error, skipped }) => ({ samples, errors, timeouts, error, skipped }))).toEqual([
    { samples: [5], errors: 1, timeouts: 0, error: "out of paper", skipped: null },
    { samples: [1, 2, 3], errors: 0, timeouts: 1, error: "late", skipped: null },
    { samples: [], errors: 0, timeouts: 0, error: null, skipped: "no such program here" },
    { samples: [], errors: 0, timeouts: 0, error: null, skipped: "only this one" },
  ]);
  expect(run.facts.map(({ step, value }) => [step, value])).toEqual([
    ["first", 3],
    ["second", 4],
  ]);
  expect(kept.map(({ state, endedAt }) => [state, endedAt])).toEqual(Array.from({ length: 4 }, () => ["running", null]));
  expect(kept[0]?.series[1]?.samples).toEqual([]);
  expect(run.command).toBe(`coppice bench cow --size quick --folder ${folder}`);
  expect(run.machine).toMatchObject({ node: process.version, addon: expect.stringMatching(/loaded|missing/) });
  expect(run.machine.appendMs).toBeGreaterThan(0);
});

test("BENCH-8: a run in which nothing could be measured has failed, and says why", async () => {
  const run = await runSteps([makeStep("only", () => Promise.reject(new Error("out of paper")))]);
  expect(run).toMatchObject({ state: "failed", failure: "out of paper" });
  expect(run.endedAt).not.toBeNull();
});

test("BENCH-8: a sample that is no number, or of a series that was not planned, is an error of the step", async () => {
  const run = await runSteps([
    makeStep("nan", async (bench) => bench.record("nan-ms", Number.NaN)),
    makeStep("stray", async (bench) => bench.record("nan-ms", 1)),
  ]);
  expect(run.series.map(({ errors, samples }) => [errors, samples])).toEqual([
    [1, []],
    [1, []],
  ]);
});

test("BENCH-9: a run that is stopped keeps what it has, as partial, and takes no further step", async () => {
  const abort = new AbortController();
  let states: string[] = [];
  const run = await runSteps(
    [
      makeStep("endless", async (bench) => {
        for (let value = 1; ; value += 1) {
          await bench.pause();
          bench.record("endless-ms", value);
          if (value === 7) abort.abort();
        }
      }),
      makeStep("never", async (bench) => bench.record("never-ms", 1)),
    ],
    { signal: abort.signal, onUpdate: ({ state }) => (states = [...states, state]) },
  );
  expect(run.state).toBe("partial");
  expect(run.series.map(({ samples, errors }) => [samples.length, errors])).toEqual([
    [7, 0],
    [0, 0],
  ]);
  expect(states).toContain("stopping");
  expect(states.at(-1)).toBe("partial");
});

test("BENCH-9: what a stopped step fails with, other than having been stopped, is still told", async () => {
  const abort = new AbortController();
  const run = await runSteps(
    [
      makeStep("broken", async () => {
        abort.abort();
        throw new EngineError("disk-full", "no room");
      }),
    ],
    { signal: abort.signal },
  );
  expect(run.series[0]).toMatchObject({ errors: 1, error: "no room" });
  expect(run.state).toBe("partial");
});

test("BENCH-10: a step has an empty folder of its own and one shared with the others; nothing is left of either", async () => {
  const seen: string[] = [];
  const look = async (bench: { readonly folder: string; readonly shared: string }) => {
    seen.push([...readdirSync(bench.folder), ...readdirSync(bench.shared)].join(" "));
    mkdirSync(join(bench.folder, "deep"));
    writeFileSync(join(bench.folder, "deep", "file"), "x");
    writeFileSync(join(bench.shared, "kept"), "x");
  };
  await runSteps([makeStep("one", look), makeStep("two", (bench) => look(bench).then(() => Promise.reject(new Error("no"))))]);
  expect(seen).toEqual(["", "kept"]);
  expect(readdirSync(folder)).toEqual([]);
});

test("BENCH-10: the sandbox of a process that died is removed by the next run, that of a living one is not", async () => {
  const living = makeSandbox(folder, 0);
  writeFileSync(join(living.path, "data"), "x");
  const script = `const { makeSandbox } = await import(${JSON.stringify(join(import.meta.dirname, "../../bench/runner/sandbox.ts"))});
    console.log(makeSandbox(${JSON.stringify(folder)}, 0).path); process.kill(process.pid, "SIGKILL");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  let dead = "";
  child.stdout.on("data", (text: Buffer) => (dead += text.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  expect(existsSync(dead.trim())).toBe(true);
  mkdirSync(join(folder, ".coppice-bench-ours-by-name-only"));
  const young = join(folder, ".coppice-bench-0123456789ab");
  const old = join(folder, ".coppice-bench-ba9876543210");
  mkdirSync(young);
  mkdirSync(old);
  utimesSync(old, new Date(0), new Date(0));
  removeLeftovers(folder);
  expect(existsSync(dead.trim())).toBe(false);
  expect(existsSync(join(living.path, "data"))).toBe(true);
  // Just being made, or nothing of ours.
  expect([existsSync(young), existsSync(old)]).toEqual([true, false]);
  expect(existsSync(join(folder, ".coppice-bench-ours-by-name-only"))).toBe(true);
  living.remove();
  expect(existsSync(living.path)).toBe(false);
});

test("BENCH-10: a database server that a dead run left behind is ended; a pid of somebody else's is not", async () => {
  const leftover = join(folder, ".coppice-bench-0123456789ab");
  const data = join(leftover, "step-x", "data");
  mkdirSync(data, { recursive: true });
  writeFileSync(join(leftover, "lock"), "");
  const idle = "setInterval(() => {}, 1000)";
  const server = spawn(process.execPath, ["-e", idle, data], { stdio: "ignore" });
  const stranger = spawn(process.execPath, ["-e", idle, "/elsewhere"], { stdio: "ignore" });
  try {
    const ended = new Promise((resolve) => server.once("exit", (_, signal) => resolve(signal)));
    writeFileSync(join(data, "postmaster.pid"), `${server.pid}\n${data}\n`);
    mkdirSync(join(leftover, "step-x", "other"));
    writeFileSync(join(leftover, "step-x", "other", "postmaster.pid"), `${stranger.pid}\n`);
    // The command line of a process that has just begun is not its own yet.
    while (!readFileSync(`/proc/${server.pid}/cmdline`, "utf8").includes(data)) await sleep(5);
    removeLeftovers(folder);
    expect(await ended).toBe("SIGKILL");
    expect(stranger.exitCode).toBeNull();
    expect(stranger.signalCode).toBeNull();
    expect(existsSync(leftover)).toBe(false);
  } finally {
    server.kill("SIGKILL");
    stranger.kill("SIGKILL");
  }
});

test("BENCH-11: without room, or without the folder, nothing is measured and nothing is left", async () => {
  const never = makeStep("never", () => Promise.reject(new Error("was run")));
  const huge = makeSuite([never], { sizes: [{ id: "quick", label: "huge", seconds: 1, diskBytes: 2 ** 60 }] });
  await expect(runSteps([never], {}, huge)).rejects.toMatchObject({ code: "disk-full", untouched: expect.stringContaining("Nothing") });
  expect(readdirSync(folder)).toEqual([]);
  const suite = makeSuite([never]);
  const missing = { suite, order: makeOrder(suite, {}), folder: join(folder, "none"), signal: new AbortController().signal };
  await expect(runSuite(missing)).rejects.toMatchObject({ code: "file-not-found" });
});

test("BENCH-12: one seed and size give the same database, byte for byte, made once a run", async () => {
  const hashes: string[] = [];
  const paths = new Set<string>();
  const take = (id: string) =>
    makeStep(id, async (bench) => {
      const path = await bench.database(2);
      paths.add(path);
      hashes.push(createHash("sha256").update(readFileSync(path)).digest("hex"));
      const database = new Database(path, { readonly: true });
      expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
      expect(database.prepare("SELECT count(*) FROM small").pluck().get()).toBe(200);
      database.close();
      const megabytes = readFileSync(path).length / 1024 ** 2;
      expect(megabytes).toBeGreaterThan(1.9);
      expect(megabytes).toBeLessThan(2.3);
    });
  await runSteps([take("one"), take("two")]);
  expect(paths.size).toBe(1);
  const other = await runSteps([take("one")]);
  expect(other.series[0]?.error ?? null).toBeNull();
  const suite = makeSuite([take("one")]);
  await runSuite({ suite, order: makeOrder(suite, { seed: 2 }), folder, signal: new AbortController().signal });
  expect(hashes.slice(0, 3)).toEqual([hashes[0], hashes[0], hashes[0]]);
  expect(hashes[3]).not.toBe(hashes[0]);
});

test("BENCH-13: updates come at most ten times a second, with every sample once and in order", async () => {
  const updates: { at: number; update: BenchUpdate }[] = [];
  let live = makeRun({ series: [] });
  const suite = makeSuite([
    makeStep("busy", async (bench) => {
      const end = performance.now() + 700;
      for (let value = 0; performance.now() < end; value += 1) {
        bench.record("busy-ms", value);
        if (value % 50 === 0) await bench.pause();
      }
    }),
  ]);
  const run = await runSuite({
    suite,
    order: makeOrder(suite, {}),
    folder,
    signal: new AbortController().signal,
    onStart: (started) => (live = started),
    onUpdate: (update) => {
      updates.push({ at: performance.now(), update });
      live = applyUpdate(live, update);
    },
  });
  expect(live.series).toEqual(run.series);
  expect(live.state).toBe("done");
  const samples = updates.flatMap(({ update }) => update.series.flatMap((series) => series.samples));
  expect(samples).toEqual(run.series[0]?.samples);
  const lasted = (updates.at(-1)?.at ?? 0) - (updates[0]?.at ?? 0);
  // The change of state at the end is told at once.
  expect(updates.length).toBeLessThanOrEqual(Math.ceil(lasted / 100) + 3);
  expect(updates.length).toBeGreaterThan(3);
});

test("BENCH-18: an order that does not fit the suite is refused with what there is; the command says what differs from the usual", () => {
  const suite = makeSuite([]);
  expect(makeOrder(suite, {})).toEqual({ size: "quick", options: { parent: "peer" }, seed: 1 });
  expect(() => makeOrder(suite, { size: "XL" })).toThrow(
    expect.objectContaining({ code: "bad-argument", details: { choices: ["quick"] } }),
  );
  expect(() => makeOrder(suite, { options: { colour: "red" } })).toThrow(expect.objectContaining({ details: { choices: ["parent"] } }));
  expect(() => makeOrder(suite, { options: { parent: "none" } })).toThrow(
    expect.objectContaining({ details: { choices: ["peer", "harness"] } }),
  );
  const order = makeOrder(suite, { options: { parent: "harness" }, seed: 5 });
  expect(commandOf(suite, order, "/tmp/it's here")).toBe(
    String.raw`coppice bench cow --size quick --option parent=harness --seed 5 --folder '/tmp/it'\''s here'`,
  );
});

test("BENCH-14: kept runs survive as they were; damaged files are not listed; a killed program's run is partial", () => {
  const history = new BenchHistory(join(folder, "benchmarks"));
  expect(history.heads()).toEqual([]);
  const older = makeRun({ id: "20261130T110000Z-cow-a", startedAt: 1_000 });
  const newer = makeRun({ id: "20261130T120000Z-cow-b", startedAt: 2_000, state: "running", endedAt: null });
  history.write(older);
  history.write(newer);
  writeFileSync(join(history.folder, "20261130T130000Z-cow-c.json"), '{"id": "20261130T130000Z-cow-c", "samples": [1, 2');
  writeFileSync(join(history.folder, "notes.json"), "{}");
  const cut = toJson(makeRun({ id: "20261130T150000Z-cow-e" })).slice(0, -20);
  writeFileSync(join(history.folder, "20261130T150000Z-cow-e.json"), cut);
  expect(history.read("20261130T150000Z-cow-e")).toBeNull();
  writeFileSync(join(history.folder, "20261130T140000Z-cow-d.json"), toJson(older));
  expect(history.heads().map(({ id, state }) => [id, state])).toEqual([
    [newer.id, "partial"],
    [older.id, "done"],
  ]);
  expect(history.read(older.id)).toEqual(older);
  expect(history.read("20261130T130000Z-cow-c")).toBeNull();
  expect(history.read("../../secret")).toBeNull();
  history.write({ ...newer, state: "done", endedAt: 3_000 });
  expect(history.heads()[0]).toMatchObject({ id: newer.id, state: "done" });
  expect(history.remove(older.id)).toBe(true);
  expect([history.remove(older.id), history.remove("../notes")]).toEqual([false, false]);
  expect(history.heads().map(({ id }) => id)).toEqual([newer.id]);
  expect(readdirSync(history.folder).filter((name) => name.endsWith(".new"))).toEqual([]);
});

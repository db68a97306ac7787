import { fork } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BenchRun, BenchUpdate } from "#shared/bench-views.ts";
import { BenchProcess } from "#host/bench-process.ts";
import type { FromBench } from "#host/bench-protocol.ts";

const CHILD = join(import.meta.dirname, "../support/bench-child.ts");
// Children start from source here, which takes seconds on a busy machine.
const SLOW = { timeout: 120_000 };

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "coppice-bench-process-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("BENCH-16: a step that is deaf to a stop is ended with its process; the run is partial and leaves nothing", SLOW, async () => {
  const kept: BenchRun[] = [];
  const states: string[] = [];
  const sampled = Promise.withResolvers<void>();
  const onUpdate = ({ state, series }: BenchUpdate) => {
    states.push(state);
    if (series.length > 0) sampled.resolve();
  };
  const order = { suite: "isolation", size: "quick", options: {}, folder } as const;
  const child = new BenchProcess(CHILD, order, { onUpdate, onKeep: (run) => kept.push(run) }, 200);
  await child.started;
  await sampled.promise;
  child.stop();
  child.stop();
  // Acknowledged before anything else happens.
  expect(states.at(-1)).toBe("stopping");
  const run = await child.ended;
  expect(run).toMatchObject({ state: "partial", failure: null });
  expect(run?.series[0]?.samples).toEqual([1]);
  expect(kept).toEqual([run]);
  expect(readdirSync(folder)).toEqual([]);
});

test("BENCH-16: a process file that cannot start is refused with what it said", SLOW, async () => {
  const order = { suite: "cow", size: "quick", options: {}, folder } as const;
  const child = new BenchProcess(join(folder, "none.js"), order, { onUpdate: () => undefined, onKeep: () => undefined });
  await expect(child.started).rejects.toMatchObject({ code: "worker-died", retryable: true });
  expect(await child.ended).toBeNull();
});

test("BENCH-16: a run whose host died ends by itself and removes its sandbox", SLOW, async () => {
  const child = fork(CHILD, [], { execArgv: [], serialization: "advanced", stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const measured = Promise.withResolvers<void>();
  child.on("message", (message: FromBench) => {
    if ("update" in message && message.update.series.length > 0) measured.resolve();
  });
  child.send({ start: { suite: "density", size: "quick", options: {}, folder } });
  await measured.promise;
  expect(readdirSync(folder)).toHaveLength(1);
  child.disconnect();
  expect(await exited).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});

/** kill -9 in the middle of every verb: at every fault point, and at random moments. */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FAULT_POINTS } from "#engine/io/faults.ts";
import { openStore } from "#engine/store.ts";
import { makeShop, query } from "../support/stores.ts";

const RANDOM_ROUNDS = Number(process.env["COPPICE_CRASH_ROUNDS"] ?? 40);
const SEED = Number(process.env["COPPICE_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const child = join(import.meta.dirname, "verbs-child.ts");

/** Operation ids that the child acknowledged before it died. */
function runUntilKilled(
  spec: string,
  round: number,
  options: { readonly fault?: string; readonly killAfterMs?: number },
): Promise<{ acknowledged: number[]; signal: string | null; output: string }> {
  return new Promise((resolve) => {
    const running = spawn(process.execPath, [child, spec, String(round), String(SEED + round)], {
      env: { ...process.env, ...(options.fault ? { COPPICE_FAULT: options.fault } : {}) },
    });
    let output = "";
    let errors = "";
    running.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    running.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    const timer = options.killAfterMs === undefined ? null : setTimeout(() => running.kill("SIGKILL"), options.killAfterMs);
    const limit = setTimeout(() => running.kill("SIGTERM"), 60_000);
    running.on("close", (_code, signal) => {
      if (timer) clearTimeout(timer);
      clearTimeout(limit);
      resolve({ acknowledged: output.split("\n").slice(0, -1).map(Number), signal, output: errors });
    });
  });
}

/** What must hold after any crash. */
async function expectSound(spec: string, acknowledged: readonly number[]): Promise<void> {
  const store = await openStore(spec, { actor: "check", ownProcess: true });
  try {
    const present = new Set((await store.operations({ limit: 5000 })).operations.map((operation) => operation.id));
    for (const id of acknowledged) expect(present.has(id), `operation ${id} was acknowledged`).toBe(true);
    const report = await store.verify({});
    expect(report.problems.filter((problem) => !problem.problem.includes("gc removes it"))).toEqual([]);
    for (const branch of (await store.branches({ database: "shop" })).branches) {
      if (branch.checkout.state !== "none" && branch.checkout.state !== "missing")
        expect(query(branch.checkout.path, "PRAGMA integrity_check")).toEqual([["ok"]]);
    }
    await store.gc({ dryRun: false });
    expect((await store.verify({})).problems).toEqual([]);
    // The lock of this process, and its folder where something was put there.
    const owners = new Set(readdirSync(join(spec, "tmp")).map((name) => name.replace(/\.lock$/, "")));
    expect(owners.size, "only this process has something in tmp/").toBe(1);
  } finally {
    await store.close();
  }
}

const HITS: Readonly<Record<string, readonly number[]>> = { "commit:begun": [1, 4, 9], "commit:applied": [2, 7], "commit:done": [3, 8] };

test(`CRASH-1: killed at every fault point, no acknowledged operation is lost and nothing leaks (seed ${SEED})`, async () => {
  const { store } = await makeShop();
  const spec = store.path;
  await store.close();
  let round = 0;
  for (const point of FAULT_POINTS) {
    for (const hit of HITS[point] ?? [1, 3]) {
      round += 1;
      const { acknowledged, signal, output } = await runUntilKilled(spec, round, { fault: `${point}:kill:${hit}` });
      expect({ point, hit, signal, output }).toEqual({ point, hit, signal: "SIGKILL", output: "" });
      await expectSound(spec, acknowledged);
    }
  }
}, 900_000);

test(`CRASH-2: killed at random moments, no acknowledged operation is lost and nothing leaks (seed ${SEED})`, async () => {
  const { store } = await makeShop();
  const spec = store.path;
  await store.close();
  for (let round = 1; round <= RANDOM_ROUNDS; round += 1) {
    const { acknowledged, output } = await runUntilKilled(spec, 1000 + round, { killAfterMs: 150 + ((SEED + round * 7919) % 900) });
    expect(output).toBe("");
    await expectSound(spec, acknowledged);
  }
}, 900_000);

test("CRASH-3: a temporary folder of a killed process is swept by the next one", async () => {
  const { store } = await makeShop();
  const spec = store.path;
  await store.close();
  await runUntilKilled(spec, 1, { fault: "materialise:written:kill" });
  expect(readdirSync(join(spec, "tmp")).length).toBeGreaterThan(0);
  await (await openStore(spec, { ownProcess: true })).close();
  expect(readdirSync(join(spec, "tmp"))).toEqual([]);
}, 120_000);

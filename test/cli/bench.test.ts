import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Comparison } from "#shared/bench-comparison.ts";
import { formatFigure } from "#shared/bench-figures.ts";
import { toJson } from "#shared/bench-report.ts";
import { medianOf } from "#shared/bench-statistics.ts";
import type { BenchRun, BenchRunHead, BenchSuiteView } from "#shared/bench-views.ts";
import { makeRun, makeSeries, makeSpread } from "../bench/samples.ts";
import { TEST_SUITES } from "../support/bench-suites.ts";
import { cli, cliError, cliResult } from "./run-cli.ts";

vi.mock("#bench/suites.ts", () => ({
  loadSuite: async (id: string) => TEST_SUITES.find((suite) => suite.id === id) ?? null,
  loadSuites: async () => TEST_SUITES,
}));

let folder = "";
const at = (...names: string[]) => join(folder, ...names);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "coppice-bench-cli-"));
  vi.stubEnv("COPPICE_STORE", "");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** The error's code and the exit code. */
async function refused(...args: string[]): Promise<string> {
  const { code, exit } = await cliError("bench", ...args);
  return `${code} ${exit}`;
}

function runEntry(...args: string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, [join(import.meta.dirname, "../../bench/run.ts"), ...args], { encoding: "utf8" });
}

test("BENCH-18: a suite is run and printed; reports are files of the same figures", async () => {
  const files = [at("r.md"), at("r.csv"), at("r.json")];
  const outs = files.flatMap((file) => ["--out", file]);
  const ran = await cli("bench", "cow", "--size", "quick", "--option", "parent=harness", "--folder", folder, ...outs);
  expect(ran.code).toBe(0);
  expect(ran.out).toMatch(/^Copy-on-write, size quick: done in /);
  expect(ran.out).toMatch(/^Group: one +10 +1\.00 ms +5\.00 ms +10\.0 ms +– +10\.0 ms +0$/m);
  expect(ran.out).toContain(`coppice bench cow --size quick --option parent=harness --folder ${folder}`);
  expect(ran.err).toContain("its figures are no claim");
  const run = JSON.parse(readFileSync(at("r.json"), "utf8")) as BenchRun;
  expect(run).toMatchObject({ state: "done", options: { parent: "harness" } });
  const csv = readFileSync(at("r.csv"), "utf8").trim().split("\r\n").slice(1);
  expect(csv).toHaveLength(20);
  const median = medianOf(csv.filter((line) => line.includes("one-ms")).map((line) => Number(line.split(",").at(-1))));
  expect(readFileSync(at("r.md"), "utf8")).toContain(`| Group: one | 10 | 1.00 ms | ${formatFigure(median, "ms")} |`);
  expect(readdirSync(folder).toSorted()).toEqual(["r.csv", "r.json", "r.md"]);
});

test("BENCH-18: everything that can be refused is refused before anything is measured", async () => {
  writeFileSync(at("there.md"), "mine");
  expect(await refused()).toBe("bad-argument 2");
  expect(await refused("rows")).toBe("bad-argument 2");
  expect(await refused("cow", "--size", "XL")).toBe("bad-argument 2");
  expect(await refused("cow", "--size", "L", "--folder", folder)).toBe("bad-argument 2");
  expect(await refused("cow", "--option", "parent")).toBe("bad-argument 2");
  expect(await refused("cow", "--option", "parent=none", "--folder", folder)).toBe("bad-argument 2");
  expect(await refused("cow", "--seed", "x")).toBe("bad-argument 2");
  expect(await refused("cow", "--out", at("x.html"))).toBe("bad-argument 2");
  expect(await refused("cow", "--out", at("there.md"), "--folder", folder)).toBe("file-exists 3");
  expect(await refused("cow", "--list")).toBe("bad-argument 2");
  expect(await refused("--list", "--out", at("x.md"))).toBe("bad-argument 2");
  expect(await refused("--compare", at("there.md"))).toBe("bad-argument 2");
  expect(await refused("--compare", at("there.md"), at("none.json"))).toBe("bad-argument 2");
  expect(await refused("--compare", at("none.json"), at("none.json"))).toBe("file-not-found 4");
  expect(await refused("cow", "--folder", at("none"))).toBe("file-not-found 4");
  expect(await refused("goals", "--folder", folder)).toBe("disk-full 1");
  expect(await refused("branchbench", "--folder", folder)).toBe("unsupported 1");
  expect(await refused("cow", "--folder", folder, "--store", at("none"))).toBe("store-not-found 4");
  expect(readdirSync(folder)).toEqual(["there.md"]);
  expect(readFileSync(at("there.md"), "utf8")).toBe("mine");
  expect((await cli("bench", "cow", "--folder", folder, "--out", at("there.md"), "--overwrite")).code).toBe(0);
  expect(readFileSync(at("there.md"), "utf8")).toContain("# Copy-on-write");
});

test("BENCH-18: --list says what there is to measure, and which runs the store keeps", async () => {
  await cliResult("init", at("store"));
  const store = ["--store", at("store")];
  const run = await cliResult<BenchRun>(...store, "bench", "cow");
  expect(run.command).toContain(`--folder ${at("store", "benchmarks")}`);
  expect(existsSync(at("store", "benchmarks", `${run.id}.json`))).toBe(true);
  const { suites, runs } = await cliResult<{ suites: BenchSuiteView[]; runs: BenchRunHead[] }>(...store, "bench", "--list");
  expect(suites.map(({ id }) => id)).toContain("density");
  expect(runs).toMatchObject([{ id: run.id, state: "done" }]);
  const { out } = await cli(...store, "bench", "--list");
  expect(out).toContain("What a test measures.");
  expect(out).toContain("peer | harness");
  expect(out).toMatch(new RegExp(`^${run.id} +cow +quick +done +(now|\\d+ s ago)$`, "m"));
});

test("BENCH-19: a signal stops the run; what it has is printed, reported and kept, and the exit code is 1", async () => {
  await cliResult("init", at("store"));
  const interrupt = setInterval(() => {
    // Only once a sandbox is there: before, there is nothing to stop.
    const sandbox = existsSync(at("store", "benchmarks")) && readdirSync(at("store", "benchmarks")).find((name) => name.startsWith("."));
    if (!sandbox || !existsSync(at("store", "benchmarks", sandbox, "step-endless"))) return;
    clearInterval(interrupt);
    setTimeout(() => process.emit("SIGINT"), 300);
  }, 20);
  const ran = await cli("--store", at("store"), "bench", "density", "--out", at("r.json"));
  expect(ran.code).toBe(1);
  expect(ran.out).toContain("Density, size quick: partial");
  expect(ran.err).toContain("the run was stopped");
  const run = JSON.parse(readFileSync(at("r.json"), "utf8")) as BenchRun;
  expect(run.state).toBe("partial");
  expect(run.series[0]?.samples.length).toBeGreaterThan(0);
  expect(readdirSync(at("store", "benchmarks"))).toEqual([`${run.id}.json`]);
});

test("BENCH-20: runs are compared, from files and from the store, the new one with them when a suite is run", async () => {
  writeFileSync(at("a.json"), toJson(makeRun({ series: [makeSeries("one-ms", makeSpread(10), { title: "one" })] })));
  writeFileSync(at("b.json"), toJson(makeRun({ id: "b", series: [makeSeries("one-ms", makeSpread(5), { title: "one" })] })));
  const ran = await cli("bench", "--compare", at("a.json"), at("b.json"), "--out", at("c.md"));
  expect(ran.code).toBe(0);
  expect(ran.out).toMatch(/^Fork: one +10\.4 ms \(n 50\) +5\.40 ms \(n 50\) +−5\.00 ms \(−48\.1 %\), 95 %: .* faster$/m);
  expect(readFileSync(at("c.md"), "utf8")).toContain("| faster |");
  const compared = await cliResult<Comparison>("bench", "--compare", at("a.json"), at("b.json"));
  expect(compared.rows[0]?.changes[0]).toMatchObject({ verdict: "better", difference: -5 });
  await cliResult("init", at("store"));
  const kept = await cliResult<BenchRun>("--store", at("store"), "bench", "cow");
  const both = await cli("--store", at("store"), "bench", "cow", "--compare", kept.id);
  expect(both.out).toMatch(/^Group: one +5\.00 ms \(n 10\) +5\.00 ms \(n 10\) +0 ms \(0 %\), 95 %: .* within noise$/m);
  expect((await cliError("--store", at("store"), "bench", "--compare", kept.id, "gone")).code).toBe("file-not-found");
});

test("BENCH-21: the entry of npm run bench is the command line's", () => {
  const { status, stdout, stderr } = runEntry("--json", "--list");
  expect([status, stderr]).toEqual([0, ""]);
  const { result } = JSON.parse(stdout) as { result: { suites: BenchSuiteView[] } };
  expect(result.suites.map(({ id }) => id)).toContain("goals");
  expect(runEntry("rows").status).toBe(2);
});

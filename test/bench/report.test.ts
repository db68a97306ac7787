import { expect, test } from "vitest";
import { compareRuns, comparisonToMarkdown } from "#shared/bench-comparison.ts";
import { caveatsOf, formatChange, formatDifference, formatFigure, judgeGoal, readCell } from "#shared/bench-figures.ts";
import { applyUpdate, percentDone } from "#shared/bench-live.ts";
import { parseBenchRun } from "#shared/bench-run-schema.ts";
import { escapeMarkdown, reportName, toCsv, toJson, toMarkdown } from "#shared/bench-report.ts";
import { medianOf } from "#shared/bench-statistics.ts";
import type { BenchReference, BenchRun } from "#shared/bench-views.ts";
import { makeRun, makeSeries, makeSpread } from "./samples.ts";

const reference: BenchReference = {
  id: "peer/fork",
  value: 8.8,
  unit: "ms",
  statistic: "median",
  label: "Fork of 100 MB",
  source: "A published page",
  date: "2026-09-30",
  hardware: "Another machine",
  note: null,
};

test.each([
  [0.000_12, "ms", "0.120 µs"],
  [0.012_34, "ms", "12.3 µs"],
  [0.9996, "ms", "1.00 ms"],
  [1.2, "ms", "1.20 ms"],
  [999.6, "ms", "1.00 s"],
  [59_970, "ms", "1.00 min"],
  [0, "ms", "0 ms"],
  [377, "bytes", "377 B"],
  [376.94, "bytes", "377 B"],
  [6_089, "bytes", "5.95 KiB"],
  [1_018 * 1024, "bytes", "1,018 KiB"],
  [1_023.7 * 1024, "bytes", "1.00 MiB"],
  [43 * 1024 ** 3, "bytes", "43.0 GiB"],
  [12_345.6, "per-second", "12,300 /s"],
  [1.234, "ratio", "1.23 ×"],
  [1_234_567, "count", "1,234,567"],
  [0.5, "count", "0.500"],
] as const)("BENCH-2: %d %s is written %s", (value, unit, text) => {
  expect(formatFigure(value, unit)).toBe(text);
});

test("BENCH-2: what is not there is a dash, differences have a sign", () => {
  expect([null, Number.NaN, Infinity].map((value) => formatFigure(value, "ms"))).toEqual(["–", "–", "–"]);
  expect(formatDifference(-1.5, "ms")).toBe("−1.50 ms");
  expect(formatDifference(1.5, "ms")).toBe("+1.50 ms");
  expect([formatChange(10, 11.23), formatChange(10, 5), formatChange(0, 5), formatChange(0, 0)]).toEqual([
    "+12.3 %",
    "−50.0 %",
    "–",
    "0 %",
  ]);
});

/** RFC 4180, read by the letter. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[""]];
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const row = rows.at(-1) ?? [];
    const last = row.length - 1;
    const character = text[at] ?? "";
    if (quoted && character === '"' && text[at + 1] === '"') {
      row[last] += '"';
      at += 1;
    } else if (character === '"') quoted = !quoted;
    else if (!quoted && character === ",") row.push("");
    else if (!quoted && character === "\r" && text[at + 1] === "\n") {
      rows.push([""]);
      at += 1;
    } else row[last] += character;
  }
  expect(quoted).toBe(false);
  return rows.slice(0, -1);
}

test("BENCH-5: the CSV has one line a sample, exact and in order, and its median is the one of the Markdown", () => {
  const samples = [0.1 + 0.2, 5, 1e-7, 4.123_456_789_012_3];
  const run = makeRun({ series: [makeSeries("fork", samples, { title: 'at "head",\r\nquiet' }), makeSeries("empty", [])] });
  const [header, ...lines] = readCsv(toCsv(run));
  expect(header).toEqual(["run", "suite", "size", "seed", "step", "series", "title", "unit", "sample", "value"]);
  expect(lines.map((line) => Number(line[9]))).toEqual(samples);
  expect(lines.map((line) => line[8])).toEqual(["1", "2", "3", "4"]);
  expect(lines[0]).toEqual([run.id, "cow", "S", "1", "one", "fork", 'Fork: at "head",\r\nquiet', "ms", "1", String(0.1 + 0.2)]);
  const median = formatFigure(medianOf(lines.map((line) => Number(line[9]))), "ms");
  expect(toMarkdown(run, [])).toContain(`| ${median} |`);
});

test("BENCH-6: the Markdown has the tables, every series, reasons, published figures, the machine and the command", () => {
  const run = makeRun({
    series: [
      makeSeries("append", [1, 1, 1], { title: "limit" }),
      makeSeries("fork", [3, 1, 2], { limit: "append", goal: { of: "ratio", most: 1.5 }, references: ["peer/fork"] }),
      makeSeries("slow", [5], { goal: { of: "median", most: 10 }, errors: 2, timeouts: 1, error: "no | room" }),
      makeSeries("reflink", [], { skipped: "no reflinks on ext4" }),
    ],
    facts: [{ step: "one", label: "depth", value: 25, unit: "count" }],
    tables: [
      {
        title: "Fork",
        columns: ["row", "median", "ratio", "p99", "published", "depth", "reflink"],
        rows: [
          {
            label: "head",
            cells: [
              { series: "fork", statistic: "median" },
              { ratioOf: "fork", to: "append" },
              { series: "fork", statistic: "p99" },
              { reference: "peer/fork" },
              { fact: "depth", step: "one" },
              { series: "reflink", statistic: "median" },
            ],
          },
        ],
        note: "Medians.",
      },
    ],
  });
  const text = toMarkdown(run, [reference, { ...reference, id: "peer/other", label: "Not named" }]);
  expect(text).toContain("| head | 2.00 ms | 2.00 × | max 3.00 ms | 8.80 ms (published) | 25 | skipped |");
  expect(text).toContain("| Fork: fork | 3 | 1.00 ms | 2.00 ms | 3.00 ms | – | 3.00 ms | 0 | 2.00 × (≤ 1.50 ×): missed |");
  expect(text).toContain("2 + 1 timed out | 5.00 ms (≤ 10.0 ms): met |");
  expect(text).toContain(String.raw`2 errors, 1 timeouts; first: no \| room`);
  expect(text).toContain("skipped: no reflinks on ext4");
  expect(text).toContain("| Fork of 100 MB | 8.80 ms (median) | A published page | 2026-09-30 | Another machine |  |");
  expect(text).not.toContain("Not named");
  expect(text).not.toContain("\n\n\n");
  expect(text).toContain("A processor, 4 cores");
  expect(text).toContain("```sh\ncoppice bench cow --size S --folder /tmp\n```");
  expect(text).toContain("> 1 series met errors or timeouts.");
});

test("BENCH-6: text from elsewhere stays text", () => {
  expect(escapeMarkdown("a|b\n<b>*x*`y` [z]")).toBe(String.raw`a\|b \<b\>\*x\*\`y\` \[z\]`);
  const text = toMarkdown(makeRun({ command: "echo '```'\nrm" }), []);
  expect(text).toContain("````sh\necho '```'\nrm\n````");
});

test("BENCH-6: caveats are said: quick, stopped, errors, no addon, memory as a disk, a busy machine", () => {
  expect(caveatsOf(makeRun())).toEqual([]);
  const { machine } = makeRun();
  const bad = makeRun({ size: "quick", state: "partial", machine: { ...machine, addon: "missing", filesystem: "tmpfs", load: 3.2 } });
  expect(caveatsOf(bad).map((caveat) => caveat.split(" ").slice(0, 3).join(" "))).toEqual([
    "Size quick proves",
    "The run was",
    "The native addon",
    "tmpfs is memory:",
    "The machine was",
  ]);
  expect(caveatsOf(makeRun({ failure: "It could not be kept in /x" }))).toEqual(["It could not be kept in /x"]);
  expect(toMarkdown(bad, [])).toContain("> The run was stopped");
});

test("BENCH-6: a cell whose ids lead nowhere is a dash", () => {
  const run = makeRun();
  for (const cell of [
    { series: "none", statistic: "median" } as const,
    { ratioOf: "none", to: "fork" },
    { fact: "none", step: "one" },
    { reference: "none" },
  ])
    expect(readCell(cell, run, [])).toMatchObject({ text: "–", value: null });
  expect(judgeGoal(makeSeries("x", [], { goal: { of: "median", most: 1 } }), run)).toBeNull();
});

test("BENCH-7: runs are compared by series, the first is the base, and what makes it unfair is said", () => {
  const base = makeRun({ series: [makeSeries("fork", makeSpread(10)), makeSeries("gone", [1])] });
  const later = makeRun({
    id: "later",
    series: [makeSeries("fork", makeSpread(20)), makeSeries("new", [1])],
    mark: "Another",
    size: "quick",
  });
  const { rows, warnings } = compareRuns([base, later]);
  expect(rows.map(({ series, changes }) => [series.id, changes[0]?.verdict ?? null])).toEqual([
    ["fork", "worse"],
    ["gone", null],
    ["new", null],
  ]);
  expect(rows[1]?.runs).toEqual([{ n: 1, median: 1 }, null]);
  expect(warnings).toHaveLength(3);
  expect(compareRuns([base, { ...base, id: "again" }]).warnings).toEqual([]);
  const text = comparisonToMarkdown([base, later]);
  expect(text).toContain("| slower |");
  expect(text).toContain("+10.0 ms (+96.2 %)");
  expect(text).toContain("> Machine, filesystem or program differ");
});

test("BENCH-14: JSON is read back as it was; anything else is no run", () => {
  const run = makeRun({
    series: [makeSeries("fork", [1, 2], { goal: { of: "median", most: 2 } })],
    facts: [{ step: "one", label: "depth", value: "deep", unit: "text" }],
  });
  expect(parseBenchRun(JSON.parse(toJson(run)))).toEqual(run);
  const changes: Record<string, unknown>[] = [
    { id: "../../etc/passwd" },
    { suite: "other" },
    { series: [{ ...makeSeries("a", []), samples: ["1"] }] },
    { machine: null },
    { tables: [{ title: "x", columns: [], rows: [{ label: "", cells: [{ html: "<b>" }] }], note: null }] },
  ];
  for (const change of changes) expect(parseBenchRun({ ...run, ...change })).toBeNull();
  for (const value of [null, 5, [], "run"]) expect(parseBenchRun(value)).toBeNull();
  expect(reportName(run)).toBe("coppice-cow-S-20261130T120000Z");
});

test("BENCH-13: updates put together are the run, also when one comes twice", () => {
  const start: BenchRun = makeRun({ state: "running", series: [makeSeries("a", [], { planned: 4 }), makeSeries("b", [], { planned: 4 })] });
  const news = (from: number, samples: number[]) => ({
    run: start.id,
    state: "running" as const,
    progress: { ...start.progress, phase: "Forking", done: from },
    series: [{ id: "a", errors: 1, timeouts: 0, error: "e", skipped: null, from, samples }],
  });
  const first = applyUpdate(start, news(0, [1, 2]));
  const second = applyUpdate(applyUpdate(first, news(0, [1, 2])), news(2, [3]));
  expect(second.series.map(({ samples }) => samples)).toEqual([[1, 2, 3], []]);
  expect(second.series[0]).toMatchObject({ errors: 1, error: "e" });
  expect(second.progress.phase).toBe("Forking");
  expect(applyUpdate(start, news(2, [3])).series[0]?.samples).toEqual([]);
  expect(start.series[0]?.samples).toEqual([]);
  expect([percentDone(start), percentDone(first), percentDone({ ...first, state: "done" })]).toEqual([0, 25, 100]);
});

import { expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import { formatFigure } from "#shared/bench-figures.ts";
import { toCsv } from "#shared/bench-report.ts";
import { summarise } from "#shared/bench-statistics.ts";
import type { BenchRun } from "#shared/bench-views.ts";
import type { ScreenName } from "../../../src-renderer/app-state.ts";
import {
  SAMPLE_ANSWER,
  benchHandlers,
  benchRun,
  benchSeries,
  drawSamples,
  headOf,
  runningRun,
  sampleSeries,
  updateOf,
} from "../support/bench-samples.ts";
// Loaded before the first test, which would wait for the charts otherwise.
import "../../../src-renderer/benchmarks/benchmarks-screen.tsx";
import { FakeFailure, type FakeApi, type FakeHandlers } from "../support/fake-api.ts";
import { renderApp } from "../support/render-app.tsx";

const HOUR = 3_600_000;
/** The machine may be busy with other things. */
const WAIT = { timeout: 15_000 };

/** The screen over a host with these runs, which handlers may change. */
function showScreen(runs: BenchRun[], handlers: FakeHandlers = {}, screen: ScreenName = "benchmarks", bench: object = {}): FakeApi {
  const layout = JSON.stringify({ screen, database: "shop", bench: { suite: "cow", size: "S", ...bench } });
  return renderApp(screen, { ...benchHandlers(() => runs), "app.settings": () => ({ theme: "light", layout }), ...handlers });
}

const region = (name: string) => page.getByRole("region", { name, exact: true });
const panel = () => region("Measurement");
const stat = (label: string) => panel().getByText(label, { exact: true }).element().nextElementSibling?.textContent;

const runButton = () => page.getByRole("button", { name: /^Run ?Ctrl/ });

/** Ticks every run of the list. */
async function tickAll(count: number): Promise<void> {
  const boxes = page.getByRole("checkbox");
  await expect.poll(() => boxes.elements().length, WAIT).toBe(count);
  for (const box of boxes.elements()) await userEvent.click(box);
}

const p50Of = (run: BenchRun, id: string): string => {
  const samples = run.series.find((series) => series.id === id)?.samples ?? [];
  return formatFigure(summarise(samples)?.p50 ?? null, "ms").replace(" ", "");
};

const limit = (id: string, step: string) => benchSeries(id, { step, group: "Limit", title: "append", samples: [1, 2, 3] });

test("BENCHSCREEN-12: series that are called the same say which step they are of", async () => {
  showScreen([
    benchRun("r", { series: [limit("a", "fork"), limit("b", "checkpoint"), benchSeries("c", { title: "fork", samples: [1] })] }),
  ]);
  const table = page.getByRole("table", { name: "Measures" });
  await expect.element(table.getByRole("button", { name: /append.*Fork/ })).toBeVisible();
  await expect.element(table.getByRole("button", { name: /append.*Checkpoint/ })).toBeVisible();
  await expect.element(table.getByRole("button", { name: "fork", exact: true })).toBeVisible();
});

test("BENCHSCREEN-13: a suite without runs is one sentence and one button, which starts it", async () => {
  const runs: BenchRun[] = [];
  const started = runningRun("r1", 0);
  const api = showScreen(runs, {
    "bench.start": () => {
      runs.unshift(started);
      return headOf(started);
    },
  });
  await expect.element(page.getByText(/Copy-on-write has not been measured here yet/)).toBeVisible();
  await page.getByRole("button", { name: "Run Copy-on-write" }).click();
  await expect.element(panel().getByText("Running")).toBeVisible();
  expect(api.inputsOf("bench.start")).toEqual([{ suite: "cow", size: "S" }]);
});

test("BENCHSCREEN-1: Run starts what is chosen: suite, size, options and folder", async () => {
  const started = runningRun("r9", 0, { suite: "branchbench", title: "BranchBench" });
  const runs: BenchRun[] = [benchRun("r1")];
  const api = showScreen(runs, {
    "app.chooseFolder": () => "/mnt/fast",
    "bench.start": () => {
      runs.unshift(started);
      return headOf(started);
    },
  });
  await page.getByRole("button", { name: "Suite: Copy-on-write" }).click();
  await page.getByRole("menuitemcheckbox", { name: "BranchBench" }).click();
  await page.getByRole("radio", { name: "L", exact: true }).click();
  await page.getByRole("button", { name: "Options" }).click();
  await page.getByLabelText("Parent rule").selectOptions("harness");
  await userEvent.keyboard("{Escape}");
  await page.getByRole("button", { name: /Where to measure/ }).click();
  await page.getByRole("menuitem", { name: "Another folder…" }).click();
  await expect.element(page.getByRole("button", { name: "Where to measure: fast" })).toBeVisible();
  await runButton().click();
  await expect.element(panel().getByText("Running")).toBeVisible();
  expect(api.inputsOf("bench.start")).toEqual([
    { suite: "branchbench", size: "L", options: { parent: "harness", concurrency: "8" }, folder: "/mnt/fast" },
  ]);
});

test("BENCHSCREEN-1: a refused start says why and offers Retry", async () => {
  let busy = true;
  const runs: BenchRun[] = [benchRun("r1")];
  showScreen(runs, {
    "bench.start": () => {
      if (busy) throw new FakeFailure("store-busy", "A benchmark is running already", { untouched: "Nothing was measured." });
      const started = runningRun("r2", 3);
      runs.unshift(started);
      return headOf(started);
    },
  });
  await expect.element(panel()).toBeVisible();
  await runButton().click();
  await expect.element(page.getByRole("alert")).toMatchTextContent(/running already/);
  busy = false;
  await page.getByRole("alert").getByRole("button", { name: "Retry" }).click();
  await expect.element(panel().getByText("Running")).toBeVisible();
});

test("BENCHSCREEN-2: figures are those of all samples so far, and follow as they come", async () => {
  const all = sampleSeries(2).find((series) => series.id === "fork-head")?.samples ?? [];
  const api = showScreen([runningRun("r", 150)]);
  await expect.poll(() => stat("p50"), WAIT).toBe(p50Of(runningRun("r", 150), "fork-head"));
  await expect.element(panel().getByText("50 to go")).toBeVisible();
  api.emit({ type: "bench", update: updateOf(runningRun("r", 190), "fork-head", 150, all.slice(150, 190)) });
  await expect.element(panel().getByText("10 to go")).toBeVisible();
  expect(stat("p50")).toBe(p50Of(runningRun("r", 190), "fork-head"));
  await expect.element(panel().getByText(/sample 190 of 200/)).toBeVisible();
});

test("BENCHSCREEN-4: p99 is shown from 100 samples on; errors and timeouts are counted beside", async () => {
  const api = showScreen([runningRun("r", 99)]);
  await expect.poll(() => stat("p95"), WAIT).not.toBe("–");
  expect(stat("p99")).toBe("–");
  api.emit({
    type: "bench",
    update: {
      ...updateOf(runningRun("r", 100), "fork-head", 99, [0.5]),
      series: [{ id: "fork-head", from: 99, samples: [0.5], errors: 2, timeouts: 1, error: "disk full", skipped: null }],
    },
  });
  await expect.poll(() => stat("Errors"), WAIT).toBe("2");
  expect(stat("Timeouts")).toBe("1");
  expect(stat("p99")).not.toBe("–");
  await expect.element(page.getByRole("table", { name: "Measures" }).getByTitle("disk full")).toMatchTextContent(/3/);
});

test("BENCHSCREEN-3: a picked series stays in the charts until the user follows again; arrows step through the list", async () => {
  showScreen([runningRun("r", 20)]);
  await expect.element(panel().getByRole("heading", { name: "Fork: at the head, 100 MB" })).toBeVisible();
  await page.getByRole("button", { name: "append 300 B and fdatasync" }).click();
  await expect.element(panel().getByRole("heading", { name: /append 300 B/ })).toBeVisible();
  await userEvent.keyboard("{ArrowDown}{ArrowDown}");
  await expect.element(panel().getByRole("heading", { name: /at a checkpoint/ })).toBeVisible();
  await expect.element(page.getByRole("button", { name: "at a checkpoint, 100 MB" })).toHaveFocus();
  await expect.element(panel().getByText("Still to come in this step.")).toBeVisible();
  await page.getByRole("button", { name: "Follow what is measured" }).click();
  await expect.element(panel().getByRole("heading", { name: /at the head/ })).toBeVisible();
});

test("BENCHSCREEN-1: Stop keeps what was measured, as a run that is called partial", async () => {
  const runs: BenchRun[] = [runningRun("r", 60)];
  const api = showScreen(runs, { "bench.stop": () => null });
  await page.getByRole("button", { name: "Stop and keep partial" }).click();
  expect(api.inputsOf("bench.stop")).toEqual([{ run: "r" }]);
  api.emit({ type: "bench", update: updateOf(runningRun("r", 60), "fork-head", 60, [], "stopping") });
  await expect.element(page.getByRole("button", { name: "Stopping…" })).toBeDisabled();
  runs[0] = runningRun("r", 60, { state: "partial", endedAt: Date.now() });
  api.emit({ type: "bench", update: updateOf(runningRun("r", 60), "fork-head", 60, [], "partial") });
  await expect.element(panel().getByText("Stopped: what was measured is kept")).toBeVisible();
  await expect.element(panel().getByText("140 not taken")).toBeVisible();
  await expect.element(page.getByRole("complementary").getByText("Partial")).toBeVisible();
});

test("BENCHSCREEN-1: while a run of another suite is on the screen, the one that runs can be stopped from the toolbar", async () => {
  const api = showScreen([runningRun("r2", 5), benchRun("r1", { suite: "isolation", title: "Isolation" })], { "bench.stop": () => null });
  await expect.element(panel().getByText("Running")).toBeVisible();
  await page
    .getByRole("complementary")
    .getByRole("button", { name: /Isolation/ })
    .click();
  await expect.element(panel().getByText("Done")).toBeVisible();
  await page.getByRole("button", { name: "Stop Copy-on-write" }).click();
  expect(api.inputsOf("bench.stop")).toEqual([{ run: "r2" }]);
});

test("BENCHSCREEN-8: ticked runs are compared with the oldest: medians, delta, interval and verdict", async () => {
  const old = benchRun("old", {
    startedAt: Date.now() - 5 * HOUR,
    series: [benchSeries("fork", { title: "fork", samples: drawSamples(1, 200, 1) })],
  });
  const now = benchRun("now", {
    startedAt: Date.now() - 4 * HOUR,
    series: [benchSeries("fork", { title: "fork", samples: drawSamples(2, 200, 0.6) })],
  });
  showScreen([now, old]);
  await tickAll(2);
  const row = region("Comparison").getByRole("row", { name: /^fork/ });
  await expect.element(row).toMatchTextContent(/Faster/);
  await expect.element(row).toMatchTextContent(/200/);
  const medians = [old, now].map((run) => formatFigure(summarise(run.series[0]?.samples ?? [])?.p50 ?? null, "ms"));
  // The older one is the base, whichever was ticked first.
  expect(row.element().textContent).toContain(medians.join(""));
  await expect.element(row).toMatchTextContent(/−\d+\.\d %.*−\d+\.\d … −\d+\.\d %/);
  await expect.element(page.getByText("2 compared")).toBeVisible();
  await page.getByRole("button", { name: "End comparison" }).click();
  await expect.element(region("Comparison")).not.toBeInTheDocument();
});

test("BENCHSCREEN-8: alike runs are within noise, and other machines are warned of", async () => {
  const same = [benchSeries("fork", { title: "fork", samples: drawSamples(1, 100, 1) })];
  const runs = [
    benchRun("c", {
      startedAt: Date.now() - HOUR,
      series: [benchSeries("fork", { title: "fork", samples: drawSamples(3, 100, 1) })],
      mark: "xfs",
    }),
    benchRun("b", { startedAt: Date.now() - 2 * HOUR, series: same }),
    benchRun("a", { startedAt: Date.now() - 3 * HOUR, series: same }),
  ];
  showScreen(runs);
  await tickAll(3);
  const comparison = region("Comparison");
  await expect.element(comparison.getByRole("heading", { name: /2 runs against/ })).toBeVisible();
  await expect.element(comparison.getByText("Within noise").first()).toBeVisible();
  await expect.element(comparison.getByText(/Machine, filesystem or program differ/)).toBeVisible();
});

test("BENCHSCREEN-9: what others published is dashed, says that it is of another machine, and is no figure of ours", async () => {
  showScreen([benchRun("r")]);
  const figure = panel().getByRole("img", { name: /Distribution of at the head/ });
  await expect
    .element(figure)
    .toHaveAttribute("aria-label", expect.stringMatching(/43\.6 ms, offshoot 0\.2\.12: fork at the head\..*a different machine/));
  await expect.poll(() => figure.element().querySelectorAll("[data-reference] [stroke-dasharray]").length, WAIT).toBe(2);
  const table = page.getByRole("table", { name: "Forks" });
  await expect.element(table.getByRole("columnheader", { name: /offshoot 0\.2\.12 different machine/ })).toBeVisible();
  await expect.element(table.getByRole("row", { name: /at the head/ })).toMatchTextContent(/43\.6 ms/);
  // The histogram's largest value is a sample of this machine.
  expect(stat("max")).not.toContain("43.6");
});

test("BENCHSCREEN-10: what was skipped says why, in the list and in the tables", async () => {
  showScreen([benchRun("r")]);
  await expect.element(page.getByRole("table", { name: "Measures" }).getByText("Skipped: ext4 has no reflinks")).toBeVisible();
  await expect.element(page.getByRole("table", { name: "Forks" }).getByText("Skipped: ext4 has no reflinks")).toBeVisible();
  await page.getByRole("button", { name: "by reflink" }).click();
  await expect.element(panel().getByText("Skipped: ext4 has no reflinks")).toBeVisible();
});

test("BENCHSCREEN-11: a failed run says what failed and what is untouched; Retry takes it again as it was", async () => {
  const failed = benchRun("r", {
    suite: "branchbench",
    title: "BranchBench",
    state: "failed",
    size: "L",
    failure: "no space left",
    options: { parent: "harness" },
  });
  const api = showScreen([failed], { "bench.start": () => headOf(runningRun("r2", 0, { suite: "branchbench" })) }, "benchmarks", {
    suite: "branchbench",
  });
  const alert = page.getByRole("alert");
  await expect.element(alert).toMatchTextContent(/did not finish: no space left.*databases are unchanged.*kept below/);
  await expect.element(alert.getByRole("button", { name: "Copy details" })).toBeVisible();
  await alert.getByRole("button", { name: "Retry" }).click();
  await expect.poll(() => api.inputsOf("bench.start"), WAIT).toEqual([{ suite: "branchbench", size: "L", options: { parent: "harness" } }]);
});

test("BENCHSCREEN-11: suites, the list and a run that cannot be read say why, each on its own, and can be read again", async () => {
  const broken = new Set(["suites", "list", "run"]);
  const guard = <T,>(part: string, answer: T): T => {
    if (broken.has(part))
      throw new FakeFailure("io-failed", `The ${part} could not be read`, { untouched: "Nothing was changed.", retryable: true });
    return answer;
  };
  showScreen([], {
    "bench.suites": () => guard("suites", SAMPLE_ANSWER),
    "bench.runs": () => guard("list", [headOf(benchRun("r"))]),
    "bench.run": () => guard("run", benchRun("r")),
  });
  for (const part of ["suites", "list", "run"]) {
    await expect.element(page.getByRole("alert")).toMatchTextContent(new RegExp(`The ${part} could not be read.*Nothing was changed`));
    broken.delete(part);
    await page.getByRole("alert").getByRole("button", { name: "Retry" }).click();
  }
  await expect.element(panel()).toBeVisible();
  await expect.element(page.getByRole("alert")).not.toBeInTheDocument();
});

test("BENCHSCREEN-14: a deleted run leaves the list and the comparison", async () => {
  const runs = [benchRun("r2", { startedAt: Date.now() - HOUR }), benchRun("r1", { startedAt: Date.now() - 3 * HOUR })];
  const api = showScreen(runs, {
    "bench.remove": ({ run }) => {
      runs.splice(
        runs.findIndex((each) => each.id === run),
        1,
      );
      return null;
    },
  });
  await tickAll(2);
  await expect.element(region("Comparison")).toBeVisible();
  const button = page.getByRole("button", { name: /Delete the run of/ }).first();
  button.element().focus();
  await userEvent.keyboard("{Enter}");
  await expect.element(region("Comparison")).not.toBeInTheDocument();
  expect(api.inputsOf("bench.remove")).toEqual([{ run: "r2" }]);
  expect(page.getByRole("checkbox").elements()).toHaveLength(1);
});

test("BENCHSCREEN-15: suite, size and picked series are saved with the layout", async () => {
  const api = showScreen([benchRun("r")]);
  await page.getByRole("radio", { name: "L", exact: true }).click();
  await page.getByRole("button", { name: "after a fork, warm" }).click();
  const saved = () => {
    const layout = api.inputsOf("app.saveSettings").at(-1)?.layout;
    return layout === undefined ? null : (JSON.parse(layout) as { screen: string; bench: unknown });
  };
  await expect.poll(saved, WAIT).toMatchObject({ screen: "benchmarks", bench: { suite: "cow", size: "L", series: "checkout" } });
});

interface Saved {
  readonly name: string;
  readonly content: Blob;
}

/** What would be downloaded: caught at the link, read from the page's memory. */
function catchFiles(): Saved[] {
  const saved: Saved[] = [];
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function click(this: HTMLAnchorElement) {
    const { download: name, href } = this;
    void fetch(href).then(async (answer) => saved.push({ name, content: await answer.blob() }));
  });
  return saved;
}

async function exportAs(label: string | RegExp): Promise<void> {
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: label, exact: true }).click();
}

test("BENCHSCREEN-16: CSV, Markdown and JSON hold the run that is shown, with the screen's figures", async () => {
  const run = benchRun("20261130T235932Z-cow");
  const saved = catchFiles();
  showScreen([run]);
  await expect.element(panel()).toBeVisible();
  for (const label of ["All samples as CSV", "Report as Markdown", "Run as JSON"]) await exportAs(label);
  await expect
    .poll(() => saved.map((file) => file.name).toSorted())
    .toEqual(["csv", "json", "md"].map((end) => `coppice-cow-M-20261130T235932Z.${end}`));
  const textOf = async (end: string) => await saved.find((file) => file.name.endsWith(end))?.content.text();
  expect(await textOf(".csv")).toBe(toCsv(run));
  expect(JSON.parse((await textOf(".json")) ?? "")).toEqual(run);
  const shown = stat("p50")?.replace(/(?<=\d)(?=[µm])/, " ") ?? "";
  expect(shown).toMatch(/^\d+ µs$/);
  expect(await textOf(".md")).toContain(`| ${shown} |`);
});

test("BENCHSCREEN-16: the chart is a picture of 2,200 pixels' width in the colours of either theme", async () => {
  const saved = catchFiles();
  showScreen([benchRun("r")]);
  await expect.element(panel()).toBeVisible();
  for (const theme of ["light", "dark"]) await exportAs(`Chart as PNG, ${theme}`);
  await expect.poll(() => saved.length, WAIT).toBe(2);
  for (const { name, content } of saved) {
    expect(name).toMatch(/fork-head-(light|dark)\.png$/);
    const picture = await createImageBitmap(content);
    expect(picture.width).toBe(2_200);
    expect(picture.height).toBeGreaterThan(600);
  }
});

test("BENCHSCREEN-17: the palette's commands lead to the screen, run what is chosen, and stop it", async () => {
  const runs: BenchRun[] = [benchRun("r1")];
  const started = runningRun("r2", 3);
  const api = showScreen(
    runs,
    {
      "bench.start": () => {
        runs.unshift(started);
        return headOf(started);
      },
      "bench.stop": () => null,
    },
    "branches",
  );
  await expect.element(page.getByRole("treegrid")).toBeVisible();
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  await expect.element(panel()).toBeVisible();
  expect(api.inputsOf("bench.start")).toEqual([]);
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  await expect.element(panel().getByText("Running")).toBeVisible();
  expect(api.inputsOf("bench.start")).toEqual([{ suite: "cow", size: "S" }]);
  await userEvent.keyboard("{Control>}k{/Control}");
  await page.getByRole("option", { name: /Stop benchmark and keep partial/ }).click();
  await expect.poll(() => api.inputsOf("bench.stop"), WAIT).toEqual([{ run: "r2" }]);
});

test("BENCHSCREEN-12: runs stand newest first, with their size; the machine is that of the run that is shown", async () => {
  const run = benchRun("r2", { startedAt: Date.now() - HOUR });
  const older = benchRun("r1", {
    startedAt: Date.now() - 30 * HOUR,
    size: "L",
    machine: { ...run.machine, processor: "Apple M5", addon: "missing" },
  });
  showScreen([run, older, benchRun("b", { suite: "branchbench" })]);
  const list = region("Runs");
  await expect.poll(() => list.getByRole("listitem").elements().length, WAIT).toBe(2);
  await expect.element(list.getByRole("button", { name: /^Run of .*, M$/ })).toHaveAttribute("aria-pressed", "true");
  await expect.element(region("Machine of this run")).toMatchTextContent(/AMD EPYC, 2 cores.*ext4, no reflink/);
  await list.getByRole("button", { name: /^Run of .*, L$/ }).click();
  await expect.element(region("Machine of this run")).toMatchTextContent(/Apple M5.*without the addon/);
});

test("BENCHSCREEN-14: the run that is under way cannot be deleted", async () => {
  showScreen([runningRun("r2", 3), benchRun("r1")]);
  await expect.element(panel()).toBeVisible();
  expect(page.getByRole("button", { name: /Delete the run of/ }).elements()).toHaveLength(1);
});

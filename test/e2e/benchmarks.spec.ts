import { readFileSync } from "node:fs";
import { expect, test } from "./fixtures.ts";
import { openShop } from "./steps.ts";
import type { Locator, Page } from "@playwright/test";

const FIGURE = /^\d[\d.,]*(?:µs|ms|s)$/;

const panel = (page: Page): Locator => page.getByRole("region", { name: "Measurement" });

/** The large figure below a label, without the gap before its unit. */
async function readStat(page: Page, label: string): Promise<string> {
  return await panel(page)
    .locator("dl > div")
    .filter({ has: page.getByText(label, { exact: true }) })
    .locator("dd")
    .innerText();
}

/** "3.74 ms" or "3.74ms" → 3.74, in milliseconds. */
function toMs(text: string): number {
  const [, figure = "", unit = ""] = /^([\d.,]+)\s*(µs|ms|s)$/.exec(text.trim()) ?? [];
  return Number(figure.replaceAll(",", "")) * ({ µs: 0.001, ms: 1, s: 1_000 }[unit] ?? Number.NaN);
}

/** RFC 4180. */
function parseCsv(text: string): string[][] {
  return text
    .trimEnd()
    .split("\r\n")
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? ""),
    );
}

async function runQuick(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Run ?(Ctrl|⌘)/ }).click();
  const stop = page.getByRole("button", { name: "Stop and keep partial" });
  await expect(stop).toBeVisible();
  // Live: percentiles stand there while the run goes on.
  await expect
    .poll(async () => (await stop.isVisible()) && FIGURE.test((await readStat(page, "p50")).replace(/\s/, "")), { intervals: [100] })
    .toBe(true);
  await expect(panel(page).getByText("Done", { exact: true })).toBeVisible({ timeout: 120_000 });
}

async function download(page: Page, item: string): Promise<{ readonly name: string; readonly bytes: Buffer }> {
  const coming = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
  const file = await coming;
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

test("JOURNEY-11: a benchmark runs by a press, runs again, is compared and exported; every figure is the same", async ({
  startApp,
  folder,
}) => {
  test.setTimeout(360_000);
  const { page } = await openShop(folder, startApp);
  await page.keyboard.press("ControlOrMeta+6");
  await expect(page.getByRole("heading", { name: "Benchmarks" })).toBeVisible();
  await page
    .getByRole("complementary", { name: "Suites and runs" })
    .getByRole("button", { name: /^Copy-on-write/ })
    .click();
  await runQuick(page);
  await runQuick(page);

  const boxes = page.getByRole("checkbox", { name: /^Compare the run of/ });
  await expect(boxes).toHaveCount(2);
  for (const box of await boxes.all()) await box.check();
  // The first of the list, in every file and table: titles are not unique, ids are.
  const series = page.getByRole("table", { name: "Measures" }).locator("[data-series]").first();
  const title = await series.locator("span").first().innerText();
  const id = await series.getAttribute("data-series");
  const compared = page.getByRole("table", { name: "Comparison" }).getByRole("row").filter({ hasText: title }).first();
  await expect(compared).toContainText(/Faster|Slower|Within noise|Too few samples/);

  await series.click();
  await expect(panel(page).getByRole("heading", { name: title })).toBeVisible();
  const shown = await readStat(page, "p50");
  const csv = await download(page, "All samples as CSV");
  const [heads = [], ...lines] = parseCsv(csv.bytes.toString());
  const at = (name: string) => heads.indexOf(name);
  const samples = lines.filter((line) => line[at("series")] === id).map((line) => Number(line[at("value")]));
  const median = samples.toSorted((a, b) => a - b)[Math.ceil(samples.length / 2) - 1] ?? Number.NaN;
  expect(samples.length).toBeGreaterThan(1);
  // Three significant digits on the screen.
  expect(Math.abs(toMs(shown) / median - 1)).toBeLessThan(0.005);

  const markdown = await download(page, "Report as Markdown");
  const row = markdown.bytes
    .toString()
    .split("\n")
    .find((line) => line.startsWith("| ") && line.includes(`: ${title} | ${samples.length} |`));
  const cells = row?.split("|").map((cell) => cell.trim()) ?? [];
  expect(cells[2]).toBe(String(samples.length));
  expect(cells[4]?.replace(" ", "")).toBe(shown.replace(/\s/g, ""));
  expect((await compared.innerText()).replace(/\s+/g, " ")).toContain(cells[4] ?? "none");

  const json = JSON.parse((await download(page, "Run as JSON")).bytes.toString()) as { series: { id: string; samples: number[] }[] };
  expect(json.series.find((each) => each.id === id)?.samples).toEqual(samples);
  const png = await download(page, "Chart as PNG, dark");
  expect(png.name).toMatch(/-dark\.png$/);
  expect(png.bytes.subarray(1, 4).toString()).toBe("PNG");
  expect(png.bytes.readUInt32BE(16)).toBe(2_200);
});

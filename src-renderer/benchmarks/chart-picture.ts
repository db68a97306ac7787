/**
 * The measurement as a picture: drawn on a canvas from the same plans as the screen's charts, with the colours of either
 * theme, at twice the size. Nothing is loaded, so the page's content security policy has no say in it.
 */
import type { BenchReference, BenchRun, BenchSeries, BenchSuiteView } from "#shared/bench-views.ts";
import { formatFigure } from "#shared/bench-figures.ts";
import { summarise, throughputOf } from "#shared/bench-statistics.ts";
import { formatCount, formatIso } from "../ui/format.ts";
import { endLine, machineLines, seriesName, stateWord } from "./bench-words.ts";
import { planHistogram, planStrip, stripX, xOn, yOn, type HistogramPlan, type MarkPlan, type StripPlan } from "./chart-plan.ts";
import { formatTick } from "./figures.ts";
import { sourceLine } from "./histogram.tsx";
import { CHART_FONT, cutText, loadChartFonts } from "./text-width.ts";

export type PictureTheme = "light" | "dark";

const WIDTH = 1_100;
const PAD = 16;
const SCALE = 2;
const INKS = ["canvas", "surface", "line", "line-strong", "ink", "ink-2", "ink-3", "accent", "chart", "chart-tail", "chart-ref"] as const;
type Inks = Readonly<Record<(typeof INKS)[number], string>>;

/** The theme's colours, whichever is on the screen. */
export function readInks(theme: PictureTheme): Inks {
  const probe = document.createElement("div");
  probe.dataset["theme"] = theme;
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const inks = Object.fromEntries(INKS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Inks;
  probe.remove();
  return inks;
}

interface Brush {
  readonly context: CanvasRenderingContext2D;
  readonly inks: Inks;
}

interface TextLook {
  readonly ink: keyof Inks;
  readonly px?: number;
  readonly weight?: 400 | 500 | 600;
  readonly align?: CanvasTextAlign;
  /** A rim of the panel's colour, where lines pass behind. */
  readonly rim?: boolean;
}

function write({ context, inks }: Brush, text: string, x: number, y: number, look: TextLook): void {
  context.font = `${look.weight ?? 400} ${look.px ?? 11}px ${CHART_FONT}`;
  context.textAlign = look.align ?? "left";
  if (look.rim) {
    context.strokeStyle = inks.surface;
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeText(text, x, y);
  }
  context.fillStyle = inks[look.ink];
  context.fillText(text, x, y);
}

function line(
  { context, inks }: Brush,
  ends: readonly [number, number, number, number],
  ink: keyof Inks,
  dash: number[] = [],
  width = 1,
): void {
  context.strokeStyle = inks[ink];
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(ends[0], ends[1]);
  context.lineTo(ends[2], ends[3]);
  context.stroke();
  context.setLineDash([]);
}

function drawStrip(brush: Brush, plan: StripPlan, unit: BenchSeries["unit"]): void {
  const { context, inks } = brush;
  const { area, scale } = plan;
  const right = area.left + area.width;
  for (const tick of scale.ticks) {
    const y = yOn(area, scale, tick);
    line(brush, [area.left, y, right, y], "line");
    write(brush, formatTick(tick, unit), area.left - 8, y + 4, { ink: "ink-3", align: "right" });
  }
  if (plan.median !== null) {
    const y = yOn(area, scale, plan.median);
    line(brush, [area.left, y, right, y], "accent", [2, 3]);
  }
  for (const { index, value } of plan.points) {
    const tail = value > plan.tailAbove;
    context.fillStyle = tail ? inks["chart-tail"] : inks.chart;
    context.globalAlpha = tail ? 1 : 0.75;
    context.beginPath();
    context.arc(stripX(plan, index), yOn(area, scale, value), tail ? 2.5 : 2, 0, 2 * Math.PI);
    context.fill();
  }
  context.globalAlpha = 1;
  if (plan.toGo === 0) return;
  const end = area.left + (plan.taken / plan.count) * area.width;
  line(brush, [end, area.top - 6, end, area.top + area.height], "ink-3");
  const near = end > plan.width - 110;
  write(brush, `${formatCount(plan.toGo)} not taken`, end + (near ? -6 : 6), area.top + 4, {
    ink: "ink-3",
    align: near ? "right" : "left",
  });
}

function drawMark(brush: Brush, mark: MarkPlan, bottom: number): void {
  const published = mark.plain !== null;
  line(brush, [mark.x, mark.top, mark.x, bottom], published ? "chart-ref" : "ink", published ? [4, 3] : [], published ? 1 : 1.25);
  if (published) {
    const { context, inks } = brush;
    context.fillStyle = inks["chart-ref"];
    context.beginPath();
    context.moveTo(mark.x - 4, bottom + 1);
    context.lineTo(mark.x, bottom - 5);
    context.lineTo(mark.x + 4, bottom + 1);
    context.fill();
  }
  write(brush, mark.bold, mark.label.start, mark.textY, { ink: "ink", weight: 600, rim: true });
  if (mark.plain !== null) write(brush, mark.plain, mark.label.start, mark.textY + 14, { ink: "ink-2", rim: true });
}

function drawHistogram(brush: Brush, plan: HistogramPlan, unit: BenchSeries["unit"]): void {
  const { context, inks } = brush;
  const { area } = plan;
  const bottom = area.top + area.height;
  for (const tick of plan.x.ticks) {
    const x = xOn(area, plan.x, tick);
    line(brush, [x, area.top, x, bottom], "line");
    write(brush, formatTick(tick, unit), x, bottom + 15, { ink: "ink-3", align: "center" });
  }
  for (const bin of plan.bins) {
    if (bin.count === 0) continue;
    const left = xOn(area, plan.x, bin.from);
    const top = yOn(area, plan.y, bin.count);
    context.fillStyle = bin.from >= plan.tailAbove ? inks["chart-tail"] : inks.chart;
    context.fillRect(left + 0.5, top, Math.max(1, xOn(area, plan.x, bin.to) - left - 1), bottom - top);
  }
  line(brush, [area.left, bottom + 0.5, area.left + area.width, bottom + 0.5], "line-strong");
  for (const tick of [plan.y.from, plan.y.to]) {
    write(brush, formatCount(tick), area.left - 8, yOn(area, plan.y, tick) + 4, { ink: "ink-3", align: "right" });
  }
  for (const mark of plan.references) drawMark(brush, mark, bottom);
  for (const mark of plan.marks) drawMark(brush, mark, bottom);
}

function drawHead(brush: Brush, run: BenchRun, series: BenchSeries, suite: BenchSuiteView): void {
  const size = suite.sizes.find((each) => each.id === run.size)?.label ?? run.size;
  write(brush, seriesName(series), PAD, 30, { ink: "ink", px: 15, weight: 600 });
  const about = `${run.title} · ${stateWord(run)} · ${endLine(run, size)} · ${formatIso(run.startedAt)}`;
  write(brush, about, WIDTH - PAD, 30, { ink: "ink-2", px: 12, align: "right" });
}

function drawStats(brush: Brush, series: BenchSeries, top: number): void {
  const summary = summarise(series.samples);
  const figure = (value: number | null | undefined) => formatFigure(value ?? null, series.unit);
  const throughput = throughputOf(series);
  const stats: readonly (readonly [string, string])[] = [
    ["n", formatCount(series.samples.length)],
    ["p50", figure(summary?.p50)],
    ["p95", figure(summary?.p95)],
    ["p99", figure(summary?.p99)],
    ["max", figure(summary?.max)],
    ...(throughput === null ? [] : [["throughput", formatFigure(throughput, "per-second")] as const]),
    ["errors", formatCount(series.errors)],
    ["timeouts", formatCount(series.timeouts)],
  ];
  line(brush, [0, top, WIDTH, top], "line");
  line(brush, [0, top + 48, WIDTH, top + 48], "line");
  for (const [index, [label, text]] of stats.entries()) {
    const x = PAD + (index * (WIDTH - 2 * PAD)) / stats.length;
    write(brush, label, x, top + 17, { ink: "ink-3" });
    write(brush, text, x, top + 38, { ink: "ink", px: 18, weight: 500 });
  }
}

interface PictureOf {
  readonly run: BenchRun;
  readonly suite: BenchSuiteView;
  readonly series: BenchSeries;
  /** All that are known. */
  readonly references: readonly BenchReference[];
  readonly theme: PictureTheme;
}

/** A canvas of 2,200 pixels' width. Fonts that the page uses must have been loaded. */
export function drawPicture({ run, suite, series, references, theme }: PictureOf): HTMLCanvasElement {
  const others = references.filter((reference) => series.references.includes(reference.id));
  const inner = WIDTH - 2 * PAD;
  const strip = planStrip(series, inner);
  const histogram = planHistogram(series, others, inner);
  const stripTop = 122;
  const histogramTop = stripTop + strip.height + 38;
  const footTop = histogramTop + histogram.height + 12;
  const height = footTop + 40;
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH * SCALE;
  canvas.height = height * SCALE;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This browser offers no canvas to draw on");
  const brush = { context, inks: readInks(theme) };
  context.scale(SCALE, SCALE);
  context.fillStyle = brush.inks.surface;
  context.fillRect(0, 0, WIDTH, height);
  drawHead(brush, run, series, suite);
  drawStats(brush, series, 46);
  write(brush, `Samples in order${strip.scale.kind === "log" ? ", log scale" : ""}; above p95 in amber`, PAD, stripTop - 8, {
    ink: "ink-3",
  });
  write(brush, "dotted line: p50", WIDTH - PAD, stripTop - 8, { ink: "ink-3", align: "right" });
  const at = (top: number, draw: () => void) => {
    context.save();
    context.translate(PAD, top);
    draw();
    context.restore();
  };
  at(stripTop, () => drawStrip(brush, strip, series.unit));
  line(brush, [0, histogramTop - 28, WIDTH, histogramTop - 28], "line");
  write(brush, `Distribution${histogram.x.kind === "log" ? ", log scale" : ""}`, PAD, histogramTop - 10, { ink: "ink-3" });
  if (histogram.references.length > 0) {
    const note = `Dashed: published by others on other hardware, not measured here. ${sourceLine(others)}`;
    write(brush, cutText(note, WIDTH - 200), WIDTH - PAD, histogramTop - 10, { ink: "ink-3", align: "right" });
  }
  at(histogramTop, () => drawHistogram(brush, histogram, series.unit));
  line(brush, [0, footTop, WIDTH, footTop], "line");
  const machine = `${machineLines(run.machine).join(" · ")} · append and fdatasync 300 B: ${formatFigure(run.machine.appendMs, "ms")}`;
  write(brush, cutText(machine, inner), PAD, footTop + 25, { ink: "ink-2" });
  return canvas;
}

/** PNG bytes; throws when the browser cannot encode them. */
export async function makePicture(what: PictureOf): Promise<Blob> {
  await loadChartFonts();
  const canvas = drawPicture(what);
  return await new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture could not be encoded"))), "image/png");
  });
}

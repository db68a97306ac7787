/**
 * What the two charts show of a series, in pixels: made once, drawn by the screen and by the exported picture, so that
 * the picture shows what the screen showed.
 */
import { formatFigure } from "#shared/bench-figures.ts";
import { type Histogram, histogramOf, summarise } from "#shared/bench-statistics.ts";
import type { BenchReference, BenchSeries } from "#shared/bench-views.ts";
import {
  lanesOf,
  placeLabels,
  positionOn,
  scaleFor,
  thinPoints,
  type LabelWish,
  type PlacedLabel,
  type Point,
  type Scale,
} from "./chart-model.ts";
import { cutText, textWidth } from "./text-width.ts";

export interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const AXIS_WIDTH = 52;
/** Half of the last tick's label hangs over the edge. */
const RIGHT = 24;
const LABEL_MAX = 290;
const MARK_LANE = 15;
const REFERENCE_LANE = 30;
const STRIP_PLOT = 82;
const HISTOGRAM_PLOT = 128;
const AXIS_HEIGHT = 20;

export interface StripPlan {
  readonly width: number;
  readonly height: number;
  readonly area: Area;
  readonly scale: Scale;
  /** Places on the x axis: what was planned, or what there is. */
  readonly count: number;
  readonly taken: number;
  readonly toGo: number;
  /** Null without samples. */
  readonly median: number | null;
  /** Samples above it are drawn in the colour of the tail. */
  readonly tailAbove: number;
  readonly points: readonly Point[];
}

export function planStrip(series: BenchSeries, width: number): StripPlan {
  const { samples } = series;
  const summary = summarise(samples);
  const count = Math.max(series.planned, samples.length, 1);
  const area = { left: AXIS_WIDTH, top: 8, width: Math.max(1, width - AXIS_WIDTH - RIGHT), height: STRIP_PLOT };
  return {
    width,
    height: STRIP_PLOT + 16,
    area,
    scale: scaleFor(summary ? [summary.min, summary.max] : [], 5, series.unit === "bytes"),
    count,
    taken: samples.length,
    toGo: Math.max(0, series.planned - samples.length),
    median: summary?.p50 ?? null,
    tailAbove: summary?.p95 ?? Infinity,
    points: thinPoints(samples),
  };
}

export function stripX(plan: StripPlan, index: number): number {
  return plan.area.left + ((index + 0.5) / plan.count) * plan.area.width;
}

export function yOn(area: Area, scale: Scale, value: number): number {
  return area.top + (1 - positionOn(scale, value)) * area.height;
}

export interface MarkPlan {
  readonly id: string;
  readonly x: number;
  /** Where its line begins; it ends at the axis. */
  readonly top: number;
  readonly label: PlacedLabel;
  /** Baseline of its first line of text. */
  readonly textY: number;
  readonly bold: string;
  /** Second line; null for marks of ours. */
  readonly plain: string | null;
  /** Whole text, for those who point at it or cannot see it. */
  readonly full: string;
}

export interface HistogramPlan {
  readonly width: number;
  readonly height: number;
  readonly area: Area;
  readonly x: Scale;
  readonly y: Scale;
  readonly bins: Histogram["bins"];
  readonly tailAbove: number;
  readonly marks: readonly MarkPlan[];
  readonly references: readonly MarkPlan[];
}

export function xOn(area: Area, scale: Scale, value: number): number {
  return area.left + positionOn(scale, value) * area.width;
}

interface Mark {
  readonly id: string;
  readonly value: number;
  readonly bold: string;
  readonly plain: string | null;
  readonly full: string;
  readonly prefer: "left" | "right";
}

function ownMarks(series: BenchSeries): readonly Mark[] {
  const summary = summarise(series.samples);
  if (!summary) return [];
  const values: readonly (readonly [name: string, value: number | null])[] = [
    ["p50", summary.p50],
    ["p95", summary.p95],
    ["p99", summary.p99],
    ["max", summary.max],
  ];
  // Of few samples several percentiles are the same one: one line with both names.
  const names = new Map<number, string[]>();
  for (const [name, value] of values) if (value !== null) names.set(value, [...(names.get(value) ?? []), name]);
  return [...names].map(([value, same]): Mark => {
    const text = `${same.join(", ")} ${formatFigure(value, series.unit)}`;
    return { id: same.join(" "), value, bold: text, plain: null, full: text, prefer: same[0] === "p50" ? "left" : "right" };
  });
}

/** "Apple M5, 10 cores, macOS 27.0" → "Apple M5". */
export function shortHardware(hardware: string): string {
  return hardware.split(/[,;]/)[0]?.trim() ?? hardware;
}

export function describeReference(reference: BenchReference): string {
  const day = reference.date === null ? "" : `, ${reference.date}`;
  const note = reference.note === null ? "" : ` (${reference.note})`;
  return `${formatFigure(reference.value, reference.unit)}, ${reference.label}${note}. ${reference.source}${day}. ${reference.hardware}: a different machine.`;
}

function referenceMarks(references: readonly BenchReference[]): readonly Mark[] {
  return references.map((reference) => ({
    id: reference.id,
    value: reference.value,
    bold: cutText(`${formatFigure(reference.value, reference.unit)}, ${reference.label}`, LABEL_MAX, 600),
    plain: cutText(`${shortHardware(reference.hardware)}, different machine`, LABEL_MAX),
    full: describeReference(reference),
    prefer: "right",
  }));
}

function widthOf(mark: Mark): number {
  return Math.max(textWidth(mark.bold, 600), mark.plain === null ? 0 : textWidth(mark.plain));
}

interface Band {
  readonly area: Area;
  readonly scale: Scale;
  /** Lower edge of the lane next to the chart. */
  readonly bottom: number;
  readonly lane: number;
}

function placeMarks(marks: readonly Mark[], placed: readonly PlacedLabel[], band: Band): readonly MarkPlan[] {
  return marks.flatMap((mark) => {
    const label = placed.find((each) => each.id === mark.id);
    if (!label) return [];
    const top = band.bottom - (label.lane + 1) * band.lane;
    return [{ ...mark, x: xOn(band.area, band.scale, mark.value), top: top + 2, label, textY: top + 11 }];
  });
}

/** Published figures of another unit, or none that a logarithm has, cannot stand on the axis. */
function drawable(series: BenchSeries, references: readonly BenchReference[]): readonly BenchReference[] {
  return references.filter((reference) => reference.unit === series.unit && Number.isFinite(reference.value) && reference.value > 0);
}

export function planHistogram(series: BenchSeries, references: readonly BenchReference[], width: number): HistogramPlan {
  const summary = summarise(series.samples);
  const others = drawable(series, references);
  const bins = histogramOf(series.samples)?.bins ?? [];
  const edges = bins.length === 0 ? [] : [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 0];
  const values = [...edges, ...others.map((reference) => reference.value)];
  const x = scaleFor(values, Math.max(3, Math.floor(width / 90)), series.unit === "bytes");
  const most = bins.reduce((max, bin) => Math.max(max, bin.count), 1);
  const y = scaleFor([0, most], 3);
  const left = AXIS_WIDTH;
  const plot = Math.max(1, width - left - RIGHT);
  const flat = { left, top: 0, width: plot, height: HISTOGRAM_PLOT };
  const marks = ownMarks(series);
  const theirs = referenceMarks(others);
  const wish = (mark: Mark): LabelWish => ({ id: mark.id, x: xOn(flat, x, mark.value), width: widthOf(mark), prefer: mark.prefer });
  const theirWishes = theirs.map(wish);
  const referenceLabels = placeLabels(theirWishes, [0, width]);
  const markLabels = placeLabels(
    marks.map(wish),
    [0, width],
    theirWishes.map((each) => each.x),
  );
  const markBand = lanesOf(markLabels) * MARK_LANE;
  const referenceBand = lanesOf(referenceLabels) * REFERENCE_LANE;
  const area = { ...flat, top: referenceBand + markBand + 4 };
  return {
    width,
    height: area.top + HISTOGRAM_PLOT + AXIS_HEIGHT,
    area,
    x,
    y,
    bins,
    tailAbove: summary?.p95 ?? Infinity,
    marks: placeMarks(marks, markLabels, { area, scale: x, bottom: referenceBand + markBand, lane: MARK_LANE }),
    references: placeMarks(theirs, referenceLabels, { area, scale: x, bottom: referenceBand, lane: REFERENCE_LANE }),
  };
}

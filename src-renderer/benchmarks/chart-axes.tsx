import { memo } from "react";
import { CartesianGrid, XAxis, YAxis } from "recharts";
import type { BenchUnit } from "#shared/bench-views.ts";
import { formatCount } from "../ui/format.ts";
import type { Area } from "./chart-plan.ts";
import type { Scale } from "./chart-model.ts";
import { formatTick } from "./figures.ts";

const TICK = { fontSize: 11, fill: "var(--ink-3)" };

/** Scales are made anew with every sample and are mostly the same: then the axes stay as they are. */
function isSame(a: object, b: object): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

const libraryScale = ({ kind }: Scale): "log" | "linear" => (kind === "log" ? "log" : "linear");

interface StripAxesProps {
  readonly area: Area;
  readonly scale: Scale;
  readonly unit: BenchUnit;
}

/** Values upwards. Places in the series, to the right, have no axis: it would move with every sample. */
export const StripAxes = memo(function StripAxes({ area, scale, unit }: StripAxesProps) {
  return (
    <>
      <CartesianGrid vertical={false} stroke="var(--line)" />
      <XAxis dataKey="index" type="number" domain={[0, 1]} hide allowDataOverflow />
      <YAxis
        type="number"
        scale={libraryScale(scale)}
        domain={[scale.from, scale.to]}
        ticks={[...scale.ticks]}
        interval={0}
        width={area.left}
        axisLine={false}
        tickLine={false}
        tick={TICK}
        tickFormatter={(tick: number) => formatTick(tick, unit)}
        allowDataOverflow
      />
    </>
  );
}, isSame);

interface HistogramAxesProps {
  readonly left: number;
  readonly x: Scale;
  readonly y: Scale;
  /** Room for the ticks below. */
  readonly below: number;
  readonly unit: BenchUnit;
}

/** Values to the right, how many samples upwards. */
export const HistogramAxes = memo(function HistogramAxes({ left, x, y, below, unit }: HistogramAxesProps) {
  return (
    <>
      <CartesianGrid horizontal={false} stroke="var(--line)" />
      {/* Without a key the library takes places in `data`, of which there are none, for the domain. */}
      <XAxis
        dataKey="value"
        type="number"
        scale={libraryScale(x)}
        domain={[x.from, x.to]}
        ticks={[...x.ticks]}
        interval={0}
        height={below}
        axisLine={{ stroke: "var(--line-strong)" }}
        tickLine={false}
        tick={TICK}
        tickFormatter={(tick: number) => formatTick(tick, unit)}
        allowDataOverflow
      />
      <YAxis
        type="number"
        domain={[y.from, y.to]}
        ticks={[y.from, y.to]}
        interval={0}
        width={left}
        axisLine={false}
        tickLine={false}
        tick={TICK}
        tickFormatter={formatCount}
        allowDataOverflow
      />
    </>
  );
}, isSame);

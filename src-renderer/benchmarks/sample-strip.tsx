import { memo, useMemo, useState, type PointerEvent } from "react";
import { ScatterChart } from "recharts";
import { formatFigure } from "#shared/bench-figures.ts";
import type { BenchSeries } from "#shared/bench-views.ts";
import { formatCount, formatPlural } from "../ui/format.ts";
import { StripAxes } from "./chart-axes.tsx";
import { planStrip, stripX, yOn, type StripPlan } from "./chart-plan.ts";
import { useSame } from "./use-same.ts";
import { useSize } from "../ui/use-size.ts";

/** Points are drawn by us; the library has the axes. */
const NO_DATA: never[] = [];
const TICK = { fontSize: 11, fill: "var(--ink-3)" };

/** Every sample in the order in which it was taken. What comes is drawn at once; nothing is animated. */
export const SampleStrip = memo(function SampleStrip({ series, running }: { readonly series: BenchSeries; readonly running: boolean }) {
  const [ref, { width }] = useSize<HTMLDivElement>();
  const plan = useMemo(() => planStrip(series, Math.max(width, 160)), [series, width]);
  const [pointed, setPointed] = useState<number | null>(null);
  const point = (event: PointerEvent<HTMLDivElement>) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - plan.area.left;
    const index = Math.floor((x / plan.area.width) * plan.count);
    setPointed(index >= 0 && index < series.samples.length ? index : null);
  };
  const value = pointed === null ? undefined : series.samples[pointed];
  return (
    <figure className="m-0 px-3 pt-2">
      <figcaption className="flex justify-between gap-3 text-2xs text-ink-3">
        <span className="name-cut">Samples in order{plan.scale.kind === "log" ? ", log scale" : ""}; above p95 in amber</span>
        <span className="shrink-0 tabular-nums">
          {pointed === null || value === undefined
            ? "dotted line: p50"
            : `sample ${formatCount(pointed + 1)}: ${formatFigure(value, series.unit)}`}
        </span>
      </figcaption>
      <div
        ref={ref}
        role="img"
        aria-label={describeStrip(series)}
        onPointerMove={point}
        onPointerLeave={() => setPointed(null)}
        style={{ height: plan.height }}
      >
        {width > 0 ? <Strip plan={plan} unit={series.unit} running={running} pointed={pointed} value={value} /> : null}
      </div>
    </figure>
  );
});

function describeStrip(series: BenchSeries): string {
  const count = series.planned > series.samples.length ? `${formatCount(series.samples.length)} of ${formatCount(series.planned)}` : "";
  return `${series.title}: ${count === "" ? formatPlural(series.samples.length, "sample") : `${count} samples`} in order`;
}

interface StripProps {
  readonly plan: StripPlan;
  readonly unit: BenchSeries["unit"];
  readonly running: boolean;
  readonly pointed: number | null;
  readonly value: number | undefined;
}

function Strip({ plan, unit, running, pointed, value }: StripProps) {
  const { area, scale } = plan;
  const margin = useSame({
    left: 0,
    top: area.top,
    right: plan.width - area.left - area.width,
    bottom: plan.height - area.top - area.height,
  });
  const end = area.left + (plan.taken / plan.count) * area.width;
  return (
    <ScatterChart width={plan.width} height={plan.height} data={NO_DATA} accessibilityLayer={false} margin={margin}>
      <StripAxes area={area} scale={scale} unit={unit} />
      {plan.median === null ? null : (
        <path d={`M${area.left} ${yOn(area, scale, plan.median)}h${area.width}`} stroke="var(--accent)" strokeDasharray="2 3" />
      )}
      <Dots plan={plan} />
      {plan.toGo > 0 && plan.taken > 0 ? (
        <g>
          <path d={`M${end} ${area.top - 6}V${area.top + area.height}`} stroke="var(--ink-3)" />
          <text
            x={end + (end > plan.width - 110 ? -6 : 6)}
            y={area.top + 4}
            textAnchor={end > plan.width - 110 ? "end" : "start"}
            {...TICK}
          >
            {running ? `${formatCount(plan.toGo)} to go` : `${formatCount(plan.toGo)} not taken`}
          </text>
        </g>
      ) : null}
      {pointed !== null && value !== undefined ? (
        <circle cx={stripX(plan, pointed)} cy={yOn(area, scale, value)} r={4} fill="none" stroke="var(--ink)" />
      ) : null}
    </ScatterChart>
  );
}

/** One path for all dots of a colour: a thousand elements would cost what a thousand elements cost. */
const Dots = memo(function Dots({ plan }: { readonly plan: StripPlan }) {
  const [body, tail] = useMemo(() => {
    let inside = "";
    let above = "";
    for (const { index, value } of plan.points) {
      const dot = `M${stripX(plan, index).toFixed(1)} ${yOn(plan.area, plan.scale, value).toFixed(1)}h0`;
      if (value > plan.tailAbove) above += dot;
      else inside += dot;
    }
    return [inside, above];
  }, [plan]);
  return (
    <g fill="none" strokeLinecap="round">
      <path data-dots="body" d={body} stroke="var(--chart)" strokeWidth={4} opacity={0.75} />
      <path data-dots="tail" d={tail} stroke="var(--chart-tail)" strokeWidth={5} />
    </g>
  );
});

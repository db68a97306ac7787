import { memo, useMemo } from "react";
import { ScatterChart } from "recharts";
import { formatFigure } from "#shared/bench-figures.ts";
import type { BenchReference, BenchSeries } from "#shared/bench-views.ts";
import { formatPlural } from "../ui/format.ts";
import { HistogramAxes } from "./chart-axes.tsx";
import { planHistogram, xOn, yOn, type HistogramPlan, type MarkPlan } from "./chart-plan.ts";
import { useFontsLoaded } from "./text-width.ts";
import { useSame } from "./use-same.ts";
import { useSize } from "../ui/use-size.ts";

/** Bars are drawn by us; the library has the axes. */
const NO_DATA: never[] = [];

/** How often which value came, with our percentiles as solid lines and what others published as dashed ones. */
export const Histogram = memo(function Histogram(props: {
  readonly series: BenchSeries;
  /** Of this series; of the same unit. */
  readonly references: readonly BenchReference[];
}) {
  const { series, references } = props;
  const [ref, { width }] = useSize<HTMLDivElement>();
  const fonts = useFontsLoaded();
  // oxlint-disable-next-line react/exhaustive-deps -- widths of text are other ones once the fonts are there
  const plan = useMemo(() => planHistogram(series, references, Math.max(width, 160)), [series, references, width, fonts]);
  return (
    <figure className="m-0 border-t border-line px-3 pt-2 pb-1">
      <figcaption className="flex justify-between gap-3 text-2xs text-ink-3">
        <span className="shrink-0">Distribution{plan.x.kind === "log" ? ", log scale" : ""}</span>
        {plan.references.length > 0 ? (
          <span
            className="name-cut"
            title={references.map((reference) => `${reference.source}, ${reference.date ?? "no date"}`).join("\n")}
          >
            Dashed: published by others on other hardware, not measured here. {sourceLine(references)}
          </span>
        ) : null}
      </figcaption>
      <div ref={ref} role="img" aria-label={describeHistogram(series, plan)} style={{ height: plan.height }} className="mt-1">
        {width > 0 ? <Bars plan={plan} unit={series.unit} /> : null}
      </div>
    </figure>
  );
});

/** "Source: offshoot, benchmark page of v0.2.12, 2026-09-30", or how many there are. */
export function sourceLine(references: readonly BenchReference[]): string {
  const sources = [...new Set(references.map(({ source, date }) => (date === null ? source : `${source}, ${date}`)))];
  return sources.length === 1 ? `Source: ${sources[0]}` : `${sources.length} sources`;
}

function describeHistogram(series: BenchSeries, plan: HistogramPlan): string {
  const parts = [...plan.marks.map((mark) => mark.full), ...plan.references.map((mark) => mark.full)];
  return `Distribution of ${series.title}, ${formatPlural(series.samples.length, "sample")}. ${parts.join("; ")}`;
}

function Bars({ plan, unit }: { readonly plan: HistogramPlan; readonly unit: BenchSeries["unit"] }) {
  const { area } = plan;
  const bottom = area.top + area.height;
  const margin = useSame({ left: 0, top: area.top, right: plan.width - area.left - area.width, bottom: 0 });
  return (
    <ScatterChart width={plan.width} height={plan.height} data={NO_DATA} accessibilityLayer={false} margin={margin}>
      <HistogramAxes left={area.left} x={plan.x} y={plan.y} below={plan.height - bottom} unit={unit} />
      {plan.bins.map((bin) => {
        const left = xOn(area, plan.x, bin.from);
        const right = xOn(area, plan.x, bin.to);
        const top = yOn(area, plan.y, bin.count);
        return bin.count === 0 ? null : (
          <rect
            key={bin.from}
            x={left + 0.5}
            y={top}
            width={Math.max(1, right - left - 1)}
            height={bottom - top}
            rx={1}
            fill={bin.from >= plan.tailAbove ? "var(--chart-tail)" : "var(--chart)"}
            opacity={0.9}
          >
            <title>{`${formatFigure(bin.from, unit)} to ${formatFigure(bin.to, unit)}: ${formatPlural(bin.count, "sample")}`}</title>
          </rect>
        );
      })}
      {plan.references.map((mark) => (
        <ReferenceMark key={mark.id} mark={mark} bottom={bottom} />
      ))}
      {plan.marks.map((mark) => (
        <g key={mark.id}>
          <path d={`M${mark.x} ${mark.top}V${bottom}`} stroke="var(--ink)" strokeWidth={1.25} />
          <Text mark={mark} />
        </g>
      ))}
    </ScatterChart>
  );
}

/** Text keeps a rim of the panel's colour, so that a line behind it does not run through the letters. */
const RIM = { stroke: "var(--surface)", strokeWidth: 3, paintOrder: "stroke", fontSize: 11 } as const;

function Text({ mark }: { readonly mark: MarkPlan }) {
  return (
    <text x={mark.label.start} y={mark.textY} fill="var(--ink)" fontWeight={600} {...RIM}>
      {mark.bold}
    </text>
  );
}

function ReferenceMark({ mark, bottom }: { readonly mark: MarkPlan; readonly bottom: number }) {
  return (
    <g data-reference={mark.id}>
      <title>{mark.full}</title>
      <path d={`M${mark.x} ${mark.top}V${bottom}`} stroke="var(--chart-ref)" strokeDasharray="4 3" />
      <path d={`M${mark.x - 4} ${bottom + 1}l4 -6l4 6z`} fill="var(--chart-ref)" />
      <Text mark={mark} />
      <text x={mark.label.start} y={mark.textY + 14} fill="var(--ink-2)" {...RIM}>
        {mark.plain}
      </text>
    </g>
  );
}

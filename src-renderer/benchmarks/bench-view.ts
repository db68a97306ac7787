/** What the Benchmarks screen is set to: kept while other screens are open and between starts, and read by commands. */
import {
  BENCH_SIZES,
  BENCH_SUITES,
  type BenchRunHead,
  type BenchSize,
  type BenchSuiteId,
  type BenchSuiteView,
} from "#shared/bench-views.ts";
import type { RequestInput } from "#shared/contract.ts";
import { createStore, useStore } from "../external-store.ts";

export interface BenchView {
  /** Null: the first suite that the host offers. */
  readonly suite: BenchSuiteId | null;
  readonly size: BenchSize;
  /** Value ids by option id, of all suites together. */
  readonly options: Readonly<Record<string, string>>;
  /** Folder on the disk to measure; null: the host's own choice. */
  readonly folder: string | null;
  /** Run whose figures are shown; null: the newest of the suite. */
  readonly shown: string | null;
  /** Runs side by side, in the order in which they were ticked. */
  readonly compared: readonly string[];
  /** Series in the charts; null: the one that is being measured. */
  readonly series: string | null;
}

const INITIAL: BenchView = { suite: null, size: "quick", options: {}, folder: null, shown: null, compared: [], series: null };

export const benchView = createStore<BenchView>(INITIAL);

export function useBenchView<S>(select: (view: BenchView) => S): S {
  return useStore(benchView, select);
}

export function changeBenchView(part: Partial<BenchView>): void {
  benchView.set((view) => ({ ...view, ...part }));
}

/** Runs belong to one store: the next one has others. What was chosen to be measured stays. */
export function forgetBenchRuns(): void {
  changeBenchView({ shown: null, compared: [] });
}

export function resetBenchView(): void {
  benchView.set(INITIAL);
}

export function chooseSuite(suite: BenchSuiteId): void {
  if (benchView.get().suite !== suite) changeBenchView({ suite, shown: null, compared: [], series: null });
}

/** Adds a run to the comparison or takes it out. */
export function toggleCompared(run: string): void {
  const { compared } = benchView.get();
  changeBenchView({ compared: compared.includes(run) ? compared.filter((other) => other !== run) : [...compared, run] });
}

/** The part of the layout that is kept between starts. */
export type BenchLayout = Pick<BenchView, "suite" | "size" | "options" | "folder" | "series">;

export function benchLayout({ suite, size, options, folder, series }: BenchView): BenchLayout {
  return { suite, size, options, folder, series };
}

/** Tolerant: a part that cannot be read is the default. */
export function parseBenchLayout(raw: unknown): BenchLayout {
  const from = (typeof raw === "object" && raw !== null ? raw : {}) as Partial<Record<keyof BenchLayout, unknown>>;
  const options = typeof from.options === "object" && from.options !== null ? Object.entries(from.options) : [];
  return {
    suite: BENCH_SUITES.find((suite) => suite === from.suite) ?? null,
    size: BENCH_SIZES.find((size) => size === from.size) ?? "quick",
    options: Object.fromEntries(options.filter(([, value]) => typeof value === "string")),
    folder: typeof from.folder === "string" ? from.folder : null,
    series: typeof from.series === "string" ? from.series : null,
  };
}

/** What would be run: every choice made valid for the suites that the host has. */
export interface BenchChoice {
  readonly suite: BenchSuiteView;
  readonly size: BenchSuiteView["sizes"][number];
  readonly options: Readonly<Record<string, string>>;
  readonly folder: string | null;
}

/** Null when the host has no suite. A size or value that the suite does not know becomes its first one. */
export function resolveChoice(view: BenchView, suites: readonly BenchSuiteView[]): BenchChoice | null {
  const suite = suites.find((each) => each.id === view.suite) ?? suites[0];
  const size = suite?.sizes.find((each) => each.id === view.size) ?? suite?.sizes[0];
  if (!suite || !size) return null;
  const options = suite.options.map((option) => {
    const wanted = option.values.find((value) => value.id === view.options[option.id]) ?? option.values[0];
    return [option.id, wanted?.id ?? ""] as const;
  });
  return { suite, size, options: Object.fromEntries(options), folder: view.folder };
}

export function toOrder(choice: BenchChoice): RequestInput<"bench.start"> {
  return {
    suite: choice.suite.id,
    size: choice.size.id,
    ...(Object.keys(choice.options).length > 0 ? { options: { ...choice.options } } : {}),
    ...(choice.folder === null ? {} : { folder: choice.folder }),
  };
}

export function isActive(run: Pick<BenchRunHead, "state">): boolean {
  return run.state === "running" || run.state === "stopping";
}

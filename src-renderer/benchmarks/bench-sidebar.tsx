import { Gauge, LoaderCircle, Trash2 } from "lucide-react";
import { memo, type ReactNode } from "react";
import type { BenchRunHead, BenchSuiteView, MachineCard } from "#shared/bench-views.ts";
import { formatFigure } from "#shared/bench-figures.ts";
import { percentDone } from "#shared/bench-live.ts";
import { useApi } from "../api/queries.ts";
import { IconButton } from "../ui/button.tsx";
import { cx } from "../ui/cx.ts";
import { formatAge, formatIso, formatPlural } from "../ui/format.ts";
import { useNow } from "../ui/now.ts";
import { removeRun } from "./bench-acts.ts";
import { useBenchRuns } from "./bench-runs.ts";
import { changeBenchView, chooseSuite, isActive, toggleCompared, useBenchView } from "./bench-view.ts";
import { machineLines, runTime } from "./bench-words.ts";
import { StateBadge } from "./state-badge.tsx";

interface SidebarProps {
  readonly suites: readonly BenchSuiteView[];
  readonly suite: BenchSuiteView;
  /** Of all suites, newest first. */
  readonly heads: readonly BenchRunHead[];
  /** Run on the screen, and the machine that it was taken on. */
  readonly shown: string | null;
  readonly machine: MachineCard | null;
}

/** What can be measured, what was, and on which machine. */
export const BenchSidebar = memo(function BenchSidebar({ suites, suite, heads, shown, machine }: SidebarProps) {
  const mine = heads.filter((head) => head.suite === suite.id);
  const compared = useBenchView((view) => view.compared).length;
  return (
    <aside
      aria-label="Suites and runs"
      data-pane="suites"
      className="flex w-60 flex-none flex-col gap-4 overflow-y-auto border-r border-line bg-canvas p-2 tiny:w-40"
    >
      <Part title="Suites">
        <ul className="flex flex-col gap-0.5">
          {suites.map((each) => (
            <SuiteRow key={each.id} suite={each} selected={each.id === suite.id} newest={heads.find((head) => head.suite === each.id)} />
          ))}
        </ul>
      </Part>
      <Part title="Runs" aside={compared > 1 ? `${compared} compared` : mine.length > 1 ? "tick two to compare" : null}>
        {mine.length === 0 ? <p className="px-2 text-xs text-ink-3">None of {suite.title} yet</p> : null}
        <ul className="flex flex-col">
          {mine.map((head) => (
            <RunRow key={head.id} head={head} selected={head.id === shown} />
          ))}
        </ul>
      </Part>
      {machine ? <Machine machine={machine} /> : null}
    </aside>
  );
});

function Part({ title, aside, children }: { readonly title: string; readonly aside?: ReactNode; readonly children: ReactNode }) {
  return (
    <section aria-label={title}>
      <div className="flex h-6 items-center justify-between gap-2 px-2 text-2xs">
        <h2 className="font-semibold text-ink-2">{title}</h2>
        <span className="name-cut text-ink-3">{aside}</span>
      </div>
      {children}
    </section>
  );
}

interface SuiteRowProps {
  readonly suite: BenchSuiteView;
  readonly selected: boolean;
  readonly newest: BenchRunHead | undefined;
}

function SuiteRow({ suite, selected, newest }: SuiteRowProps) {
  const active = newest !== undefined && isActive(newest);
  const Icon = active ? LoaderCircle : Gauge;
  return (
    <li>
      <button
        type="button"
        aria-pressed={selected}
        title={suite.about}
        {...(selected ? { "data-pane-focus": true } : {})}
        onClick={() => chooseSuite(suite.id)}
        className={cx(
          "flex h-10 w-full items-center gap-2.5 rounded-md px-2 text-left leading-4",
          selected ? "bg-selected" : "hover:bg-hover",
        )}
      >
        <Icon
          size={14}
          aria-hidden
          className={cx("shrink-0", selected ? "text-accent" : "text-ink-3", active && "animate-[turn_1s_linear_infinite]")}
        />
        <span className="min-w-0 flex-1">
          <span className={cx("name-cut block", selected && "font-semibold")}>{suite.title}</span>
          <span className="name-cut block text-2xs text-ink-3">{formatPlural(suite.steps.length, "step")}</span>
        </span>
        <span className="shrink-0 text-xs text-ink-3 tabular-nums">{newest ? <LastRun head={newest} /> : "never"}</span>
      </button>
    </li>
  );
}

/** "62 %" of the run that is under way, else its age. */
function LastRun({ head }: { readonly head: BenchRunHead }) {
  const percent = useBenchRuns((state) => {
    const run = state.runs.get(head.id);
    return run ? Math.floor(percentDone(run)) : null;
  });
  const now = useNow(isActive(head) ? 1_000 : 60_000);
  if (isActive(head)) return <>{percent === null ? "now" : `${percent} %`}</>;
  return <span title={formatIso(head.startedAt)}>{formatAge(Math.max(0, now - head.startedAt))}</span>;
}

function RunRow({ head, selected }: { readonly head: BenchRunHead; readonly selected: boolean }) {
  const api = useApi();
  const now = useNow(60_000);
  const compared = useBenchView((view) => view.compared.includes(head.id));
  const name = runTime(head.startedAt, now);
  return (
    <li
      className={cx(
        "group relative flex h-row items-center gap-2 rounded-md px-2",
        selected ? "bg-selected-quiet" : "focus-within:bg-hover hover:bg-hover",
      )}
    >
      <input
        type="checkbox"
        checked={compared}
        aria-label={`Compare the run of ${name}`}
        onChange={() => toggleCompared(head.id)}
        className="size-3.5 shrink-0 accent-accent"
      />
      <button
        type="button"
        aria-label={`Run of ${name}, ${head.size}`}
        aria-pressed={selected}
        title={formatIso(head.startedAt)}
        onClick={() => changeBenchView({ shown: head.id })}
        className="flex min-w-0 flex-1 items-center gap-2 self-stretch overflow-hidden text-left"
      >
        <span className={cx("shrink-0 tabular-nums", selected && "font-medium")}>{name}</span>
        <span className="name-cut text-xs text-ink-3">{head.size}</span>
      </button>
      {head.state === "done" ? null : <StateBadge state={head.state} />}
      {isActive(head) ? null : (
        <IconButton
          icon={Trash2}
          label={`Delete the run of ${name}`}
          className="absolute right-0.5 bg-hover! opacity-0 group-focus-within:opacity-100 group-hover:opacity-100"
          onClick={() => void removeRun(api, head.id, name)}
        />
      )}
    </li>
  );
}

/** The machine of the run that is shown: figures mean nothing without it. */
function Machine({ machine }: { readonly machine: MachineCard }) {
  return (
    <Part title="Machine of this run" aside={machine.addon === "loaded" ? "addon loaded" : null}>
      <div className="px-2 text-xs leading-5 text-ink-2 [font-variant-ligatures:no-contextual]">
        {machineLines(machine).map((line) => (
          <div key={line} title={line} className="wrap-anywhere">
            {line}
          </div>
        ))}
        <div className="text-ink-3 tabular-nums">fdatasync 300 B: {formatFigure(machine.appendMs, "ms")}</div>
        <div className="text-ink-3 tabular-nums">load at the start: {machine.load.toFixed(1)}</div>
      </div>
    </Part>
  );
}

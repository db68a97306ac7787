import { LoaderCircle, Recycle, RefreshCw, Search, Square, Trash2, X } from "lucide-react";
import { useState } from "react";
import type { UsageRow, UsageView } from "#shared/usage-views.ts";
import { requestOrReport } from "../api/perform.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { showScreen, useAppState } from "../app-state.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";
import { RelativeTime } from "../ui/figures.tsx";
import { formatCount } from "../ui/format.ts";
import { useStartedJob } from "../ui/running-job.tsx";
import { Segmented } from "../ui/segmented.tsx";
import { CollectDialog } from "./gc-dialogs.tsx";
import { UsageExport } from "./usage-export.tsx";
import { measure, useMeasure } from "./usage-measure.ts";
import { changeUsage, useUsage } from "./usage-state.ts";

/** A longer name would push the buttons out of the bar. */
const NAME_CHARS_MAX = 20;

function shorten(name: string): string {
  return name.length > NAME_CHARS_MAX ? `${name.slice(0, NAME_CHARS_MAX - 1)}…` : name;
}

/** Only what takes longer than an eye notices is shown at all, and can be stopped. */
function Measuring() {
  const api = useApi();
  const job = useStartedJob();
  return (
    <span role="status" className="flex animate-[appear-late_150ms] items-center gap-1 text-xs text-ink-3">
      <LoaderCircle size={14} aria-hidden className="mx-1.25 animate-[turn_1s_linear_infinite]" />
      {job ? (
        <IconButton icon={Square} label="Stop measuring" onClick={() => void requestOrReport(api, "job.cancel", { id: job.id })} />
      ) : null}
    </span>
  );
}

function MeasuredAt({ view, scope }: { readonly view: UsageView | null; readonly scope: string }) {
  const api = useApi();
  const measuring = useMeasure((state) => state.measuring.has(scope));
  return (
    <span className="flex flex-none items-center gap-1 text-xs text-ink-3">
      {view ? (
        <span className="tiny:hidden">
          measured <RelativeTime at={view.measuredAt} suffix=" ago" />
        </span>
      ) : null}
      {measuring ? <Measuring /> : <IconButton icon={RefreshCw} label="Measure again" onClick={() => void measure(api, scope)} />}
    </span>
  );
}

export function UsageHeader({
  view,
  rows,
  scope,
}: {
  readonly view: UsageView | null;
  readonly rows: readonly UsageRow[];
  readonly scope: string;
}) {
  const database = useAppState((state) => state.database);
  const wanted = useUsage((state) => state.scope);
  const filter = useUsage((state) => state.filter);
  const trashed = useRequest("store.status", {}).data?.trashed ?? null;
  const [collecting, setCollecting] = useState(false);
  return (
    <header className="flex h-11 flex-none items-center gap-2 border-b border-line px-3 pl-4">
      <h1 className="font-semibold">Usage</h1>
      <MeasuredAt view={view} scope={scope} />
      <TextInput
        data-filter
        icon={Search}
        aria-label="Filter branches by name"
        title="Any part of a name; * stands for anything: attempt-*"
        placeholder="Filter, e.g. attempt-*"
        value={filter}
        boxClassName="ml-2 min-w-24 max-w-60 flex-1 tiny:hidden"
        trailing={
          filter === "" ? null : (
            <IconButton icon={X} label="Clear filter" className="-mr-1.5" onClick={() => changeUsage({ filter: "" })} />
          )
        }
        onChange={(event) => changeUsage({ filter: event.target.value })}
        onKeyDown={(event) => {
          if (event.key === "Escape") changeUsage({ filter: "" });
          if (event.key === "Escape" || event.key === "Enter" || event.key === "ArrowDown") {
            event.preventDefault();
            document.querySelector<HTMLElement>("[data-pane=usage] [data-pane-focus]")?.focus();
          }
        }}
      />
      <span className="ml-auto flex flex-none items-center gap-2">
        {database === null ? null : (
          <Segmented
            label="What is measured"
            value={wanted}
            segments={[
              { value: "database", label: shorten(database) },
              { value: "store", label: "Whole store" },
            ]}
            onChange={(value) => changeUsage({ scope: value })}
          />
        )}
        {view ? <UsageExport view={view} rows={rows} /> : null}
        <Button icon={Trash2} onClick={() => showScreen("trash")}>
          Trash{trashed === null ? null : <b className="font-medium tabular-nums">{formatCount(trashed)}</b>}
        </Button>
        <Button icon={Recycle} onClick={() => setCollecting(true)}>
          Collect garbage…
        </Button>
      </span>
      {collecting ? <CollectDialog onClose={() => setCollecting(false)} /> : null}
    </header>
  );
}

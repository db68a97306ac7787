import { Command } from "cmdk";
import { History, ListFilter } from "lucide-react";
import { useMemo, useState } from "react";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { RelativeTime } from "../ui/figures.tsx";
import { formatElapsed, formatPlural } from "../ui/format.ts";
import { Popover } from "../ui/popover.tsx";
import { placeText } from "./data-session.ts";
import { bringBack, forgetHistory, useSql, type PastRun } from "./sql-session.ts";

/** Runs listed at once; the filter finds the others. */
const LISTED_MAX = 100;

/** What ran lately: found by its text or branch, and brought back into the editor. */
export function SqlHistory() {
  const trigger = (
    <Button size="sm" icon={History}>
      History
    </Button>
  );
  return (
    <Popover label="SQL that ran lately" align="end" className="w-160" trigger={trigger}>
      {(close) => <Runs onDone={close} />}
    </Popover>
  );
}

function Runs({ onDone }: { readonly onDone: () => void }) {
  const history = useSql((session) => session.history);
  const [search, setSearch] = useState("");
  const found = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return history.filter(({ sql, place }) => {
      const text = `${sql} ${place.database} ${placeText(place)}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }, [history, search]);
  if (history.length === 0) return <p className="p-4 text-center text-sm text-ink-2">Nothing has run yet.</p>;
  return (
    <Command shouldFilter={false} label="SQL that ran lately" className="flex flex-col">
      <div className="flex h-10 items-center gap-2 border-b border-line px-3">
        <ListFilter size={14} aria-hidden className="shrink-0 text-ink-3" />
        <Command.Input
          autoFocus
          value={search}
          onValueChange={setSearch}
          placeholder="Find by text or branch"
          className="min-w-0 flex-1 bg-transparent text-sm outline-none placeholder:text-ink-3"
        />
        <Button size="sm" variant="ghost" onClick={forgetHistory}>
          Clear
        </Button>
      </div>
      <Command.List className="max-h-96 overflow-y-auto p-1">
        {found.slice(0, LISTED_MAX).map((run, index) => (
          <Command.Item
            key={`${run.at} ${index}`}
            value={String(index)}
            onSelect={() => {
              bringBack(run.sql);
              onDone();
            }}
            className="flex cursor-default flex-col gap-0.5 rounded-md px-2 py-1.5 data-[selected=true]:bg-selected"
          >
            <span className="name-cut font-mono text-xs">{run.sql.replaceAll(/\s+/g, " ").trim()}</span>
            <Facts run={run} />
          </Command.Item>
        ))}
        {found.length > LISTED_MAX ? (
          <p className="px-2 py-1 text-2xs text-ink-3">{formatPlural(found.length - LISTED_MAX, "older one", "older ones")}</p>
        ) : null}
        {found.length === 0 ? <p className="px-2 py-3 text-center text-xs text-ink-2">Nothing that ran matches.</p> : null}
      </Command.List>
    </Command>
  );
}

function Facts({ run }: { readonly run: PastRun }) {
  const effect = run.changes > 0 ? `${formatPlural(run.changes, "row")} changed` : formatPlural(run.rows, "row");
  return (
    <span className="flex items-center gap-2 text-2xs text-ink-3 tabular-nums">
      <span className="name-cut max-w-64">
        {run.place.database}@{placeText(run.place)}
      </span>
      <RelativeTime at={run.at} suffix=" ago" />
      {run.outcome === "done" ? (
        <span>{effect}</span>
      ) : (
        <Badge tone={run.outcome === "failed" ? "bad" : "warn"}>{run.outcome === "failed" ? "Failed" : "Stopped"}</Badge>
      )}
      <span>{formatElapsed(run.elapsedMs)}</span>
    </span>
  );
}

import { Check, CircleDot, FileDown, GitBranch, GitFork, List, ListFilter, Timer, X } from "lucide-react";
import { useMemo } from "react";
import type { BranchView } from "#shared/views.ts";
import { useApi } from "../api/queries.ts";
import { openImport, useAppState } from "../app-state.ts";
import { runCommand } from "../commands/commands.ts";
import { focusBranchGrid } from "../shell/focus.ts";
import { Chip } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";
import { formatCount } from "../ui/format.ts";
import { Kbd } from "../ui/kbd.tsx";
import { Segmented } from "../ui/segmented.tsx";
import { changeBranchesView, useBranchesView } from "./branches-view.ts";
import { tally } from "./rows.ts";

const HOUR_MS = 3_600_000;

/** Ready-made filters. A chip whose count is zero is left out, so that the bar only offers what leads somewhere. */
function Chips({ branches, now }: { readonly branches: readonly BranchView[]; readonly now: number }) {
  const filter = useBranchesView((view) => view.filter.trim());
  const counts = useMemo(
    () => ({ ...tally(branches), soon: branches.filter((branch) => branch.expiresAt !== null && branch.expiresAt - now < HOUR_MS).length }),
    [branches, now],
  );
  const chips = [
    { text: "is:unsaved", label: "Unsaved", icon: CircleDot, count: counts.unsaved, wideOnly: false },
    { text: "status:pass", label: "Pass", icon: Check, count: counts.pass, wideOnly: false },
    { text: "status:fail", label: "Fail", icon: X, count: counts.fail, wideOnly: false },
    { text: "ttl:<1h", label: "Expires < 1 h", icon: Timer, count: counts.soon, wideOnly: true },
  ];
  return (
    <div role="group" aria-label="Quick filters" className="flex min-w-0 gap-2 overflow-hidden tiny:hidden">
      <Chip on={filter === ""} count={formatCount(branches.length)} onClick={() => changeBranchesView({ filter: "" })}>
        All
      </Chip>
      {chips
        .filter((chip) => chip.count > 0 || chip.text === filter)
        .map((chip) => (
          <Chip
            key={chip.text}
            className={chip.wideOnly && filter !== chip.text ? "narrow:hidden" : ""}
            on={filter === chip.text}
            icon={chip.icon}
            count={formatCount(chip.count)}
            onClick={() => changeBranchesView({ filter: filter === chip.text ? "" : chip.text })}
          >
            {chip.label}
          </Chip>
        ))}
    </div>
  );
}

export function BranchesToolbar({
  branches,
  problem,
  now,
}: {
  readonly branches: readonly BranchView[];
  readonly problem: string | null;
  readonly now: number;
}) {
  const api = useApi();
  const filter = useBranchesView((view) => view.filter);
  const mode = useBranchesView((view) => view.mode);
  const canFork = useAppState((state) => state.branchId !== null && state.selection.size <= 1);
  return (
    <div className="flex h-11 shrink-0 items-center gap-2 border-b border-line px-3">
      <h1 className="text-sm font-semibold">Branches</h1>
      <TextInput
        data-filter
        icon={ListFilter}
        aria-label="Filter branches"
        title={problem ?? "is:leaf is:unsaved is:protected status:pass age:>7d ttl:<1h name:fix/* or any text; -term negates"}
        placeholder="Filter, e.g. status:pass"
        value={filter}
        invalid={problem !== null}
        boxClassName="ml-2 w-75 shrink narrow:w-60"
        trailing={
          filter === "" ? (
            <Kbd shortcut="Mod+F" />
          ) : (
            <IconButton icon={X} label="Clear filter" className="-mr-1.5" onClick={() => changeBranchesView({ filter: "" })} />
          )
        }
        onChange={(event) => changeBranchesView({ filter: event.target.value })}
        onKeyDown={(event) => {
          if (event.key === "Escape") changeBranchesView({ filter: "" });
          if (event.key === "Enter" || event.key === "ArrowDown" || event.key === "Escape") {
            event.preventDefault();
            focusBranchGrid();
          }
        }}
      />
      <Chips branches={branches} now={now} />
      <span className="ml-auto" />
      <Segmented
        label="Layout"
        value={mode}
        segments={[
          { value: "graph", label: "Graph", icon: GitBranch },
          { value: "flat", label: "Flat", icon: List },
        ]}
        onChange={(value) => changeBranchesView({ mode: value })}
      />
      <Button icon={FileDown} className="tiny:hidden" onClick={() => openImport(null)}>
        Import
      </Button>
      <Button variant="primary" icon={GitFork} disabled={!canFork} onClick={() => runCommand(api, "branch.fork")}>
        Fork
      </Button>
    </div>
  );
}

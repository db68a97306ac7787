import { Lock, Table2 } from "lucide-react";
import { useEffect } from "react";
import { useAppState } from "../app-state.ts";
import { useBranchList, useFocusedBranch } from "../branches/branch-list.ts";
import { Badge } from "../ui/badge.tsx";
import { Segmented } from "../ui/segmented.tsx";
import { EmptyState } from "../ui/states.tsx";
import { AcrossPane } from "./across-pane.tsx";
import { BrowsePane } from "./browse-pane.tsx";
import { choosePlace, placeKey, placeOf, showDataTab, useData, useDataPlace } from "./data-session.ts";
import { PlacePicker } from "./place-picker.tsx";
import { SqlPane } from "./sql-pane.tsx";

/** Tables and SQL of one state of a database, and one query to many. */
export function DataScreen() {
  const tab = useData((session) => session.tab);
  const place = useDataPlace();
  useFirstPlace();
  return (
    <section aria-label="Data" className="flex min-h-0 min-w-0 flex-1 flex-col bg-canvas">
      <header data-pane="toolbar" className="flex h-11 flex-none items-center gap-2 border-b border-line px-3">
        <h1 className="shrink-0 font-semibold">Data</h1>
        <Segmented
          label="What to show"
          value={tab}
          segments={[
            { value: "browse", label: "Browse" },
            { value: "sql", label: "SQL" },
            { value: "across", label: "Across branches" },
          ]}
          onChange={showDataTab}
        />
        {tab === "across" ? null : (
          <>
            <PlacePicker place={place} onChoose={choosePlace} />
            <Writable />
          </>
        )}
      </header>
      {place === null ? (
        <EmptyState icon={Table2} text="Choose a branch to look at its tables." />
      ) : tab === "browse" ? (
        <BrowsePane key={placeKey(place)} place={place} />
      ) : tab === "sql" ? (
        <SqlPane />
      ) : (
        <AcrossPane />
      )}
    </section>
  );
}

/** A screen that is opened without a state shows the branch in focus, and main without one. */
function useFirstPlace(): void {
  const place = useDataPlace();
  const focused = useFocusedBranch();
  const first = useBranchList((state) => state.branches.find(({ name }) => name === "main") ?? state.branches[0] ?? null);
  const branch = focused ?? first;
  const database = useAppState((state) => state.database);
  useEffect(() => {
    if (place === null && branch !== null && branch.database === database) choosePlace(placeOf(branch));
  }, [place, branch, database]);
}

/** Whether SQL can change what is shown. */
function Writable() {
  const place = useDataPlace();
  const branch = useBranchList((state) => state.branches.find(({ name }) => name === place?.branch) ?? null);
  if (place === null) return null;
  if (place.at !== null)
    return (
      <Badge tone="busy" icon={Lock} title="An earlier state cannot change. Fork it to edit.">
        Read-only
      </Badge>
    );
  return branch?.protected ? (
    <Badge tone="warn" icon={Lock} title="The branch is protected: changes are applied only when that is confirmed.">
      Protected
    </Badge>
  ) : null;
}

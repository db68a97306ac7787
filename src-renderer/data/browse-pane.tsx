import { Table2 } from "lucide-react";
import { useEffect } from "react";
import type { DataSchemaView } from "#shared/query-views.ts";
import { toErrorView } from "../api/api-error.ts";
import { useRequest } from "../api/queries.ts";
import { useBranchList } from "../branches/branch-list.ts";
import { Button } from "../ui/button.tsx";
import { EmptyState, ErrorPanel, Skeleton } from "../ui/states.tsx";
import { changeBrowse, useBrowse } from "./browse-session.ts";
import { placeInput, placeText, showDataTab, type DataPlace } from "./data-session.ts";
import { StagedBar } from "./staged-bar.tsx";
import { useStaged } from "./staged-edits.ts";
import { TableList, shownTables } from "./table-list.tsx";
import { TablePane } from "./table-pane.tsx";
import { useDataChanges } from "./use-table-rows.ts";

/** The tables of a state, and the rows of one of them. */
export function BrowsePane({ place }: { readonly place: DataPlace }) {
  const schema = useRequest("data.schema", placeInput(place));
  const head = useBranchList((state) => state.branches.find(({ name }) => name === place.branch)?.head ?? null);
  useDataChanges(place, head, () => void schema.refetch());
  if (schema.error && !schema.data)
    return (
      <div className="p-4">
        <ErrorPanel error={toErrorView(schema.error)} onRetry={() => void schema.refetch()} />
      </div>
    );
  if (!schema.data) return <Skeleton lines={12} className="px-4 py-2" />;
  return <Browser place={place} schema={schema.data} head={head} />;
}

function Browser({ place, schema, head }: { readonly place: DataPlace; readonly schema: DataSchemaView; readonly head: number | null }) {
  const wanted = useBrowse((session) => session.table);
  const staged = useStaged(place);
  const tables = schema.tables;
  const table = tables.find(({ name }) => name === wanted) ?? firstTable(schema);
  const name = table?.name ?? null;
  useEffect(() => {
    if (wanted === null && name !== null) changeBrowse({ table: name });
  }, [wanted, name]);
  if (tables.length === 0 || table === null)
    return (
      <EmptyState
        icon={Table2}
        text={`${placeText(place)} has no tables.`}
        action={<Button onClick={() => showDataTab("sql")}>{place.at === null ? "Make one with SQL" : "Ask with SQL"}</Button>}
      />
    );
  return (
    <div className="flex min-h-0 flex-1">
      <TableList schema={schema} selected={table.name} staged={staged} />
      <div data-pane="main" className="flex min-h-0 min-w-0 flex-1 flex-col">
        <TablePane
          key={table.name}
          place={place}
          table={table}
          objects={schema.objects.filter((object) => object.table === table.name)}
          isPart={schema.unlisted > 0 || (table.columns === null && table.problem === null)}
          isWritable={schema.source.isWritable}
          head={head}
        />
        <StagedBar place={place} />
      </div>
    </div>
  );
}

/** The first by name that can be read, rather a table than a view, and not SQLite's own. */
function firstTable(schema: DataSchemaView) {
  const shown = shownTables(schema, false);
  const readable = shown.filter(({ problem }) => problem === null);
  return readable.find(({ kind }) => kind === "table") ?? readable[0] ?? shown[0] ?? schema.tables[0] ?? null;
}

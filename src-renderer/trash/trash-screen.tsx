import { Database, GitBranch, Search, Trash2, Undo2 } from "lucide-react";
import { useMemo, useState } from "react";
import type { TrashView } from "#shared/views.ts";
import { LIMITS } from "#shared/limits.ts";
import { toErrorView } from "../api/api-error.ts";
import { performVerb } from "../api/perform.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { showScreen } from "../app-state.ts";
import { Button } from "../ui/button.tsx";
import { CopyTable } from "../ui/copy-table.tsx";
import { cx } from "../ui/cx.ts";
import { TextInput } from "../ui/field.tsx";
import { Countdown, RelativeTime } from "../ui/figures.tsx";
import { formatCount, formatPlural } from "../ui/format.ts";
import { Cell, RowGrid } from "../ui/row-grid.tsx";
import { EmptyState, ErrorPanel, Skeleton } from "../ui/states.tsx";
import type { TextColumn } from "../ui/table-text.ts";
import { showError } from "../ui/toasts.ts";
import { EmptyTrashDialog } from "./empty-trash-dialog.tsx";
import { RestoreDialog } from "./restore-dialog.tsx";
import { matchesTrash, reasonWord, trashKey, trashPlace } from "./trash-words.ts";

const COPY_COLUMNS: readonly TextColumn<TrashView>[] = [
  { title: "kind", value: (entry) => entry.kind },
  { title: "database", value: (entry) => entry.database },
  { title: "name", value: (entry) => entry.name },
  { title: "head", value: (entry) => `v${entry.head}` },
  { title: "trashed", value: (entry) => new Date(entry.trashedAt).toISOString() },
  { title: "actor", value: (entry) => entry.actor },
  { title: "reason", value: (entry) => reasonWord(entry.reason) },
  { title: "purge after", value: (entry) => new Date(entry.purgeAt).toISOString() },
];

/** What was deleted and can still come back, until its purge date. */
export function TrashScreen() {
  const trash = useRequest("trash.list", {});
  const [text, setText] = useState("");
  const [emptying, setEmptying] = useState(false);
  const entries = trash.data;
  const shown = useMemo(() => (entries ?? []).filter((entry) => matchesTrash(entry, text.trim())), [entries, text]);
  return (
    <section aria-label="Trash" data-pane="main" className="flex min-h-0 min-w-0 flex-1 flex-col bg-canvas">
      <header className="flex h-11 flex-none items-center gap-2 border-b border-line px-3">
        <h1 className="font-semibold">Trash</h1>
        <TextInput
          icon={Search}
          aria-label="Filter the trash"
          data-filter
          placeholder="Filter, e.g. attempt expired"
          value={text}
          onChange={(event) => setText(event.target.value)}
          boxClassName="min-w-40 max-w-80 flex-1"
        />
        <span className="ml-auto flex items-center gap-1">
          <CopyTable columns={COPY_COLUMNS} rows={shown} />
          <Button icon={Trash2} variant="danger" disabled={!entries || entries.length === 0} onClick={() => setEmptying(true)}>
            Empty trash…
          </Button>
        </span>
      </header>
      {trash.isError && !entries ? (
        <div className="p-4">
          <ErrorPanel error={toErrorView(trash.error)} onRetry={() => void trash.refetch()} />
        </div>
      ) : !entries ? (
        <Skeleton lines={8} className="px-4 py-2" />
      ) : entries.length === 0 ? (
        <EmptyState
          icon={Trash2}
          text={`The trash is empty. What is deleted or expires stays here for ${formatPlural(LIMITS.trashKeepMs / 86_400_000, "day")} before it is purged.`}
          action={<Button onClick={() => showScreen("branches")}>Show branches</Button>}
        />
      ) : shown.length === 0 ? (
        <EmptyState
          text={`Nothing in the trash matches ${text.trim()}.`}
          action={<Button onClick={() => setText("")}>Clear filter</Button>}
        />
      ) : (
        <TrashRows entries={shown} />
      )}
      {entries && entries.length > 0 ? (
        <footer className="flex h-7 flex-none items-center border-t border-line px-3 text-xs text-ink-3 tabular-nums">{`${formatCount(shown.length)} of ${formatPlural(entries.length, "entry", "entries")}`}</footer>
      ) : null}
      {emptying ? <EmptyTrashDialog onClose={() => setEmptying(false)} /> : null}
    </section>
  );
}

const COLUMNS =
  "grid grid-cols-[16px_minmax(0,1fr)_64px_128px_72px_minmax(64px,112px)_96px_92px] tiny:grid-cols-[16px_minmax(0,1fr)_72px_96px_92px] items-center gap-x-3 px-3";

function TrashRows({ entries }: { readonly entries: readonly TrashView[] }) {
  const api = useApi();
  const [selectedKey, setSelectedKey] = useState<string | null>(null);
  const [restoring, setRestoring] = useState<TrashView | null>(null);
  const selected = entries.find((entry) => trashKey(entry) === selectedKey) ?? entries[0] ?? null;
  const restore = async (entry: TrashView) => {
    try {
      await performVerb(api, "branch.restore", { kind: entry.kind, id: entry.id });
    } catch (error) {
      const view = toErrorView(error);
      if (view.code === "name-taken") setRestoring(entry);
      else showError(view, view.retryable ? () => void restore(entry) : null);
    }
  };
  return (
    <>
      <RowGrid
        label="Trash"
        columns={COLUMNS}
        head={
          <>
            <span />
            <span>Name</span>
            <span className="tiny:hidden">Head</span>
            <span className="tiny:hidden">Why</span>
            <span className="text-right">When</span>
            <span className="tiny:hidden">By</span>
            <span className="text-right">Purged in</span>
            <span />
          </>
        }
        rows={entries}
        keyOf={trashKey}
        selected={selected}
        onSelect={setSelectedKey}
        entries={(entry) => [
          { kind: "item", id: "restore", label: "Restore", icon: Undo2, run: () => void restore(entry) },
          { kind: "item", id: "restore-as", label: "Restore as…", run: () => setRestoring(entry) },
        ]}
      >
        {(entry, { selected: chosen }) => <TrashCells entry={entry} chosen={chosen} onRestore={() => void restore(entry)} />}
      </RowGrid>
      {restoring ? <RestoreDialog entry={restoring} onClose={() => setRestoring(null)} /> : null}
    </>
  );
}

function TrashCells({ entry, chosen, onRestore }: { readonly entry: TrashView; readonly chosen: boolean; readonly onRestore: () => void }) {
  const Icon = entry.kind === "branch" ? GitBranch : Database;
  return (
    <>
      <span role="gridcell" title={entry.kind} className="text-ink-3">
        <Icon size={14} aria-label={entry.kind} />
      </span>
      <Cell title={trashPlace(entry)} className="text-sm">
        {entry.kind === "branch" ? (
          <>
            {entry.name} <span className="text-xs text-ink-3">{entry.database}</span>
          </>
        ) : (
          entry.name
        )}
      </Cell>
      <Cell className="text-ink-2 tabular-nums tiny:hidden">v{entry.head}</Cell>
      <Cell className="text-ink-2 tiny:hidden">{reasonWord(entry.reason)}</Cell>
      <Cell className="text-right text-ink-2">
        <RelativeTime at={entry.trashedAt} />
      </Cell>
      <Cell className="text-ink-2 tiny:hidden" title={entry.actor}>
        {entry.actor}
      </Cell>
      <Cell className="text-right text-ink-2">
        <Countdown until={entry.purgeAt} />
      </Cell>
      <span role="gridcell" className={cx("flex justify-end", !chosen && "opacity-0 group-hover/row:opacity-100")}>
        <Button size="sm" tabIndex={-1} icon={Undo2} aria-label={`Restore ${entry.name}`} onClick={onRestore}>
          Restore
        </Button>
      </span>
    </>
  );
}

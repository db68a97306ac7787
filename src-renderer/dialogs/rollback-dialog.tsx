import { useState } from "react";
import type { HistoryRow } from "#shared/views.ts";
import { performVerb } from "../api/perform.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { closeDialog } from "../app-state.ts";
import { toErrorView } from "../api/api-error.ts";
import { useBranchList } from "../branches/branch-list.ts";
import { cx } from "../ui/cx.ts";
import { Dialog } from "../ui/dialog.tsx";
import { TextInput } from "../ui/field.tsx";
import { RelativeTime } from "../ui/figures.tsx";
import { EmptyState, ErrorPanel, Skeleton } from "../ui/states.tsx";
import { FormFooter } from "./form-footer.tsx";
import { useSubmit } from "./form.ts";

/** Versions offered here; the whole history is a screen of its own. */
const VERSIONS_MAX = 200;

function nameOf(row: HistoryRow): string {
  return row.checkpoints.map((checkpoint) => checkpoint.name).join(", ");
}

function matches(row: HistoryRow, text: string): boolean {
  return `v${row.number} ${nameOf(row)} ${row.message ?? ""}`.toLowerCase().includes(text.trim().toLowerCase());
}

export function RollbackDialog({ branch }: { readonly branch: string }) {
  const api = useApi();
  const database = useBranchList((state) => state.database) ?? "";
  const history = useRequest("branch.history", { database, branch, limit: VERSIONS_MAX });
  const [text, setText] = useState("");
  const [to, setTo] = useState<number | null>(null);
  const rows = (history.data?.versions ?? []).filter((row) => row.place !== "head" && matches(row, text));
  const chosen = rows.find((row) => row.number === to) ?? null;
  const { busy, error, submit } = useSubmit(async () => {
    if (chosen) await performVerb(api, "branch.rollback", { database, branch, to: `v${chosen.number}` });
  });
  return (
    <Dialog
      wide
      title={`Roll back ${branch}`}
      description="Moves the head and its file to an older version. Unsaved work is kept as a version; nothing is lost."
      onClose={closeDialog}
      onSubmit={() => chosen && submit()}
      footer={
        <FormFooter act={chosen ? `Roll back to v${chosen.number}` : "Roll back"} busy={busy ? "Rolling back…" : null} disabled={!chosen} />
      }
    >
      <TextInput
        autoFocus
        aria-label="Find a version"
        value={text}
        placeholder="Find by name, number or message"
        onChange={(event) => setText(event.target.value)}
      />
      <div role="radiogroup" aria-label="Version" className="flex h-72 flex-col overflow-y-auto rounded-md border border-line">
        {history.isPending ? <Skeleton lines={8} className="px-3" /> : null}
        {history.error ? <ErrorPanel error={toErrorView(history.error)} onRetry={() => void history.refetch()} /> : null}
        {history.data && rows.length === 0 ? (
          <EmptyState text={text === "" ? "There is no other version to go to." : `No version matches “${text}”.`} />
        ) : null}
        {rows.map((row) => (
          <label
            key={row.number}
            className={cx(
              "grid h-row shrink-0 cursor-pointer grid-cols-[14px_44px_minmax(0,1fr)_auto_72px] items-center gap-2 px-3 text-xs",
              row.number === to ? "bg-selected" : "hover:bg-hover",
            )}
          >
            <input type="radio" name="version" checked={row.number === to} onChange={() => setTo(row.number)} className="accent-accent" />
            <span className="text-ink-3 tabular-nums">v{row.number}</span>
            <span className="name-cut">
              {nameOf(row) || <span className="text-ink-2">{row.kind}</span>} <span className="text-ink-3">{row.message}</span>
            </span>
            <span className="text-ink-3">
              {row.place === "ahead" ? "ahead" : row.place === "side" && row.kind !== "autosave" ? "side version" : ""}
            </span>
            <RelativeTime at={row.createdAt} className="text-right text-ink-2" />
          </label>
        ))}
      </div>
      {error ? <ErrorPanel error={error} onRetry={error.retryable ? submit : null} /> : null}
    </Dialog>
  );
}

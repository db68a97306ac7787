import { Lock, Undo2 } from "lucide-react";
import { useState } from "react";
import type { OperationView, UndoPreview } from "#shared/views.ts";
import { toErrorView } from "../api/api-error.ts";
import { undoOperation } from "../api/perform.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Facts, Section } from "../ui/facts.tsx";
import { RelativeTime } from "../ui/figures.tsx";
import { formatCount, formatIso, formatPlural } from "../ui/format.ts";
import { ErrorPanel, Skeleton } from "../ui/states.tsx";
import { operationWord } from "./operation-words.ts";

/** One operation, and what undoing it would move, before anything moves. */
export function OperationDetail({ operation, onSelect }: { readonly operation: OperationView; readonly onSelect: (id: number) => void }) {
  const { reverses } = operation;
  return (
    <>
      <header className="flex flex-col gap-1.5 p-3">
        <h2 className="text-md font-semibold wrap-anywhere">{operation.summary}</h2>
        <div className="flex gap-2">
          {operation.state === "undone" ? <Badge tone="busy">Undone</Badge> : null}
          {operation.state === "permanent" ? (
            <Badge tone="busy" icon={Lock}>
              Permanent
            </Badge>
          ) : null}
        </div>
      </header>
      <Section title="Operation">
        <Facts
          facts={[
            { label: "Number", value: formatCount(operation.id) },
            { label: "Kind", value: operationWord(operation.kind) },
            { label: "When", value: <RelativeTime at={operation.at} suffix=" ago" />, title: formatIso(operation.at) },
            { label: "By", value: operation.actor, title: operation.actor },
            { label: "Database", value: operation.database },
            { label: "Branch", value: operation.branch, title: operation.branch ?? "" },
            {
              label: operation.kind === "redo" ? "Redoes" : "Reverses",
              value:
                reverses === null ? null : (
                  <button type="button" className="text-accent hover:underline" onClick={() => onSelect(reverses)}>
                    operation {formatCount(reverses)}
                  </button>
                ),
            },
          ]}
        />
      </Section>
      <Section title="Undo">
        {operation.state === "done" ? (
          <UndoPart operation={operation} onSelect={onSelect} />
        ) : (
          <p className="text-xs text-ink-2">{whyNot(operation)}</p>
        )}
      </Section>
    </>
  );
}

function whyNot(operation: OperationView): string {
  if (operation.state === "undone") return "This was undone already. Redo, in the Edit menu, brings the last undone operation back.";
  return "This can no longer be undone: what it needs was purged, or the undo window has passed.";
}

function UndoPart({ operation, onSelect }: { readonly operation: OperationView; readonly onSelect: (id: number) => void }) {
  const api = useApi();
  const preview = useRequest("operation.preview", { operation: operation.id });
  const [busy, setBusy] = useState(false);
  if (preview.isPending) return <Skeleton lines={2} />;
  if (preview.isError) return <ErrorPanel error={toErrorView(preview.error)} onRetry={() => void preview.refetch()} />;
  const { blockedBy, moves } = preview.data;
  const undo = async () => {
    setBusy(true);
    await undoOperation(api, operation.id, blockedBy.length > 0);
    setBusy(false);
  };
  return (
    <div className="flex flex-col gap-3 text-xs">
      <Moves moves={moves} />
      {blockedBy.length > 0 ? <Blockers blockedBy={blockedBy} onSelect={onSelect} /> : null}
      <Button icon={Undo2} busy={busy ? "Undoing…" : null} onClick={() => void undo()}>
        {blockedBy.length > 0 ? `Undo these ${formatCount(blockedBy.length + 1)} operations` : "Undo"}
      </Button>
    </div>
  );
}

function Moves({ moves }: Pick<UndoPreview, "moves">) {
  if (moves.length === 0) return <p className="text-ink-2">Undoing moves no branch.</p>;
  return (
    <div>
      <p className="text-ink-2">Undoing it moves:</p>
      <ul className="mt-1 max-h-40 overflow-y-auto">
        {moves.map((move) => (
          <li key={move} className="font-mono text-2xs leading-5 wrap-anywhere">
            {move}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Blockers({ blockedBy, onSelect }: Pick<UndoPreview, "blockedBy"> & { readonly onSelect: (id: number) => void }) {
  return (
    <div>
      <p className="text-warn">{formatPlural(blockedBy.length, "later operation")} on the same branches must be undone first:</p>
      <ul className="mt-1 max-h-60 overflow-y-auto">
        {blockedBy.map((blocker) => (
          <li key={blocker.id}>
            <button
              type="button"
              className="name-cut block w-full py-0.5 text-left hover:underline"
              title={blocker.summary}
              onClick={() => onSelect(blocker.id)}
            >
              {blocker.summary} <span className="text-ink-3">by {blocker.actor}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

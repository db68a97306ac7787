import { ChevronDown, ChevronUp, ClipboardCopy } from "lucide-react";
import { useMemo, useState } from "react";
import type { ErrorView } from "#shared/error-codes.ts";
import { useApi } from "../api/queries.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { copyText } from "../ui/copy.ts";
import { formatCount, formatPlural } from "../ui/format.ts";
import { ErrorPanel } from "../ui/states.tsx";
import { applyEdits } from "./apply-edits.ts";
import type { DataPlace } from "./data-session.ts";
import { countStaged, discardEdits, stagedStatements, useStaged, type StagedBranch } from "./staged-edits.ts";

/** Statements that are listed; all of them are copied and run. */
const LISTED_MAX = 500;

/** What was changed and not applied yet, of all tables of the branch: as SQL, to be applied as one or let go of. */
export function StagedBar({ place }: { readonly place: DataPlace }) {
  const staged = useStaged(place);
  return staged.size === 0 ? null : <Bar place={place} staged={staged} />;
}

function Bar({ place, staged }: { readonly place: DataPlace; readonly staged: StagedBranch }) {
  const api = useApi();
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ErrorView | null>(null);
  const { inserts, updates, deletes } = countStaged(staged);
  const count = inserts + updates + deletes;
  const apply = async (force: boolean) => {
    setBusy(true);
    setError(await applyEdits(api, place, force));
    setBusy(false);
  };
  return (
    <section aria-label="Changes that are not applied" className="flex-none border-t border-line bg-surface">
      {error ? (
        <div className="p-2">
          <ErrorPanel
            error={error}
            onRetry={() => void apply(error.code === "protected")}
            retryLabel={error.code === "protected" ? `Write to ${place.branch} anyway` : "Retry"}
          />
        </div>
      ) : null}
      <div className="flex min-h-10 flex-wrap items-center gap-2 px-3 py-1 text-xs tabular-nums">
        <Button size="sm" variant="ghost" icon={isOpen ? ChevronDown : ChevronUp} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Hide the SQL" : "Show the SQL"}
        </Button>
        <Sign sign="+" value={inserts} word="added" className="text-add" />
        <Sign sign="−" value={deletes} word="deleted" className="text-del" />
        <Sign sign="~" value={updates} word="changed" className="text-mod" />
        <span className="text-ink-3">
          in {formatPlural(staged.size, "table")} of {place.branch}
        </span>
        <span className="ml-auto" />
        <Button size="sm" disabled={isBusy} onClick={() => discardEdits(place)}>
          Discard
        </Button>
        <Button size="sm" variant="primary" busy={isBusy ? "Applying…" : null} onClick={() => void apply(false)}>
          Apply {formatPlural(count, "change")}
        </Button>
      </div>
      {isOpen ? <Statements staged={staged} /> : null}
    </section>
  );
}

function Sign(props: { readonly sign: string; readonly value: number; readonly word: string; readonly className: string }) {
  if (props.value === 0) return null;
  return (
    <span className={props.className}>
      <b className="font-semibold">{props.sign}</b>
      {formatCount(props.value)} {props.word}
    </span>
  );
}

function Statements({ staged }: { readonly staged: StagedBranch }) {
  const found = useMemo(() => {
    try {
      return { lines: stagedStatements(staged).map(({ sql }) => sql), problem: null };
    } catch (error) {
      return { lines: [], problem: error instanceof Error ? error.message : String(error) };
    }
  }, [staged]);
  const rest = found.lines.length - LISTED_MAX;
  return (
    <div className="flex max-h-44 border-t border-line bg-canvas">
      <pre
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        tabIndex={0}
        aria-label="SQL of the changes"
        className="min-w-0 flex-1 overflow-auto px-3 py-2 font-mono text-xs whitespace-pre-wrap select-text wrap-anywhere"
      >
        {found.problem ?? found.lines.slice(0, LISTED_MAX).join("\n")}
        {rest > 0 ? `\n-- and ${formatPlural(rest, "more statement")}` : ""}
      </pre>
      <IconButton
        icon={ClipboardCopy}
        label="Copy the SQL of the changes"
        className="m-1"
        onClick={() => void copyText(`BEGIN;\n${found.lines.join("\n")}\nCOMMIT;\n`, "SQL")}
      />
    </div>
  );
}

import { Lock, Trash2, X } from "lucide-react";
import { useState, type ReactNode } from "react";
import { LIMITS } from "#shared/limits.ts";
import type { FreedView, UsageRow } from "#shared/usage-views.ts";
import { formatBytes } from "#shared/units.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { Bytes } from "../ui/figures.tsx";
import { formatCount, formatIso, formatPlural } from "../ui/format.ts";
import { readClock } from "../ui/now.ts";
import { ErrorPanel } from "../ui/states.tsx";
import { PurgeDialog } from "./gc-dialogs.tsx";
import { moveToTrash, nameBranches } from "./usage-acts.ts";
import { changeUsage, NONE, useUsage, type PurgeOffer } from "./usage-state.ts";
import type { Freed } from "./use-freed.ts";

/** Protected branches named in the footer; the rest is counted. */
const NAMED_MAX = 3;

const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

function Bar({ text, detail, children }: { readonly text: ReactNode; readonly detail: ReactNode; readonly children: ReactNode }) {
  return (
    <div data-dock className="flex min-h-14 flex-none items-center gap-3 border-t border-line bg-surface py-2 pr-3 pl-4">
      <div role="status" className="min-w-0 flex-1 tabular-nums">
        <div className="name-cut font-semibold">{text}</div>
        <div className="text-xs text-ink-2">{detail}</div>
      </div>
      {children}
    </div>
  );
}

export interface Chosen {
  /** Selected, and not protected. */
  readonly going: readonly UsageRow[];
  readonly guarded: readonly UsageRow[];
  /** Of all selected, those that the filter does not show. */
  readonly hidden: number;
}

function describeGuarded(guarded: readonly UsageRow[]): string {
  const names = guarded.slice(0, NAMED_MAX).map((row) => row.branch);
  const rest = guarded.length - names.length;
  return `${names.join(", ")}${rest > 0 ? ` and ${formatCount(rest)} more` : ""} ${guarded.length === 1 ? "is protected and stays" : "are protected and stay"}`;
}

/** "39.6 MiB unique + 1.7 MiB shared only among them, freed at purge on 30 Dec · 12.0 MiB of files at once". */
function FreedDetail({ freed }: { readonly freed: FreedView }) {
  const purgeAt = readClock() + LIMITS.trashKeepMs;
  return (
    <>
      <Bytes value={freed.uniqueBytes} /> unique
      {freed.amongThemBytes > 0 ? (
        <>
          {" + "}
          <Bytes value={freed.amongThemBytes} /> shared only among them
        </>
      ) : null}
      , freed at purge on <time title={formatIso(purgeAt)}>{DAY.format(purgeAt)}</time>
      {freed.fileBytes > 0 ? (
        <>
          {" · "}
          <Bytes value={freed.fileBytes} /> of files at once
        </>
      ) : null}
    </>
  );
}

/** Whichever of the three there is to say: what goes on, what the selection frees, what can be purged now. */
export function UsageFooter({ chosen, freed }: { readonly chosen: Chosen; readonly freed: Freed }) {
  const moving = useUsage((state) => state.moving);
  const offer = useUsage((state) => state.offer);
  if (moving) return <MovingBar {...moving} />;
  if (chosen.going.length + chosen.guarded.length > 0) return <SelectionBar chosen={chosen} freed={freed} />;
  return offer ? <OfferBar offer={offer} /> : null;
}

function MovingBar({ done, total, stop }: { readonly done: number; readonly total: number; readonly stop: () => void }) {
  const [stopping, setStopping] = useState(false);
  return (
    <Bar
      text={`Moving ${formatPlural(total, "branch", "branches")} to the Trash…`}
      detail={`${formatCount(done)} of ${formatCount(total)}. What is there already can be undone.`}
    >
      <div
        role="progressbar"
        aria-label="Moving branches to the Trash"
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={done}
        className="h-1 w-32 flex-none overflow-hidden rounded-xs bg-selected-quiet"
      >
        <div className="h-full bg-accent" style={{ width: `${(done / total) * 100}%` }} />
      </div>
      <Button
        disabled={stopping}
        onClick={() => {
          setStopping(true);
          stop();
        }}
      >
        {stopping ? "Stopping…" : "Stop"}
      </Button>
    </Bar>
  );
}

function SelectionBar({ chosen, freed }: { readonly chosen: Chosen; readonly freed: Freed }) {
  const api = useApi();
  const { going, guarded, hidden } = chosen;
  const names = going.length === 1 ? (going[0]?.branch ?? "") : `these ${formatCount(going.length)}`;
  const stays = guarded.length > 0 ? describeGuarded(guarded) : null;
  return (
    <>
      {freed.error ? (
        <div className="flex-none border-t border-line px-4 py-2">
          <ErrorPanel error={freed.error} onRetry={freed.retry} />
        </div>
      ) : null}
      <Bar
        text={
          going.length === 0 ? (
            "Nothing that can be deleted is selected"
          ) : freed.view ? (
            <>
              Deleting {names} frees <Bytes value={freed.view.bytes} />
            </>
          ) : freed.error ? (
            `${formatPlural(going.length, "branch", "branches")} selected`
          ) : (
            `Deleting ${names} frees …`
          )
        }
        detail={
          <>
            {going.length === 0 ? null : freed.view ? (
              <FreedDetail freed={freed.view} />
            ) : freed.error ? (
              "What they free is not known"
            ) : (
              "Counting…"
            )}
            {hidden > 0 ? `${going.length === 0 ? "" : " · "}${formatCount(hidden)} of them not shown by the filter` : null}
            {stays ? (
              <span className="flex items-center gap-1 text-warn">
                <Lock size={12} aria-hidden className="flex-none" />
                <span
                  title={guarded
                    .map((row) => row.branch)
                    .slice(0, 200)
                    .join("\n")}
                >
                  {stays}
                </span>
              </span>
            ) : null}
          </>
        }
      >
        <Button variant="ghost" onClick={() => changeUsage({ selection: NONE })}>
          Clear
        </Button>
        <Button
          variant="danger"
          icon={Trash2}
          disabled={going.length === 0}
          onClick={() => void moveToTrash(api, going, freed.view?.segmentBytes ?? null)}
        >
          Move {formatCount(going.length)} to Trash
        </Button>
      </Bar>
    </>
  );
}

/** As long as they are in the trash: undone or purged elsewhere, there is nothing to offer. */
function OfferBar({ offer }: { readonly offer: PurgeOffer }) {
  const trash = useRequest("trash.list", {});
  const [asking, setAsking] = useState(false);
  const inTrash = new Map((trash.data ?? []).filter((entry) => entry.kind === "branch").map((entry) => [entry.id, entry.purgeAt]));
  const left =
    trash.data && trash.dataUpdatedAt > offer.madeAt ? offer.branches.filter((branch) => inTrash.has(branch.id)) : offer.branches;
  const purgeAt = Math.min(...left.map((branch) => inTrash.get(branch.id) ?? readClock() + LIMITS.trashKeepMs));
  if (left.length === 0) return null;
  const predicted = left.length === offer.branches.length ? offer.predictedBytes : null;
  return (
    <>
      <Bar
        text={`${nameBranches(left)} ${left.length === 1 ? "is" : "are"} in the Trash`}
        detail={
          <>
            {predicted === null ? "Space is freed" : `${formatBytes(predicted)} are freed`} at purge on{" "}
            <time title={formatIso(purgeAt)}>{DAY.format(purgeAt)}</time>
          </>
        }
      >
        <Button variant="danger" icon={Trash2} onClick={() => setAsking(true)}>
          Purge now…
        </Button>
        <IconButton size="md" icon={X} label="Leave them in the Trash" onClick={() => changeUsage({ offer: null })} />
      </Bar>
      {asking ? <PurgeDialog branches={left} predictedBytes={predicted} onClose={() => setAsking(false)} /> : null}
    </>
  );
}

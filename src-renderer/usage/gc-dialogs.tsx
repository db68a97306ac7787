import { useState } from "react";
import { formatBytes } from "#shared/units.ts";
import type { GcReport } from "#shared/views.ts";
import { useApi } from "../api/queries.ts";
import { GcDialog } from "../dialogs/gc-dialog.tsx";
import { Bytes } from "../ui/figures.tsx";
import { formatCount } from "../ui/format.ts";
import { showToast } from "../ui/toasts.ts";
import { nameBranches } from "./usage-acts.ts";
import { measureAgain } from "./usage-measure.ts";
import { changeUsage, type TrashedBranch } from "./usage-state.ts";

/** "41.3 MiB freed, 41.9 MiB predicted": exact where the rounded figures hide a difference. */
export function compareBytes(freed: number, predicted: number): string {
  const [a, b] = [formatBytes(freed), formatBytes(predicted)];
  if (freed === predicted) return `${a} freed, as predicted`;
  if (a !== b) return `${a} freed, ${b} predicted`;
  return `${formatCount(freed)} bytes freed, ${formatCount(predicted)} predicted`;
}

/** Purges exactly these, and says what was really freed beside what was said before. */
export function PurgeDialog(props: {
  readonly branches: readonly TrashedBranch[];
  /** Of these branches alone; null when it is not known. */
  readonly predictedBytes: number | null;
  readonly onClose: () => void;
}) {
  const api = useApi();
  const { predictedBytes } = props;
  const [branches] = useState(props.branches);
  const [remove] = useState(() => ({ purge: branches.map(({ id }) => ({ kind: "branch" as const, id })) }));
  const names = nameBranches(branches);
  return (
    <GcDialog
      title={`Purge ${names} now?`}
      description={`${branches.length === 1 ? "It is" : "They are"} removed from the Trash for good. This cannot be undone. Everything else in the Trash stays.`}
      remove={remove}
      keepLabel="Keep in Trash"
      confirmLabel={() => "Purge for good"}
      busyLabel="Purging…"
      note={<PredictedPart names={names} predictedBytes={predictedBytes} />}
      onDone={(report, forecast) => {
        changeUsage({ offer: null });
        showToast({ text: `Purged ${names}: ${compareBytes(report.bytesFreed, forecast.bytesFreed)}`, tone: "plain" });
        void measureAgain(api);
      }}
      onClose={props.onClose}
    />
  );
}

/** Garbage that was there already goes with them, and is in the sum above. */
function PredictedPart({ names, predictedBytes }: { readonly names: string; readonly predictedBytes: number | null }) {
  if (predictedBytes === null) return null;
  return (
    <p className="text-xs text-ink-2">
      <Bytes value={predictedBytes} /> were predicted for {names}; what is above includes other garbage that is there.
    </p>
  );
}

const GARBAGE = {};
const freesNothing = (forecast: GcReport) => forecast.bytesFreed === 0 && forecast.purged.length === 0;

/** What nothing needs any more, and what in the trash is due. */
export function CollectDialog({ onClose }: { readonly onClose: () => void }) {
  const api = useApi();
  return (
    <GcDialog
      title="Collect garbage?"
      description="What no branch, checkpoint or undo needs any more is removed for good. The Trash is kept until its purge dates."
      remove={GARBAGE}
      keepLabel="Cancel"
      isPointless={freesNothing}
      confirmLabel={(forecast) => (freesNothing(forecast) ? "Nothing to free" : `Free ${formatBytes(forecast.bytesFreed)} for good`)}
      busyLabel="Collecting…"
      onDone={(report, forecast) => {
        showToast({ text: `Collected garbage: ${compareBytes(report.bytesFreed, forecast.bytesFreed)}`, tone: "plain" });
        void measureAgain(api);
      }}
      onClose={onClose}
    />
  );
}

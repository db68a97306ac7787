import { Trash2 } from "lucide-react";
import { useEffect, useRef } from "react";
import { formatBytes } from "#shared/units.ts";
import { useRun } from "../api/use-run.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { GcFacts } from "../ui/gc-facts.tsx";
import { RunningJob } from "../ui/running-job.tsx";
import { ErrorPanel } from "../ui/states.tsx";
import { showToast } from "../ui/toasts.ts";

/** One of the few acts that cannot be undone: so it shows its figures first and asks. */
export function EmptyTrashDialog({ onClose }: { readonly onClose: () => void }) {
  const forecast = useRun("store.gc");
  const purge = useRun("store.gc");
  const asked = useRef(false);
  useEffect(() => {
    if (asked.current) return;
    asked.current = true;
    void forecast.start({ dryRun: true, purgeAllTrash: true });
  }, [forecast]);
  const empty = async () => {
    const report = await purge.start({ dryRun: false, purgeAllTrash: true });
    if (!report) return;
    showToast({ text: `Emptied the trash: ${formatBytes(report.bytesFreed)} freed`, tone: "plain" });
    onClose();
  };
  const error = purge.error ?? forecast.error;
  return (
    <Dialog
      title="Empty the trash?"
      description="Everything in it is removed for good. This cannot be undone. Branches that are not in the trash are not touched."
      onClose={onClose}
      onSubmit={() => void empty()}
      footer={
        <>
          <Button onClick={onClose}>{purge.running ? "Close" : "Keep everything"}</Button>
          <Button type="submit" variant="danger" icon={Trash2} disabled={!forecast.result} busy={purge.running ? "Emptying…" : null}>
            Purge for good
          </Button>
        </>
      }
    >
      {forecast.result ? <GcFacts report={forecast.result} /> : null}
      {purge.running || forecast.running ? <RunningJob /> : null}
      {error ? (
        <ErrorPanel error={error} onRetry={forecast.result ? null : () => void forecast.start({ dryRun: true, purgeAllTrash: true })} />
      ) : null}
    </Dialog>
  );
}

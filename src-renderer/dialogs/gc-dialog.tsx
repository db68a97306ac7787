import { Trash2 } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";
import type { RequestInput } from "#shared/contract.ts";
import type { GcReport } from "#shared/views.ts";
import { useRun } from "../api/use-run.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { GcFacts } from "../ui/gc-facts.tsx";
import { RunningJob } from "../ui/running-job.tsx";
import { ErrorPanel } from "../ui/states.tsx";

interface GcDialogProps {
  readonly title: string;
  readonly description: string;
  /** What is removed beside garbage; keeps its identity while the dialog is open. */
  readonly remove: Omit<RequestInput<"store.gc">, "dryRun">;
  readonly keepLabel: string;
  readonly confirmLabel: (forecast: GcReport) => string;
  readonly busyLabel: string;
  /** Nothing would be removed: there is nothing to confirm. */
  readonly isPointless?: (forecast: GcReport) => boolean;
  /** Beneath the figures. */
  readonly note?: ReactNode;
  readonly onDone: (report: GcReport, forecast: GcReport) => void;
  readonly onClose: () => void;
}

/** One of the few acts that cannot be undone: so it shows its figures first and asks. */
export function GcDialog(props: GcDialogProps) {
  const { remove, isPointless, onClose } = props;
  const forecast = useRun("store.gc");
  const collection = useRun("store.gc");
  const asked = useRef(false);
  useEffect(() => {
    if (asked.current) return;
    asked.current = true;
    void forecast.start({ dryRun: true, ...remove });
  }, [forecast, remove]);
  const expected = forecast.result;
  const pointless = expected !== null && (isPointless?.(expected) ?? false);
  const collect = async () => {
    if (!expected || pointless) return;
    const report = await collection.start({ dryRun: false, ...remove });
    if (!report) return;
    props.onDone(report, expected);
    onClose();
  };
  const error = collection.error ?? forecast.error;
  return (
    <Dialog
      title={props.title}
      description={props.description}
      onClose={onClose}
      onSubmit={() => void collect()}
      footer={
        <>
          <Button onClick={onClose}>{collection.running ? "Close" : props.keepLabel}</Button>
          <Button
            type="submit"
            variant="danger"
            icon={Trash2}
            disabled={!expected || pointless}
            busy={collection.running ? props.busyLabel : null}
          >
            {expected ? props.confirmLabel(expected) : "Counting…"}
          </Button>
        </>
      }
    >
      {expected ? <GcFacts report={expected} /> : null}
      {expected ? props.note : null}
      {collection.running || forecast.running ? <RunningJob /> : null}
      {error ? <ErrorPanel error={error} onRetry={expected ? null : () => void forecast.start({ dryRun: true, ...remove })} /> : null}
    </Dialog>
  );
}

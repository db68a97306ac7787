import { Recycle, Scale } from "lucide-react";
import { formatBytes } from "#shared/units.ts";
import { useRun } from "../api/use-run.ts";
import { Button } from "../ui/button.tsx";
import { GcFacts } from "../ui/gc-facts.tsx";
import { Panel, RunState } from "./panel.tsx";

/** A forecast first; collecting is offered only with its figures on the screen, because it cannot be undone. */
export function GcPanel() {
  const forecast = useRun("store.gc");
  const collection = useRun("store.gc");
  const collect = async () => {
    if (await collection.start({ dryRun: false })) await forecast.start({ dryRun: true });
  };
  const active = collection.running || collection.error ? collection : forecast;
  return (
    <Panel
      title="Space"
      text="What no branch, checkpoint or undo needs any more can be removed. The trash is kept until its purge date."
      action={
        <Button
          icon={Scale}
          busy={forecast.running ? "Counting…" : null}
          disabled={collection.running}
          onClick={() => void forecast.start({ dryRun: true })}
        >
          What would be freed?
        </Button>
      }
    >
      {active.running || active.error ? (
        <RunState run={active} />
      ) : forecast.result ? (
        <>
          {collection.result ? <p className="text-xs text-ok">Freed {formatBytes(collection.result.bytesFreed)}. Now:</p> : null}
          <GcFacts report={forecast.result} />
          <Button
            icon={Recycle}
            variant="danger"
            className="self-start"
            disabled={forecast.result.bytesFreed === 0}
            onClick={() => void collect()}
          >
            {forecast.result.bytesFreed === 0 ? "Nothing to free" : `Free ${formatBytes(forecast.result.bytesFreed)} for good`}
          </Button>
        </>
      ) : null}
    </Panel>
  );
}

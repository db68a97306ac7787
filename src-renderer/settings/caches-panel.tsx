import { Eraser, Scale } from "lucide-react";
import { useState, type FormEvent } from "react";
import { LIMITS } from "#shared/limits.ts";
import { formatBytes, parseBytes } from "#shared/units.ts";
import type { CacheView } from "#shared/views.ts";
import { useRun, type Run } from "../api/use-run.ts";
import { Button } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";
import { formatCount } from "../ui/format.ts";
import { Panel, PlainTable, RunState } from "./panel.tsx";

/** What only saves time: what it takes, what it may take, and an end to it. */
export function CachesPanel() {
  const run = useRun("store.cache");
  return (
    <Panel
      title="Caches"
      text="Files that only save time. A working file comes from the ready ones in a moment. What is cleared is made again when it is needed."
      action={
        <Button icon={Scale} busy={run.running ? "Looking…" : null} onClick={() => void run.start({})}>
          What do they take?
        </Button>
      }
    >
      {run.error ? <RunState run={run} /> : run.result ? <Caches view={run.result} run={run} /> : null}
    </Panel>
  );
}

function Caches({ view, run }: { readonly view: CacheView; readonly run: Run<"store.cache"> }) {
  const total = view.caches.reduce((sum, { bytes }) => sum + bytes, 0);
  return (
    <>
      <PlainTable
        label="Caches"
        heads={["Cache", "Files", "Size"]}
        rows={view.caches.map(({ name, files, bytes }) => [name, formatCount(files), formatBytes(bytes)])}
      />
      {view.freedBytes > 0 ? <p className="text-xs text-ok">Freed {formatBytes(view.freedBytes)}.</p> : null}
      <BudgetForm view={view} run={run} />
      <Button icon={Eraser} className="self-start" disabled={total === 0 || run.running} onClick={() => void run.start({ clear: true })}>
        {total === 0 ? "Nothing to clear" : "Clear caches"}
      </Button>
    </>
  );
}

/** An empty field is the default. */
function BudgetForm({ view, run }: { readonly view: CacheView; readonly run: Run<"store.cache"> }) {
  const [text, setText] = useState(view.budgetIsDefault ? "" : formatBytes(view.budgetBytes));
  const bytes = text.trim() === "" ? null : parseBytes(text.trim());
  const problem = text.trim() !== "" && (bytes === null || bytes > LIMITS.readyBudgetMax);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!problem) void run.start({ budgetBytes: bytes });
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-center gap-2 text-xs">
      <label htmlFor="ready-budget" className="text-ink-2">
        Ready files may take
      </label>
      <TextInput
        id="ready-budget"
        value={text}
        invalid={problem}
        placeholder={view.budgetIsDefault ? formatBytes(view.budgetBytes) : "default"}
        trailing={text.trim() === "" ? "default" : null}
        boxClassName="w-40"
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" disabled={problem || run.running}>
        Set
      </Button>
      {problem ? (
        <span role="alert" className="text-bad">
          Write a size like 500 MiB or 2 GiB, or nothing for the default
        </span>
      ) : null}
    </form>
  );
}

import { useId, type ReactNode } from "react";
import type { Run } from "../api/use-run.ts";
import type { RequestName } from "#shared/contract.ts";
import { RunningJob } from "../ui/running-job.tsx";
import { ErrorPanel } from "../ui/states.tsx";

/** One group of settings: title, a sentence, an act at the right, and what there is to show. */
export function Panel({
  title,
  text,
  action,
  children,
}: {
  readonly title: string;
  readonly text: string;
  readonly action?: ReactNode;
  readonly children?: ReactNode;
}) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="rounded-lg border border-line">
      <header className="flex min-h-14 flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2.5">
        <div className="min-w-60 flex-1">
          <h2 id={id} className="font-semibold">
            {title}
          </h2>
          <p className="text-xs text-ink-2">{text}</p>
        </div>
        {action}
      </header>
      {children ? <div className="flex flex-col gap-3 border-t border-line px-4 py-3">{children}</div> : null}
    </section>
  );
}

/** Progress and failure of a check; shows nothing before the first run. */
export function RunState<K extends RequestName>({ run }: { readonly run: Run<K> }) {
  if (run.running) return <RunningJob />;
  return run.error ? <ErrorPanel error={run.error} /> : null;
}

/** A table of text: heads and rows of equal length. */
export function PlainTable({
  label,
  heads,
  rows,
}: {
  readonly label: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}) {
  return (
    <div className="max-h-90 overflow-auto rounded-md border border-line">
      <table aria-label={label} className="w-full border-collapse text-xs">
        <thead className="sticky top-0 bg-sunken text-2xs text-ink-3">
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col" className="h-row px-3 text-left font-medium">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.join("\n")} className="border-t border-line align-top">
              {row.map((cell, index) => (
                <td key={heads[index]} className="px-3 py-1.25 wrap-anywhere">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

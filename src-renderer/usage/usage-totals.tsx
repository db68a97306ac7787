import type { ReactNode } from "react";
import type { UsageView } from "#shared/usage-views.ts";
import { formatBytes } from "#shared/units.ts";
import { Bytes } from "../ui/figures.tsx";
import { formatCount, formatPlural } from "../ui/format.ts";
import { PARTS } from "./usage-parts.ts";

/** Even the smallest part can be seen, and pointed at. */
const PART_PX_MIN = 3;

function Total({ label, hint, children }: { readonly label: string; readonly hint: string; readonly children: ReactNode }) {
  return (
    <div className="flex items-baseline gap-1.5" title={hint}>
      <dt className="text-xs text-ink-3">{label}</dt>
      <dd className="text-md font-semibold">{children}</dd>
    </div>
  );
}

function describeAverage(view: UsageView): string {
  const count = formatPlural(view.rows.length, "branch", "branches");
  if (view.rows.length === 0) return "no branches";
  const unique = view.rows.reduce((sum, row) => sum + row.uniqueBytes, 0);
  return `${count}, ${formatBytes(Math.round(unique / view.rows.length))} unique${view.rows.length > 1 ? " each on average" : ""}`;
}

/** Three sums, and what the stored one consists of. */
export function UsageTotals({ view }: { readonly view: UsageView }) {
  const parts = view.parts.filter((part) => part.storedBytes > 0);
  return (
    <section aria-label="Totals" className="flex-none border-b border-line px-4 pt-3 pb-2.5">
      <dl className="mb-2.5 flex flex-wrap items-baseline gap-x-8 gap-y-1">
        <Total label="Logical" hint="What all branches would take as files of their own">
          <Bytes value={view.logicalBytes} />
        </Total>
        <Total
          label="Stored"
          hint={
            view.database === null ? "Sizes of all files in the store's folder" : "Sizes of this database's files in the store's folder"
          }
        >
          <Bytes value={view.storedBytes} />
        </Total>
        <Total label="Physical" hint="Blocks on the disk; a block that several files share is counted once">
          {view.physicalBytes === null ? (
            <span className="text-ink-3" title="The file system does not say which blocks files share">
              unknown
            </span>
          ) : (
            <Bytes value={view.physicalBytes} />
          )}
        </Total>
        <span className="ml-auto text-xs text-ink-3 tabular-nums">{describeAverage(view)}</span>
      </dl>
      <div aria-hidden className="flex h-4 gap-px overflow-hidden rounded-sm">
        {parts.map((part) => (
          <span
            key={part.name}
            title={`${PARTS[part.name].long}: ${formatCount(part.storedBytes)} bytes`}
            style={{ flex: `${part.storedBytes} 0 0`, minWidth: PART_PX_MIN, background: PARTS[part.name].color }}
          />
        ))}
      </div>
      <ul className="mt-2 flex flex-wrap gap-x-6 gap-y-0.5 text-xs text-ink-2">
        {parts.map((part) => (
          <li key={part.name} title={PARTS[part.name].hint} className="flex items-center gap-1.5 whitespace-nowrap">
            <Swatch color={PARTS[part.name].color} />
            {PARTS[part.name].short} <Bytes value={part.storedBytes} className="font-medium text-ink" />
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Swatch({ color }: { readonly color: string }) {
  return <span aria-hidden className="size-2 flex-none rounded-[2px]" style={{ background: color }} />;
}

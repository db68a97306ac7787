import { Fragment } from "react";
import type { CacheUsage, UsagePart, UsagePartName, UsageView } from "#shared/usage-views.ts";
import { formatCount, formatPlural } from "../ui/format.ts";
import { describeCount, PARTS } from "./usage-parts.ts";
import { Swatch } from "./usage-totals.tsx";

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;
const COLUMNS = "grid-cols-[8px_minmax(0,1fr)_100px_48px_52px] gap-x-2 px-4";

/** One unit for the whole table, so that its figures can be added up by eye: that of the total. */
export function chooseUnit(totalBytes: number): { readonly name: string; readonly bytes: number } {
  const step = totalBytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(totalBytes) / 10), UNITS.length - 1);
  return { name: UNITS[step] ?? "bytes", bytes: 1024 ** step };
}

/** "48.9"; "< 0.1" for what is there and would be called nothing. */
export function formatIn(bytes: number, unitBytes: number): string {
  if (unitBytes === 1) return formatCount(bytes);
  const value = bytes / unitBytes;
  if (bytes > 0 && value < 0.05) return "< 0.1";
  return value.toLocaleString(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

function Amount({ value, unit, className }: { readonly value: number | null; readonly unit: number; readonly className?: string }) {
  return (
    <td
      title={value === null ? "The file system does not say which blocks files share" : `${formatCount(value)} bytes`}
      className={`text-right tabular-nums ${className ?? ""}`}
    >
      {value === null ? <span className="text-ink-3">unknown</span> : formatIn(value, unit)}
    </td>
  );
}

function describePhysical(view: UsageView): string {
  const { storedBytes, physicalBytes } = view;
  const others = view.database === null ? "" : " Catalog, temporary and kept files belong to all databases: see Whole store.";
  if (physicalBytes === null) return `The file system does not say what is on the disk.${others}`;
  if (physicalBytes < storedBytes) return `Physical is below stored: reflinked ranges and holes are counted once.${others}`;
  if (physicalBytes > storedBytes) return `Physical is above stored: files take whole blocks of the disk.${others}`;
  return others.trim();
}

/** Of these a database has none by itself. */
const COMMON: ReadonlySet<UsagePartName> = new Set(["temporary", "kept", "catalog"]);

/** Every byte is in one line, and the lines add up to the total. */
export function ReconcileTable({ view }: { readonly view: UsageView }) {
  const unit = chooseUnit(Math.max(view.storedBytes, view.physicalBytes ?? 0));
  const note = describePhysical(view);
  const parts = view.parts.filter((part) => view.database === null || part.storedBytes > 0 || !COMMON.has(part.name));
  return (
    <section aria-label="Reconciles to the total" className="flex-none pb-2 text-xs">
      <table className="block w-full">
        <thead className="block">
          <tr className={`grid h-row items-center border-y border-line bg-surface text-2xs font-medium text-ink-3 ${COLUMNS}`}>
            <td />
            <th scope="col" className="name-cut text-left font-medium">
              Reconciles to the total, {unit.name}
            </th>
            <th scope="col" className="text-right font-medium">
              Count
            </th>
            <th scope="col" className="text-right font-medium">
              Stored
            </th>
            <th scope="col" className="text-right font-medium">
              Physical
            </th>
          </tr>
        </thead>
        <tbody className="block pt-0.5">
          {parts.map((part) => (
            <Fragment key={part.name}>
              <PartRow part={part} unit={unit.bytes} />
              {part.name === "caches" && part.storedBytes > 0
                ? view.caches
                    .filter((cache) => cache.bytes > 0)
                    .map((cache) => <CacheRow key={cache.name} cache={cache} unit={unit.bytes} />)
                : null}
            </Fragment>
          ))}
        </tbody>
        <tfoot className="block">
          <tr className={`grid h-row items-center border-t border-line-strong font-semibold ${COLUMNS}`}>
            <td />
            <th scope="row" className="name-cut text-left font-semibold">
              Total in {view.database ?? "the store"}
            </th>
            <td />
            <Amount value={view.storedBytes} unit={unit.bytes} />
            <Amount value={view.physicalBytes} unit={unit.bytes} />
          </tr>
        </tfoot>
      </table>
      {note === "" ? null : <p className="px-4 pt-0.5 leading-4 text-ink-3">{note}</p>}
    </section>
  );
}

function PartRow({ part, unit }: { readonly part: UsagePart; readonly unit: number }) {
  const words = PARTS[part.name];
  return (
    <tr className={`grid h-6 items-center ${COLUMNS} ${part.storedBytes === 0 ? "text-ink-3" : ""}`}>
      <td className="flex">
        <Swatch color={words.color} />
      </td>
      <th scope="row" title={words.hint} className="name-cut text-left font-normal">
        {words.long}
      </th>
      <td className="name-cut text-right text-ink-3 tabular-nums">{describeCount(part)}</td>
      <Amount value={part.storedBytes} unit={unit} />
      <Amount value={part.physicalBytes} unit={unit} className="text-ink-2" />
    </tr>
  );
}

/** Of the line above it: not in the sum once more. */
function CacheRow({ cache, unit }: { readonly cache: CacheUsage; readonly unit: number }) {
  return (
    <tr className={`grid h-5 items-center text-2xs text-ink-3 ${COLUMNS}`}>
      <td />
      <th scope="row" className="name-cut pl-2.5 text-left font-normal">
        of which {cache.name}
      </th>
      <td className="name-cut text-right tabular-nums">{formatPlural(cache.files, "file")}</td>
      <Amount value={cache.bytes} unit={unit} />
      <td />
    </tr>
  );
}

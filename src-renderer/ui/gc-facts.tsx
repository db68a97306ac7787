import type { GcReport } from "#shared/views.ts";
import { Facts } from "./facts.tsx";
import { Bytes } from "./figures.tsx";
import { formatCount } from "./format.ts";

/** What a collection would remove, or has removed. */
export function GcFacts({ report }: { readonly report: GcReport }) {
  const { purged } = report;
  return (
    <Facts
      className="grid-cols-[168px_minmax(0,1fr)]!"
      facts={[
        { label: report.dryRun ? "Would free" : "Freed", value: <Bytes value={report.bytesFreed} className="font-medium" /> },
        {
          label: "Purged",
          value: purged.length > 0 ? `${formatCount(purged.length)}: ${purged.slice(0, 20).join(", ")}` : "none",
          title: purged.slice(0, 200).join("\n"),
        },
        { label: "Versions removed", value: formatCount(report.versionsRemoved) },
        { label: "Segments removed", value: formatCount(report.segmentsRemoved) },
        { label: "Working files removed", value: formatCount(report.checkoutsRemoved) },
        { label: "Left-over files removed", value: formatCount(report.orphanFilesRemoved) },
        {
          label: "Can no longer be undone",
          value: report.strandedOperations.length > 0 ? `${formatCount(report.strandedOperations.length)} operations` : "nothing",
        },
      ]}
    />
  );
}

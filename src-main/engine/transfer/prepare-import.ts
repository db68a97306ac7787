/**
 * Import: a trusted copy first (`copy-source.ts`, where no SQLite connection is on the source), then everything else on
 * the copy: recovery, checks, report. The caller stores the pages of the copy (`FilePages`) and removes it.
 */
import type { ImportReport } from "#shared/views.ts";
import type { JournalKind } from "../format/sqlite-header.ts";
import type { Disk } from "../io/disk.ts";
import { reach } from "../io/faults.ts";
import { removeCopy, type CopyRequest, type SourceCopy } from "./copy-source.ts";
import { inspectCopy } from "./inspect-copy.ts";
import type { PhasedWork } from "./long-work.ts";
import { recoverCopy } from "./recover-copy.ts";
import type { Work } from "../segments/page-source.ts";

export interface PreparedImport {
  /** One file without side files, for `FilePages`. */
  readonly copy: string;
  readonly report: ImportReport;
  /** What an export gives back. */
  readonly journal: JournalKind;
}

/** `copySource`, in this process or in another one. */
export type CopyElsewhere = (request: CopyRequest, work: Work) => Promise<SourceCopy>;

/** Throws what `copySource`, `recoverCopy` and `inspectCopy` throw; nothing is left at `request.into` then. */
export async function prepareImport(
  disk: Disk,
  copySource: CopyElsewhere,
  request: CopyRequest,
  work: PhasedWork,
): Promise<PreparedImport> {
  work.phase?.("Copying");
  const source = await copySource(request, work);
  try {
    reach("import:copied");
    const recovered = recoverCopy(disk, request.into, request.file);
    const report = await inspectCopy(request.into, source, recovered, work);
    return { copy: request.into, report, journal: recovered.header.journal };
  } catch (error) {
    removeCopy(disk, request.into);
    throw error;
  }
}

/** The import report alone; nothing is left at `request.into`. */
export async function inspectSource(disk: Disk, copySource: CopyElsewhere, request: CopyRequest, work: PhasedWork): Promise<ImportReport> {
  const { copy, report } = await prepareImport(disk, copySource, request, work);
  removeCopy(disk, copy);
  return report;
}

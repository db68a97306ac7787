/** What the import report says about the file itself: its header, its side files and who else uses it. */
import { formatBytes } from "#shared/units.ts";
import type { ImportNote } from "#shared/views.ts";
import { holdersText } from "./source-files.ts";
import type { RecoveredCopy } from "./recover-copy.ts";
import type { SourceCopy } from "./copy-source.ts";

export function fileNotes(source: SourceCopy, copy: RecoveredCopy): ImportNote[] {
  return [
    headerNote(source, copy),
    ...sizeNotes(copy),
    ...nameNotes(source),
    ...walNotes(source),
    ...journalNotes(source),
    encodingNote(copy),
    journalModeNote(copy),
    ...settingNotes(copy),
    ...stillnessNotes(source),
    holdersNote(source),
  ];
}

export function ok(check: string, found: string, action = "–"): ImportNote {
  return { severity: "ok", check, found, action };
}
export function note(check: string, found: string, action: string): ImportNote {
  return { severity: "note", check, found, action };
}
export function warning(check: string, found: string, action: string): ImportNote {
  return { severity: "warning", check, found, action };
}

/** 59240 → "59,240". */
export function grouped(value: number | bigint): string {
  return value.toLocaleString("en");
}

/** (1, "table") → "1 table", (14, "index", "indexes") → "14 indexes". */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${grouped(value)} ${value === 1 ? one : many}`;
}

function headerNote(source: SourceCopy, copy: RecoveredCopy): ImportNote {
  if (copy.wasEmpty)
    return note(
      "SQLite header",
      `No header: ${counted(source.bytes, "byte")}, which SQLite takes for an empty database`,
      "Stored as an empty database of one page",
    );
  const reserved = copy.header.reservedBytes > 0 ? `, ${copy.header.reservedBytes} bytes of each page reserved` : "";
  return ok(
    "SQLite header",
    `Format ${copy.header.schemaFormat === 0 ? "of an empty database" : copy.header.schemaFormat}, page size ${grouped(copy.header.pageSize)}, ${counted(copy.pageCount, "page")}${reserved}`,
    "Kept",
  );
}

function sizeNotes(copy: RecoveredCopy): ImportNote[] {
  const notes: ImportNote[] = [];
  if (copy.trailingBytes > 0)
    notes.push(note("Size", `${counted(copy.trailingBytes, "byte")} behind the last page`, "Left out: SQLite never reads them"));
  if (copy.countRepaired)
    notes.push(
      note(
        "Page count",
        "The header's count is out of date, as SQLite before 3.7 left it",
        "Set from the file's size, as SQLite does when it writes",
      ),
    );
  return notes;
}

function nameNotes(source: SourceCopy): ImportNote[] {
  const notes: ImportNote[] = [];
  if (source.realPath !== source.source) notes.push(ok("Symbolic link", `Leads to ${source.realPath}`, "That file was copied"));
  if (source.links > 1)
    notes.push(warning("Hard links", `The file has ${source.links} names`, "Side files were looked for beside this name only"));
  return notes;
}

function walNotes(source: SourceCopy): ImportNote[] {
  const { wal } = source;
  if (!wal || wal.frames + wal.unfinishedFrames === 0) return [];
  const inUse = source.holders.length > 0;
  const unfinished = wal.unfinishedFrames > 0;
  const found = `${counted(wal.frames, "frame")}, ${counted(wal.transactions, "committed transaction")}${unfinished ? `; last ${counted(wal.unfinishedFrames, "frame")} incomplete` : ""}`;
  const action = `${wal.transactions > 0 ? `${grouped(wal.transactions)} applied to the copy` : "Nothing to apply"}${unfinished ? `, ${counted(wal.unfinishedFrames, "frame")} ignored as SQLite would` : ""}`;
  if (inUse) return [note("WAL in use", found, action)];
  return [unfinished ? warning("Left-over WAL", found, action) : note("Left-over WAL", found, action)];
}

function journalNotes(source: SourceCopy): ImportNote[] {
  const { journal } = source;
  if (!journal) return [];
  const size = formatBytes(journal.bytes);
  if (source.holders.some((holder) => holder.access === "writing"))
    return [note("Rollback journal", `${size}, of a transaction in progress`, "Its changes are left out: they are not committed")];
  if (journal.rollBackBytes === 0) return [ok("Rollback journal", `${size}, of a finished transaction`, "Ignored, as SQLite would")];
  return [warning("Hot journal", `${size}, of a transaction that was never finished`, "Rolled back in the copy, as SQLite would")];
}

function encodingNote(copy: RecoveredCopy): ImportNote {
  return copy.header.encoding === "UTF-8" ? ok("Text encoding", "UTF-8", "Kept") : note("Text encoding", copy.header.encoding, "Kept");
}

function journalModeNote(copy: RecoveredCopy): ImportNote {
  return ok("Journal mode", copy.header.journal === "wal" ? "WAL" : "Rollback journal", "Checkouts use WAL; restored on export");
}

function settingNotes(copy: RecoveredCopy): ImportNote[] {
  const { header } = copy;
  const notes: ImportNote[] = [];
  if (header.autoVacuum !== "none") notes.push(ok("Auto vacuum", header.autoVacuum, "Kept"));
  const stamps = [
    header.applicationId === 0 ? "" : `application_id 0x${(header.applicationId >>> 0).toString(16).padStart(8, "0")}`,
    header.userVersion === 0 ? "" : `user_version ${header.userVersion}`,
  ].filter(Boolean);
  if (stamps.length > 0) notes.push(ok("Application", stamps.join(", "), "Kept"));
  return notes;
}

function stillnessNotes(source: SourceCopy): ImportNote[] {
  if (source.stillness === "locked") return [];
  return [
    note(
      "Locks",
      "This system has no locks that leave other programs alone",
      "Copied without a lock, and compared before and after instead",
    ),
  ];
}

function holdersNote(source: SourceCopy): ImportNote {
  if (source.holders.length === 0) return ok("Other programs", "None hold the file");
  return note("Other programs", holdersText(source.holders), "Copied as of their last commit");
}

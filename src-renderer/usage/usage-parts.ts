/** Words and colours of what a store's bytes are for. A colour never stands alone: its name is beside it. */
import type { UsagePart, UsagePartName } from "#shared/usage-views.ts";
import { formatPlural } from "../ui/format.ts";

interface PartWords {
  /** In the legend and on the picture. */
  readonly short: string;
  /** In the table. */
  readonly long: string;
  readonly hint: string;
  readonly color: string;
}

export const PARTS: Readonly<Record<UsagePartName, PartWords>> = {
  unique: {
    short: "Unique",
    long: "Unique to one branch",
    hint: "Stored pages that one branch needs and nothing else: freed when it goes",
    color: "var(--bytes-unique)",
  },
  shared: {
    short: "Shared",
    long: "Shared by two or more",
    hint: "Stored pages that several branches need: freed when the last of them goes",
    color: "var(--bytes-shared)",
  },
  history: {
    short: "History only",
    long: "History, no live branch",
    hint: "Stored pages that are kept so that operations of the last seven days can be undone",
    color: "var(--lane-7)",
  },
  trash: {
    short: "Trash",
    long: "Trash",
    hint: "Stored pages that only branches in the trash need: freed when they are purged",
    color: "var(--bytes-trash)",
  },
  garbage: {
    short: "Pending GC",
    long: "Pending GC",
    hint: "Nothing needs these any more: the next collection frees them",
    color: "var(--lane-6)",
  },
  files: {
    short: "Files",
    long: "Files of branches",
    hint: "The working files of branches, with their WAL",
    color: "color-mix(in srgb, var(--lane-3) 60%, var(--line-strong))",
  },
  caches: {
    short: "Caches",
    long: "Caches",
    hint: "Files that only save time, and can be made again",
    color: "var(--bytes-cache)",
  },
  temporary: {
    short: "Temporary",
    long: "Temporary files",
    hint: "What is being made at this moment, or was when a program ended",
    color: "var(--lane-4)",
  },
  kept: {
    short: "Kept aside",
    long: "Kept aside, benchmarks",
    hint: "What was put aside and is never deleted by itself, and runs of benchmarks",
    color: "var(--lane-5)",
  },
  catalog: {
    short: "Catalog",
    long: "Catalog and overhead",
    hint: "The catalog with its log of operations, locks and settings",
    color: "var(--ink-3)",
  },
};

const UNITS: Readonly<Record<UsagePart["unit"], readonly [string, string]>> = {
  branches: ["branch", "branches"],
  versions: ["version", "versions"],
  segments: ["segment", "segments"],
  files: ["file", "files"],
};

/** "46 versions". */
export function describeCount({ count, unit }: Pick<UsagePart, "count" | "unit">): string {
  return formatPlural(count, ...UNITS[unit]);
}

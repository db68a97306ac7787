/**
 * Lines of the table of branches: those in a folder, and those of one parent that differ only in a number, stand as one
 * line until it is opened; a branch opens to its checkpoints. Pure, and linear but for sorting.
 */
import type { CheckpointUsageRow, UsageRow, UsageView } from "#shared/usage-views.ts";
import { BUNDLE_MIN, bundlePrefix, folderOf } from "../branches/rows.ts";
import { formatPlural } from "../ui/format.ts";
import type { CheckpointCosts } from "./usage-checkpoints.ts";
import { NONE, usageKey, type UsageColumn, type UsageSort } from "./usage-state.ts";

/** A folder with more branches than this is one line. */
const FOLDER_MIN = 10;

/** What a line says in figures. Of several branches: sums, but for what they share, of which it is the largest. */
export interface LineFigures {
  readonly uniqueBytes: number;
  readonly sharedBytes: number;
  readonly logicalBytes: number;
  readonly fileBytes: number;
}

interface LineBase {
  /** Stays the same while what it stands for exists. */
  readonly key: string;
  readonly level: number;
  readonly expandable: boolean;
  readonly expanded: boolean;
  readonly parentKey: string | null;
}
export type BranchLine = LineBase & { readonly kind: "branch"; readonly row: UsageRow };
export type GroupLine = LineBase &
  LineFigures & {
    readonly kind: "bundle" | "folder";
    readonly database: string;
    /** "attempt-" or "agent/2026-11-30/". */
    readonly prefix: string;
    readonly members: readonly UsageRow[];
    /** Of the members. */
    readonly keys: readonly string[];
  };
export type CheckpointLine = LineBase & { readonly kind: "checkpoint"; readonly checkpoint: CheckpointUsageRow };
/** What there is to say instead of checkpoints. */
export type NoteLine = LineBase & { readonly kind: "note"; readonly row: UsageRow; readonly costs: CheckpointCosts | null };
export type UsageLine = BranchLine | GroupLine | CheckpointLine | NoteLine;
/** Lines that can be selected. */
export type Entry = BranchLine | GroupLine;

interface LineOptions {
  readonly sort: UsageSort;
  readonly expanded: ReadonlySet<string>;
  readonly checkpoints: ReadonlyMap<string, CheckpointCosts>;
}

const NAMES = new Intl.Collator("en", { numeric: true });

export function nameOf(entry: Entry): string {
  return entry.kind === "branch" ? entry.row.branch : entry.prefix;
}

export function databaseOf(entry: Entry): string {
  return entry.kind === "branch" ? entry.row.database : entry.database;
}

export function figuresOf(entry: Entry): LineFigures {
  return entry.kind === "branch" ? entry.row : entry;
}

export function isEntry(line: UsageLine): line is Entry {
  return line.kind === "branch" || line.kind === "bundle" || line.kind === "folder";
}

/** Only then a branch's name is not enough to tell it from others. */
export function holdsSeveralDatabases({ rows }: Pick<UsageView, "rows">): boolean {
  return rows.some((row) => row.database !== rows[0]?.database);
}

/** Keys of the branches that a line stands for. */
export function keysOfLine(line: UsageLine): readonly string[] {
  if (line.kind === "branch") return [usageKey(line.row)];
  return isEntry(line) ? line.keys : [];
}

const COMPARE: Readonly<Record<UsageColumn, (a: Entry, b: Entry) => number>> = {
  name: (a, b) => NAMES.compare(nameOf(a), nameOf(b)),
  unique: (a, b) => figuresOf(a).uniqueBytes - figuresOf(b).uniqueBytes,
  shared: (a, b) => figuresOf(a).sharedBytes - figuresOf(b).sharedBytes,
  logical: (a, b) => figuresOf(a).logicalBytes - figuresOf(b).logicalBytes,
  file: (a, b) => figuresOf(a).fileBytes - figuresOf(b).fileBytes,
};

function sortEntries<T extends Entry>(entries: readonly T[], { column, descending }: UsageSort): T[] {
  const order = COMPARE[column];
  return entries.toSorted(
    (a, b) =>
      (descending ? order(b, a) : order(a, b)) || NAMES.compare(nameOf(a), nameOf(b)) || NAMES.compare(databaseOf(a), databaseOf(b)),
  );
}

/** In the order of the table, with no groups. */
export function sortRows(rows: readonly UsageRow[], sort: UsageSort): readonly UsageRow[] {
  return sortEntries(
    rows.map((row) => branchLine(row, 1, null, NONE)),
    sort,
  ).map((line) => line.row);
}

/** Words that all must be in the name; `*` stands for anything, and then the whole name is meant. */
export function filterRows(rows: readonly UsageRow[], filter: string): readonly UsageRow[] {
  const tests = filter
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      if (!word.includes("*")) return (name: string) => name.includes(word);
      const parts = word.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
      const whole = new RegExp(`^${parts.join(".*")}$`);
      return (name: string) => whole.test(name);
    });
  return tests.length === 0 ? rows : rows.filter((row) => tests.every((test) => test(row.branch) || test(usageKey(row))));
}

function branchLine(row: UsageRow, level: number, parentKey: string | null, expanded: ReadonlySet<string>): BranchLine {
  const key = `b${usageKey(row)}`;
  return { kind: "branch", key, level, expandable: true, expanded: expanded.has(key), parentKey, row };
}

function groupLine(kind: GroupLine["kind"], prefix: string, members: readonly UsageRow[], expanded: ReadonlySet<string>): GroupLine {
  const [first] = members;
  const database = first?.database ?? "";
  const key = kind === "folder" ? `f${database}@${prefix}` : `u${database}@${first?.sharedWith.branch ?? ""}:${prefix}`;
  const figures = { uniqueBytes: 0, sharedBytes: 0, logicalBytes: 0, fileBytes: 0 };
  for (const row of members) {
    figures.uniqueBytes += row.uniqueBytes;
    figures.sharedBytes = Math.max(figures.sharedBytes, row.sharedBytes);
    figures.logicalBytes += row.logicalBytes;
    figures.fileBytes += row.fileBytes;
  }
  const line: LineBase = { key, level: 1, expandable: true, expanded: expanded.has(key), parentKey: null };
  return { kind, ...line, database, prefix, members, keys: members.map(usageKey), ...figures };
}

/** Branches and groups of the first level, in no order. */
export function groupRows(rows: readonly UsageRow[], expanded: ReadonlySet<string>): readonly Entry[] {
  const inFolders = Map.groupBy(rows, (row) => {
    const folder = folderOf(row.branch);
    return folder === "" ? "" : `${row.database}@${folder}`;
  });
  const entries: Entry[] = [];
  const loose: UsageRow[] = [];
  for (const [folder, members] of inFolders) {
    const first = members[0];
    if (folder !== "" && first && members.length > FOLDER_MIN) entries.push(groupLine("folder", folderOf(first.branch), members, expanded));
    else for (const row of members) loose.push(row);
  }
  const families = Map.groupBy(loose, (row) => `${row.database}@${row.sharedWith.branch ?? ""}:${bundlePrefix(row.branch)}`);
  for (const members of families.values()) {
    const first = members[0];
    if (first && members.length > BUNDLE_MIN) entries.push(groupLine("bundle", bundlePrefix(first.branch), members, expanded));
    else for (const row of members) entries.push(branchLine(row, 1, null, expanded));
  }
  return entries;
}

/** `rows` are those that the filter lets through. */
export function buildLines(rows: readonly UsageRow[], { sort, expanded, checkpoints }: LineOptions): readonly UsageLine[] {
  const lines: UsageLine[] = [];
  const addBranch = (line: BranchLine) => {
    lines.push(line);
    if (!line.expanded) return;
    const shared = { level: line.level + 1, expandable: false, expanded: false, parentKey: line.key } as const;
    const costs = checkpoints.get(usageKey(line.row)) ?? null;
    if (!costs || costs.checkpoints.length === 0) {
      lines.push({ kind: "note", key: `n${line.key}`, row: line.row, costs, ...shared });
      return;
    }
    for (const checkpoint of costs.checkpoints) {
      lines.push({ kind: "checkpoint", key: `c${line.key}:${checkpoint.version}:${checkpoint.name}`, checkpoint, ...shared });
    }
  };
  for (const entry of sortEntries(groupRows(rows, expanded), sort)) {
    if (entry.kind === "branch") addBranch(entry);
    else {
      lines.push(entry);
      if (!entry.expanded) continue;
      const members = entry.members.map((row) => branchLine(row, 2, entry.key, expanded));
      for (const line of sortEntries(members, sort)) addBranch(line);
    }
  }
  return lines;
}

/** Keys of all branches from one line to another, both included; those of the second alone when the first is gone. */
export function keysBetween(lines: readonly UsageLine[], fromKey: string | null, toKey: string): ReadonlySet<string> {
  const to = lines.findIndex((line) => line.key === toKey);
  const from = lines.findIndex((line) => line.key === fromKey);
  const start = from < 0 ? to : Math.min(from, to);
  const between = to < 0 ? [] : lines.slice(start, Math.max(from, to) + 1);
  return new Set(between.flatMap(keysOfLine));
}

/** "main, 514 others"; "–" when nothing else needs a byte of it. */
export function describeSharedWith(entry: Entry): string {
  if (entry.kind !== "branch") {
    const parents = new Set(entry.members.map((row) => row.sharedWith.branch));
    const [only] = parents;
    return parents.size === 1 ? (only ?? "–") : `${parents.size} branches`;
  }
  const { branch, others } = entry.row.sharedWith;
  if (branch === null) return "–";
  return others > 0 ? `${branch}, ${formatPlural(others, "other")}` : branch;
}

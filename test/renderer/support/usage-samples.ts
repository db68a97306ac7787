/** A measured store to look at, as large as asked for. */
import type { RequestInput } from "#shared/contract.ts";
import type { UsagePart, UsageRow, UsageView } from "#shared/usage-views.ts";
import type { GcReport } from "#shared/views.ts";
import type { FakeHandlers } from "./fake-api.ts";

const MIB = 1024 ** 2;
const KIB = 1024;

export function usageRow(branch: string, rest: Partial<UsageRow> = {}): UsageRow {
  return {
    database: "shop",
    branch,
    isProtected: false,
    logicalBytes: 231 * MIB,
    uniqueBytes: 0,
    sharedBytes: 212 * MIB,
    sharedWith: { branch: "main", others: 0 },
    fileBytes: 0,
    ...rest,
  };
}

/** A few branches by name, and as many numbered ones as asked for. */
export function usageRows(attempts = 0): UsageRow[] {
  return [
    usageRow("main", {
      uniqueBytes: 38 * MIB,
      sharedBytes: 174 * MIB,
      sharedWith: { branch: "try-split", others: 5 },
      fileBytes: 231 * MIB,
    }),
    usageRow("load-test", { uniqueBytes: 31 * MIB, sharedBytes: 195 * MIB }),
    usageRow("try-split", { uniqueBytes: 12 * MIB, sharedWith: { branch: "main", others: 514 }, fileBytes: 4 * MIB }),
    usageRow("try-cents", { uniqueBytes: 6 * MIB }),
    usageRow("fix/tax-rounding", { uniqueBytes: 1 * MIB }),
    usageRow("staging-copy", { uniqueBytes: 604 * KIB, isProtected: true }),
    usageRow("qa/empty-cart"),
    ...Array.from({ length: attempts }, (_, index) =>
      usageRow(`attempt-${String(index + 1).padStart(5, "0")}`, {
        uniqueBytes: 4 * KIB,
        sharedBytes: 189 * MIB,
        sharedWith: { branch: "try-split", others: attempts },
      }),
    ),
  ];
}

const PARTS: readonly UsagePart[] = [
  { name: "unique", count: 0, unit: "branches", storedBytes: 0, physicalBytes: 0 },
  { name: "shared", count: 3, unit: "segments", storedBytes: 237 * MIB, physicalBytes: 168 * MIB },
  { name: "history", count: 46, unit: "versions", storedBytes: 48 * MIB, physicalBytes: 36 * MIB },
  { name: "trash", count: 9, unit: "branches", storedBytes: 61 * MIB, physicalBytes: 42 * MIB },
  { name: "garbage", count: 212, unit: "segments", storedBytes: 12 * MIB, physicalBytes: 8 * MIB },
  { name: "files", count: 2, unit: "files", storedBytes: 235 * MIB, physicalBytes: 4 * MIB },
  { name: "caches", count: 31, unit: "files", storedBytes: 22 * MIB, physicalBytes: 6 * MIB },
  { name: "temporary", count: 0, unit: "files", storedBytes: 0, physicalBytes: 0 },
  { name: "kept", count: 1, unit: "files", storedBytes: 20 * KIB, physicalBytes: 20 * KIB },
  { name: "catalog", count: 3, unit: "files", storedBytes: 7 * MIB, physicalBytes: 7 * MIB },
];

/** Sums are those of the rows and parts. */
export function usageView(rows: readonly UsageRow[] = usageRows(), rest: Partial<UsageView> = {}): UsageView {
  const unique = rows.reduce((sum, row) => sum + row.uniqueBytes, 0);
  const parts = PARTS.map((part) =>
    part.name === "unique" ? { ...part, count: rows.length, storedBytes: unique, physicalBytes: Math.round(unique * 0.8) } : part,
  );
  return {
    database: "shop",
    measuredAt: Date.now(),
    logicalBytes: rows.reduce((sum, row) => sum + row.logicalBytes, 0),
    storedBytes: parts.reduce((sum, part) => sum + part.storedBytes, 0),
    physicalBytes: parts.reduce((sum, part) => sum + (part.physicalBytes ?? 0), 0),
    parts,
    caches: [
      { name: "ready files", files: 2, bytes: 20 * MIB },
      { name: "read-only files", files: 29, bytes: 2 * MIB },
      { name: "shadows", files: 0, bytes: 0 },
    ],
    rows: rows.toSorted((a, b) => b.uniqueBytes - a.uniqueBytes),
    ...rest,
  };
}

export function gcReport(rest: Partial<GcReport> = {}): GcReport {
  return {
    dryRun: true,
    purged: [],
    versionsRemoved: 2,
    segmentsRemoved: 2,
    checkoutsRemoved: 0,
    orphanFilesRemoved: 0,
    bytesFreed: 43 * MIB,
    strandedOperations: [],
    ...rest,
  };
}

/** What going together frees beyond each one's own. */
const AMONG_BYTES = 2 * MIB;

export function usageHandlers(rows: readonly UsageRow[] = usageRows()): FakeHandlers {
  return {
    "usage.store": ({ database }) => usageView(rows, { database: database ?? null }),
    "usage.branch": ({ branch }) => ({
      row: rows.find((row) => row.branch === branch) ?? usageRow(branch),
      checkpoints: [
        { name: "split-ready", version: 219, uniqueBytes: 3 * MIB, sharedBytes: 200 * MIB },
        { name: "after-ddl", version: 215, uniqueBytes: 0, sharedBytes: 198 * MIB },
      ],
    }),
    "usage.free": ({ branches }: RequestInput<"usage.free">) => {
      const going = rows.filter((row) => branches.some((each) => each.branch === row.branch && each.database === row.database));
      const uniqueBytes = going.reduce((sum, row) => sum + row.uniqueBytes, 0);
      const fileBytes = going.reduce((sum, row) => sum + row.fileBytes, 0);
      const amongThemBytes = going.length > 1 ? AMONG_BYTES : 0;
      const segmentBytes = uniqueBytes + amongThemBytes;
      return { bytes: segmentBytes + fileBytes, segmentBytes, fileBytes, readyBytes: 0, uniqueBytes, amongThemBytes, protected: [] };
    },
    "store.gc": ({ dryRun }) => gcReport({ dryRun }),
  };
}

/** Example views for tests and pictures; every field can be overridden. */
import type { ChangeCountsView } from "#shared/diff-views.ts";
import type { BranchView, DatabaseView, HistoryRow, ImportReport, JobView, OperationView, StoreView, TrashView } from "#shared/views.ts";

export const NOW = Date.UTC(2026, 10, 30, 12, 0, 0);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export function storeView(rest: Partial<StoreView> = {}): StoreView {
  const base = {
    spec: "/home/you/data/shop.coppice",
    path: "/home/you/data/shop.coppice",
    uid: "5f0c9a7d21b84e6c9d3a1b2c3d4e5f60",
    formatVersion: 1,
  };
  return {
    ...base,
    createdAt: NOW - 40 * 24 * HOUR,
    databases: 3,
    branches: 587,
    trashed: 3,
    lastOperation: 48_211,
    durableAt: NOW - 3_000,
    warnings: [],
    ...rest,
  };
}

export function databaseView(rest: Partial<DatabaseView> = {}): DatabaseView {
  return {
    name: "shop",
    uid: "d1",
    createdAt: NOW - 40 * 24 * HOUR,
    branches: 587,
    versions: 222,
    pageSize: 4096,
    pageCount: 59_240,
    storedBytes: 187 * 1024 ** 2,
    source: "/home/you/shop.db",
    ...rest,
  };
}

export function branchView(rest: Partial<BranchView> = {}): BranchView {
  return {
    id: 7,
    database: "shop",
    name: "try-split",
    head: 219,
    headAt: NOW - 12 * MINUTE,
    headActor: "anna",
    headCheckpoint: "split-ready",
    forkedFrom: { branchId: 1, branch: "main", version: 198, checkpoint: "seed-2026-11" },
    createdAt: NOW - 2 * HOUR,
    actor: "anna",
    touchedAt: NOW - 4 * MINUTE,
    ttlMs: 36 * HOUR,
    expiresAt: NOW + 27 * HOUR,
    protected: false,
    meta: {},
    checkpoints: 3,
    checkout: {
      state: "unsaved",
      path: "/home/you/data/shop.coppice/checkouts/shop/try-split.db",
      base: 219,
      fileBytes: 242_647_040,
      walBytes: 1_258_291,
    },
    ...rest,
  };
}

export function historyRow(number: number, rest: Partial<HistoryRow> = {}): HistoryRow {
  return {
    number,
    parent: number > 1 ? number - 1 : null,
    kind: "checkpoint",
    createdAt: NOW - (230 - number) * 11 * MINUTE,
    actor: "anna",
    message: null,
    meta: {},
    pageSize: 4096,
    pageCount: 59_240,
    changedPages: 48,
    storedBytes: 98_304,
    checksum: "9f2c71d0b83ae41a9f2c71d0b83ae41a",
    checkpoints: [],
    heads: [],
    branch: "try-split",
    place: "ancestor",
    inherited: false,
    ...rest,
  };
}

export function changeCounts(from: number | null, to: number, rest: Partial<ChangeCountsView> = {}): ChangeCountsView {
  const tables = [
    { name: "orders", inserted: 212, deleted: 96, updated: 18_204 },
    { name: "stock_moves", inserted: 0, deleted: 1_204, updated: 0 },
  ];
  return {
    from,
    to,
    state: "known",
    tables,
    moreTables: 0,
    inserted: 212,
    deleted: 1_300,
    updated: 18_204,
    schemaChanges: 2,
    problem: null,
    ...rest,
  };
}

export function operationView(id: number, rest: Partial<OperationView> = {}): OperationView {
  return {
    id,
    uid: `op-${id}`,
    kind: "fork",
    at: NOW - (48_211 - id) * 90_000,
    actor: "anna",
    database: "shop",
    branch: "try-split",
    summary: `Forked try-split from main`,
    reverses: null,
    state: "done",
    ...rest,
  };
}

export function trashView(id: number, rest: Partial<TrashView> = {}): TrashView {
  return {
    kind: "branch",
    id,
    database: "shop",
    name: `attempt-${id}`,
    head: 200 + id,
    trashedAt: NOW - id * HOUR,
    actor: "agent-7",
    reason: "destroy",
    purgeAt: NOW + (168 - id) * HOUR,
    ...rest,
  };
}

export function jobView(rest: Partial<JobView> = {}): JobView {
  return {
    id: "job-1",
    title: "Importing crm.db",
    phase: "Copying pages",
    done: 62_000_000,
    total: 100_000_000,
    unit: "bytes",
    startedAt: NOW - 4_000,
    state: "running",
    cancellable: true,
    ...rest,
  };
}

export function importReport(rest: Partial<ImportReport> = {}): ImportReport {
  return {
    source: "/home/you/Документы/Übersicht “Q4” 2026.db",
    sourceBytes: 242_647_040,
    sourceSha256: "9f2c71d0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718b83ae41a",
    pageSize: 4096,
    pageCount: 59_240,
    encoding: "UTF-16le",
    journal: "WAL",
    autoVacuum: "none",
    applicationId: 0,
    userVersion: 12,
    tables: 14,
    rows: 1_204_332,
    checks: [
      { severity: "ok", check: "SQLite header", found: "Format 3, page size 4,096, 59,240 pages", action: "Kept" },
      {
        severity: "note",
        check: "Left-over WAL",
        found: "318 frames, 48 committed transactions; last 6 frames are incomplete",
        action: "48 applied to the copy, 6 ignored as SQLite would",
      },
      { severity: "note", check: "Text encoding", found: "UTF-16le", action: "Kept" },
      { severity: "ok", check: "Journal mode", found: "WAL", action: "Restored on export" },
      { severity: "ok", check: "Integrity", found: "quick_check ok", action: "–" },
      { severity: "ok", check: "Foreign keys", found: "0 violations in 9 constraints", action: "–" },
      { severity: "ok", check: "Schema", found: "14 tables, 22 indexes, 1 view, 3 triggers", action: "Kept" },
      {
        severity: "warning",
        check: "Collation de_phonebook",
        found: "Not available here, used by 2 indexes",
        action: "Bytes kept; ordering by these two needs the program that made the file",
      },
      { severity: "ok", check: "Other writers", found: "None hold the file", action: "–" },
    ],
    canImport: true,
    ...rest,
  };
}

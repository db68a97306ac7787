/** A store to look at: handlers that answer every read of the screens with a plausible, fixed state. */
import { CONTRACT_VERSION } from "#shared/contract-version.ts";
import type { RequestOutput } from "#shared/contract.ts";
import type { BranchView, HistoryRow, OperationKind, OperationView } from "#shared/views.ts";
import type { FakeHandlers } from "./fake-api.ts";
import { branchView, changeCounts, databaseView, historyRow, importReport, operationView, storeView, trashView } from "./views.ts";

export function helloView(rest: Partial<RequestOutput<"app.hello">> = {}): RequestOutput<"app.hello"> {
  return {
    contractVersion: CONTRACT_VERSION,
    program: "Coppice 0.1.0",
    platform: "linux",
    host: "electron",
    home: "/home/you",
    recent: [
      { path: "/home/you/data/shop.coppice", openedAt: Date.now() - 300_000, exists: true, databases: 3, branches: 1_803 },
      { path: "/home/you/evals/nightly.coppice", openedAt: Date.now() - 2 * 86_400_000, exists: true, databases: 1, branches: 10_412 },
      { path: "/media/usb/sandbox.coppice", openedAt: Date.now() - 12 * 86_400_000, exists: false, databases: 1, branches: 4 },
    ],
    store: storeView(),
    startWith: null,
    ...rest,
  };
}

export const SAMPLE_BRANCHES: readonly BranchView[] = [
  branchView({
    id: 1,
    name: "main",
    head: 198,
    headCheckpoint: "seed-2026-11",
    forkedFrom: null,
    ttlMs: null,
    expiresAt: null,
    checkout: { ...branchView().checkout, state: "clean" },
  }),
  branchView({ id: 7 }),
];

/** A branch with everything a timeline can hold; `older` adds plain versions below. */
export function sampleHistory(older = 0): HistoryRow[] {
  const split = { branch: "try-split" };
  const rows = [
    historyRow(221, { ...split, place: "ahead", message: "Backfill, second try" }),
    historyRow(220, { ...split, kind: "autosave", place: "side" }),
    historyRow(219, {
      place: "head",
      heads: ["try-split", "try-split-backfill"],
      checkpoints: [{ branch: "try-split", name: "split-ready" }],
      message: "Move totals out of orders, keep the view",
      changedPages: 3_012,
      storedBytes: 12_478_054,
    }),
    historyRow(218, { kind: "autosave", actor: "agent-7" }),
    historyRow(217, { kind: "flush", changedPages: 2 }),
    historyRow(216, { kind: "autosave" }),
    historyRow(215, { checkpoints: [{ branch: "try-split", name: "after-ddl" }], storedBytes: 98_304 }),
    historyRow(214, {
      message: "One column too many: this message is long enough to be cut off in any window that people use for real work",
      actor: "anna",
    }),
    historyRow(198, { inherited: true, branch: "main", heads: ["main"], checkpoints: [{ branch: "main", name: "seed-2026-11" }] }),
    historyRow(190, { inherited: true, branch: "main", kind: "rollback-safety" }),
    historyRow(1, { inherited: true, branch: "main", kind: "import", changedPages: 59_240, storedBytes: 187 * 1024 ** 2, actor: "anna" }),
  ];
  const plain = Array.from({ length: older }, (_, index) =>
    historyRow(180 - index, { inherited: true, branch: "main", changedPages: index + 1 }),
  );
  return [...rows.slice(0, -1), ...plain, ...rows.slice(-1)];
}

const KINDS: readonly OperationKind[] = [
  "promote",
  "checkpoint",
  "fork",
  "fork",
  "rollback",
  "destroy",
  "expire",
  "rename",
  "undo",
  "touch",
];

export function sampleOperations(count: number): OperationView[] {
  const summaries: Readonly<Partial<Record<OperationKind, string>>> = {
    promote: "Promoted attempt-0208 → main",
    checkpoint: "Checkpoint split-ready on try-split",
    rollback: "Rolled try-split back to after-ddl",
    destroy: "Deleted attempt-0012",
    expire: "Expired 41 branches of agent/2026-11-29",
    rename: "Renamed try-2 to try-split",
    undo: "Undid: Promoted attempt-0077 → main",
    touch: "Extended try-split to 36 h",
  };
  return Array.from({ length: count }, (_, index) => {
    const kind = KINDS[index % KINDS.length] ?? "fork";
    const state = kind === "expire" ? "permanent" : index % 7 === 3 ? "undone" : "done";
    return operationView(count - index, {
      kind,
      state,
      at: Date.now() - index * 90_000,
      actor: index % 3 === 0 ? "anna" : `agent-${index % 5}`,
      summary: summaries[kind] ?? "Forked try-split from main",
      reverses: kind === "undo" ? 3 : null,
    });
  });
}

export function sampleHandlers(): FakeHandlers {
  const history = sampleHistory();
  const operations = sampleOperations(120);
  return {
    "app.hello": () => helloView(),
    "app.settings": () => ({ theme: "light", layout: "" }),
    "app.saveSettings": () => null,
    "app.forgetRecent": ({ path }) => helloView().recent.filter((recent) => recent.path !== path),
    "store.status": () => storeView(),
    "database.list": () => [
      databaseView(),
      databaseView({ name: "crm-eval", uid: "d2", branches: 1_204 }),
      databaseView({ name: "ledger", uid: "d3", branches: 12 }),
    ],
    "database.inspect": () => importReport(),
    "branch.list": () => ({ branches: SAMPLE_BRANCHES, total: SAMPLE_BRANCHES.length, lastOperation: 48_211 }),
    "branch.changes": () => ({ changed: [], removed: [], total: SAMPLE_BRANCHES.length, lastOperation: 48_211 }),
    "branch.get": ({ branch }) => ({
      ...(SAMPLE_BRANCHES.find((each) => each.name === branch) ?? branchView()),
      pageSize: 4096,
      pageCount: 59_240,
      logicalBytes: 242_647_040,
      storedBytes: 12_478_054,
      ownCheckpoints: [],
      inheritedCheckpoints: 11,
      children: 2,
      holders: [{ pid: 48_213, program: "node", access: "reading" }],
    }),
    "branch.history": ({ branch, offset = 0, limit = 500 }) => ({
      branch: SAMPLE_BRANCHES.find((each) => each.name === branch) ?? branchView(),
      versions: history.slice(offset, offset + limit),
      total: history.length,
    }),
    "version.changes": ({ pairs }) => pairs.map(({ from, to }) => changeCounts(from ?? to - 1, to)),
    "trash.list": () => [
      trashView(1, { reason: "destroy" }),
      trashView(2, { reason: "expire", name: "agent/2026-11-29/refund-audit-03", purgeAt: Date.now() + 300_000 }),
      trashView(3, { kind: "database", database: "staging", name: "staging", reason: "drop", actor: "anna" }),
    ],
    "operation.list": ({ before = Number.MAX_SAFE_INTEGER, limit = 500, actor, database }) => ({
      operations: operations
        .filter((each) => each.id < before && (!actor || each.actor === actor) && (!database || each.database === database))
        .slice(0, limit),
      total: operations.length,
    }),
    "operation.preview": ({ operation }) => ({
      operation: operations.find((each) => each.id === operation) ?? operationView(operation),
      blockedBy: operation % 2 === 0 ? [] : operations.slice(0, 2),
      moves: ["main: v222 → v198", "try-split: stays at v219"],
    }),
    "job.list": () => [],
  };
}

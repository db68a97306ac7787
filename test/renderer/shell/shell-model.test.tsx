import { beforeEach, expect, test } from "vitest";
import { connectApi, sayHello } from "../../../src-renderer/api/api.ts";
import { ApiError, describeError } from "../../../src-renderer/api/api-error.ts";
import { performMany, performOrReport, undoOperation } from "../../../src-renderer/api/perform.ts";
import { appState, resetAppState, selectDatabase } from "../../../src-renderer/app-state.ts";
import { branchList, followBranches } from "../../../src-renderer/branches/branch-list.ts";
import { quoteForShell } from "../../../src-renderer/commands/branch-commands.ts";
import { COMMANDS } from "../../../src-renderer/commands/commands.ts";
import { shortcutOf } from "../../../src-renderer/commands/keyboard.ts";
import { findBranches } from "../../../src-renderer/shell/palette.tsx";
import { parseLayout } from "../../../src-renderer/shell/session.ts";
import { orderDropped } from "../../../src-renderer/shell/drop-target.tsx";
import { showError, toasts } from "../../../src-renderer/ui/toasts.ts";
import { fleet, plainBranch } from "../support/branch-samples.ts";
import { FakeFailure, installFakeApi } from "../support/fake-api.ts";
import { helloView } from "../support/sample-store.ts";
import { operationView } from "../support/views.ts";

const result = (id: number, summary: string) => ({ operation: operationView(id, { summary }), branch: null, warnings: [] });
const shown = () => toasts.get().list;

beforeEach(() => {
  resetAppState();
  toasts.set({ list: [] });
});

test("SHELL-2: an act is named in a toast whose Undo undoes exactly that operation", async () => {
  const fake = installFakeApi({
    "branch.protect": () => result(41, "Protected try-a"),
    "operation.undo": () => ({ ...result(42, "Undid: Protected try-a"), undone: [operationView(41)] }),
  });
  const api = connectApi();
  await performOrReport(api, "branch.protect", { database: "shop", branch: "try-a", protected: true });
  expect(shown().map((toast) => toast.text)).toEqual(["Protected try-a"]);
  shown()[0]?.action?.run();
  await expect.poll(() => fake.inputsOf("operation.undo")).toEqual([{ operation: 41 }]);
});

test("SHELL-2: when later operations stand in the way, undo offers to undo those too", async () => {
  let blocked = true;
  const fake = installFakeApi({
    "operation.undo": () => {
      if (blocked) throw new FakeFailure("undo-blocked", "Undo 41: main moved since", { details: { operations: [43, 42] } });
      return { ...result(44, "Undid"), undone: [operationView(43), operationView(42), operationView(41)] };
    },
  });
  await undoOperation(connectApi(), 41);
  blocked = false;
  expect(shown().at(-1)?.action?.label).toBe("Undo 3 operations");
  shown().at(-1)?.action?.run();
  await expect.poll(() => fake.inputsOf("operation.undo").at(-1)).toEqual({ operation: 41, chain: true });
});

test("SHELL-1: a failure stays, says what is untouched and names holders", async () => {
  installFakeApi({
    "branch.rename": () => {
      throw new FakeFailure("checkout-busy", "Rename try-a: its file is being written", {
        untouched: "try-a is unchanged.",
        retryable: true,
        details: { holders: [{ pid: 7, program: "sqlite3", access: "writing" }] },
      });
    },
  });
  expect(await performOrReport(connectApi(), "branch.rename", { database: "shop", branch: "try-a", to: "b" })).toBeNull();
  const [toast] = shown();
  expect(toast?.action?.label).toBe("Retry");
  expect(toast?.error && describeError(toast.error)).toBe(
    "Rename try-a: its file is being written [checkout-busy]\ntry-a is unchanged.\nHeld by sqlite3 (pid 7, writing)",
  );
});

test("SHELL-3: a refusal because of protection offers to act anyway", async () => {
  const fake = installFakeApi({
    "branch.destroy": ({ force }) => {
      if (!force) throw new FakeFailure("protected", "Delete main: it is protected");
      return result(5, "Deleted main");
    },
  });
  await performOrReport(connectApi(), "branch.destroy", { database: "shop", branch: "main" });
  expect(shown()[0]?.action?.label).toBe("Do it anyway");
  shown()[0]?.action?.run();
  await expect.poll(() => fake.inputsOf("branch.destroy").at(-1)).toEqual({ database: "shop", branch: "main", force: true });
});

test("SHELL-4: an act on many is one toast; its Undo goes backwards", async () => {
  let id = 0;
  const fake = installFakeApi({
    "branch.destroy": () => result(++id, "Deleted"),
    "operation.undo": () => ({ ...result(99, "Undid"), undone: [] }),
  });
  const api = connectApi();
  await performMany(
    api,
    "branch.destroy",
    ["a", "b", "c"].map((branch) => ({ database: "shop", branch })),
    (count) => `Deleted ${count}`,
  );
  expect(shown().map((toast) => toast.text)).toEqual(["Deleted 3"]);
  shown()[0]?.action?.run();
  await expect.poll(() => fake.inputsOf("operation.undo").map((input) => input.operation)).toEqual([3, 2, 1]);
});

test("SHELL-4: an Undo of many that is refused midway says how far it came, and goes no further", async () => {
  let id = 0;
  const fake = installFakeApi({
    "branch.destroy": () => result(++id, "Deleted"),
    "operation.undo": ({ operation }) => {
      if (operation === 60) throw new FakeFailure("store-busy", "Undo: busy");
      return { ...result(99, "Undid"), undone: [] };
    },
  });
  const inputs = Array.from({ length: 100 }, (_, index) => ({ database: "shop", branch: `b${index}` }));
  await performMany(connectApi(), "branch.destroy", inputs, (count) => `Deleted ${count}`);
  shown()[0]?.action?.run();
  await expect.poll(() => shown().map((toast) => toast.text)).toEqual(["Undo: busy", "Undone: 63 of 100 operations"]);
  expect(fake.inputsOf("operation.undo")).toHaveLength(64);
});

test("SHELL-4: an Undo of many can be stopped, and taken up again", async () => {
  let id = 0;
  const fake = installFakeApi({
    "branch.destroy": () => result(++id, "Deleted"),
    "operation.undo": async ({ operation }) => {
      if (operation === 100 || operation === 68) await new Promise((settle) => setTimeout(settle, 1_050));
      return { ...result(99, "Undid"), undone: [] };
    },
  });
  const inputs = Array.from({ length: 100 }, (_, index) => ({ database: "shop", branch: `b${index}` }));
  await performMany(connectApi(), "branch.destroy", inputs, (count) => `Deleted ${count}`);
  shown()[0]?.action?.run();
  await expect.poll(() => shown()[0]?.text, { timeout: 5_000 }).toBe("Undoing 100 operations: 32 done");
  shown()[0]?.action?.run();
  await expect.poll(() => shown()[0]?.text, { timeout: 5_000 }).toBe("Undone: 64 of 100 operations");
  expect(fake.inputsOf("operation.undo")).toHaveLength(64);
  expect(shown()[0]?.action?.label).toBe("Undo the rest");
  shown()[0]?.action?.run();
  await expect.poll(() => shown()[0]?.text, { timeout: 5_000 }).toBe("Undone: 36 operations");
  expect(fake.inputsOf("operation.undo").map(({ operation }) => operation)).toEqual(Array.from({ length: 100 }, (_, index) => 100 - index));
});

test("SHELL-1: the same failure met again takes the place of its first report; another one stands beside it", () => {
  for (const message of ["Rename: busy", "Rename: busy", "Rename: gone"]) showError(new FakeFailure("checkout-busy", message).view, null);
  expect(shown().map((toast) => toast.text)).toEqual(["Rename: busy", "Rename: gone"]);
});

const orderNames = (...given: string[]) => orderDropped(given.map((name) => ({ name }))).map((file) => file.name);

test("SHELL-9: of dropped files the database is taken, with the side files that belong to it", () => {
  expect(orderNames("a.db-wal", "other.db-wal", "a.db", "a.db-shm")).toEqual(["a.db", "a.db-wal", "a.db-shm"]);
  expect(orderNames("a.db-wal")).toEqual(["a.db-wal"]);
  expect(orderNames()).toEqual([]);
});

test("SHELL-5: a host of another contract version is refused", async () => {
  installFakeApi({ "app.hello": () => helloView({ contractVersion: 999 }) });
  await expect(sayHello(connectApi())).rejects.toBeInstanceOf(ApiError);
});

test("SHELL-6: an unreadable layout falls back part by part", () => {
  const bench = { suite: null, size: "quick", options: {}, folder: null, series: null };
  const standard = { store: null, screen: "branches", database: null, branch: null, mode: "graph", filter: "", bench };
  expect(parseLayout("")).toMatchObject(standard);
  expect(parseLayout("{")).toMatchObject(standard);
  expect(parseLayout("null")).toMatchObject(standard);
  expect(parseLayout('{"screen":"moon","database":7,"mode":"flat"}')).toMatchObject({ ...standard, mode: "flat" });
  expect(parseLayout('{"store":"/s","branch":"try-a","filter":"is:leaf"}')).toMatchObject({
    ...standard,
    store: "/s",
    branch: "try-a",
    filter: "is:leaf",
  });
  expect(parseLayout('{"screen":"history","database":"shop"}')).toMatchObject({ ...standard, screen: "history", database: "shop" });
});

test("SHELL-7: the palette ranks exact names, then beginnings, then the rest", () => {
  const names = findBranches(
    ["fix/try", "try-split", "try", "main"].map((name) => ({ name })),
    " TRY ",
  ).map((branch) => branch.name);
  expect(names).toEqual(["try", "try-split", "fix/try"]);
});

test("SHELL-8: every shortcut belongs to one command, and every id is used once", () => {
  const shortcuts = COMMANDS.flatMap((command) => command.shortcuts ?? []);
  expect(new Set(shortcuts).size).toBe(shortcuts.length);
  expect(new Set(COMMANDS.map((command) => command.id)).size).toBe(COMMANDS.length);
});

const name = (init: KeyboardEventInit, platform = "linux") => shortcutOf(new KeyboardEvent("keydown", init), platform);

test("KEYS-6: a key event is named as commands write it", () => {
  expect(name({ key: "z", ctrlKey: true, shiftKey: true })).toBe("Mod+Shift+Z");
  expect(name({ key: "z", metaKey: true }, "darwin")).toBe("Mod+Z");
  expect(name({ key: "?", shiftKey: true })).toBe("?");
  expect(name({ key: "F6", shiftKey: true })).toBe("Shift+F6");
  expect(name({ key: "n" })).toBe("N");
});

test("SHELL-1: paths are quoted for a shell as they must be", () => {
  expect(quoteForShell("/home/you/shop.db")).toBe("/home/you/shop.db");
  expect(quoteForShell("/home/it's me/Übersicht.db")).toBe(`'/home/it'\\''s me/Übersicht.db'`);
});

test("LIVE-1: a changed store is followed by what moved", async () => {
  const branches = fleet(4_999);
  const fake = installFakeApi({
    "branch.list": ({ after, limit }) => ({
      branches: branches.filter((branch) => branch.id > (after ?? 0)).slice(0, limit),
      total: branches.length,
      lastOperation: 10,
    }),
    "branch.changes": ({ since }) => ({
      changed: since < 11 ? [plainBranch(1, "trunk", null), plainBranch(6_000, "new", 1)] : [],
      removed: since < 11 ? [3] : [],
      total: 5_000,
      lastOperation: 11,
    }),
  });
  const stop = followBranches(connectApi());
  selectDatabase("shop");
  await expect.poll(() => branchList.get().lastOperation).toBe(11);
  expect(fake.inputsOf("branch.list").map((input) => input.after)).toEqual([0, 2_000, 4_000]);
  const { byId, branches: list } = branchList.get();
  expect([byId.get(1)?.name, byId.has(3), byId.get(6_000)?.name, list.length]).toEqual(["trunk", false, "new", 5_000]);
  expect(list.every((branch, index) => index === 0 || branch.id > (list[index - 1]?.id ?? 0))).toBe(true);
  fake.emit({ type: "store-changed", lastOperation: 12 });
  await expect.poll(() => fake.inputsOf("branch.changes").map((input) => input.since)).toEqual([10, 11]);
  expect(fake.inputsOf("branch.list")).toHaveLength(3);
  stop();
});

test("LIVE-2: when files change, only their branches are read", async () => {
  const [main, first] = fleet(3);
  if (!main || !first) throw new Error("sample");
  const detail = {
    ...first,
    checkout: { ...first.checkout, state: "unsaved" as const },
    pageSize: 4096,
    pageCount: 1,
    logicalBytes: 4096,
    storedBytes: 0,
    ownCheckpoints: [],
    inheritedCheckpoints: 0,
    children: 0,
    holders: [],
  };
  const fake = installFakeApi({
    "branch.list": () => ({ branches: [main, first], total: 2, lastOperation: 1 }),
    "branch.changes": () => ({ changed: [], removed: [], total: 2, lastOperation: 1 }),
    "branch.get": () => detail,
  });
  const stop = followBranches(connectApi());
  selectDatabase("shop");
  await expect.poll(() => branchList.get().branches.length).toBe(2);
  fake.emit({ type: "checkouts-changed", database: "other", branches: ["x"] });
  fake.emit({ type: "checkouts-changed", database: "shop", branches: [first.name] });
  await expect.poll(() => branchList.get().byId.get(first.id)?.checkout.state).toBe("unsaved");
  expect(fake.inputsOf("branch.get")).toEqual([{ database: "shop", branch: first.name }]);
  stop();
});

test("LIVE-3: after a lost connection the list is read again and stays on the screen meanwhile", async () => {
  let held: (() => void) | null = null;
  let count = 2;
  const fake = installFakeApi({
    "branch.list": async () => {
      if (count === 3) await new Promise<void>((resolve) => (held = resolve));
      return { branches: fleet(count - 1), total: count, lastOperation: 1 };
    },
    "branch.changes": () => ({ changed: [], removed: [], total: count, lastOperation: 1 }),
  });
  const stop = followBranches(connectApi());
  selectDatabase("shop");
  await expect.poll(() => branchList.get().loading).toBe(false);
  count = 3;
  fake.emit({ type: "connection", state: "open" });
  await expect.poll(() => held).not.toBeNull();
  expect(branchList.get().branches).toHaveLength(2);
  (held as (() => void) | null)?.();
  await expect.poll(() => branchList.get().branches.length).toBe(3);
  expect(appState.get().database).toBe("shop");
  stop();
});

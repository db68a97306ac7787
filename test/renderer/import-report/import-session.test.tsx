import { afterEach, beforeEach, expect, test } from "vitest";
import { ApiError } from "../../../src-renderer/api/api-error.ts";
import { createApi, type Api } from "../../../src-renderer/api/api.ts";
import { openBridge } from "../../../src-renderer/api/transport.ts";
import { appState, resetAppState, showScreen } from "../../../src-renderer/app-state.ts";
import {
  closeImport,
  importAs,
  importState,
  inspectFile,
  inspectPath,
  startImport,
} from "../../../src-renderer/import-report/import-session.ts";
import { FakeFailure, installFakeApi, type FakeApi, type FakeHandlers } from "../support/fake-api.ts";
import { helloView, sampleHandlers } from "../support/sample-store.ts";
import { databaseView, importReport, operationView, storeView } from "../support/views.ts";

let fake: FakeApi;
let api: Api;

const created = () => ({
  operation: operationView(1, { kind: "create-database" }),
  branch: null,
  warnings: [],
  database: databaseView(),
  report: null,
  storedBytes: 1,
});

function failingInspect(code: "encrypted" | "cancelled"): FakeHandlers {
  return {
    "database.inspect": () => {
      throw new FakeFailure(code, "a.db looks encrypted");
    },
  };
}

beforeEach(() => {
  fake = installFakeApi({ ...sampleHandlers(), "database.create": created });
  if (!window.coppice) throw new Error("no bridge");
  api = createApi(openBridge(window.coppice));
});
afterEach(() => {
  closeImport();
  resetAppState();
});

test("REPORT-4: an import creates the database from the inspected file and shows its branches", async () => {
  await inspectPath(api, "/home/you/a.db");
  expect(importState.get()).toMatchObject({ step: "report", path: "/home/you/a.db", failure: null });
  expect(fake.inputsOf("database.create")).toEqual([]);
  await importAs(api, "a", { kind: "current" });
  expect(fake.inputsOf("database.create")).toEqual([{ database: "a", from: importReport().source }]);
  expect(importState.get()).toEqual({ step: "idle" });
  expect(appState.get()).toMatchObject({ screen: "branches", database: "a" });
});

test("REPORT-5: a failed import keeps the report and says what is untouched; cancelling leaves no error", async () => {
  await inspectPath(api, "/home/you/a.db");
  fake.handle({
    "database.create": () => {
      throw new FakeFailure("disk-full", "Import: no space left");
    },
  });
  await importAs(api, "a", { kind: "current" });
  expect(importState.get()).toMatchObject({ step: "report", failure: { code: "disk-full", untouched: "The original file is unchanged." } });
  fake.handle({
    "database.create": () => {
      throw new FakeFailure("cancelled", "Import cancelled");
    },
  });
  await importAs(api, "a", { kind: "current" });
  expect(importState.get()).toMatchObject({ step: "report", failure: null });
});

test("REPORT-6: a new store is created only where there is none; an existing one is opened", async () => {
  fake.handle({
    "store.open": ({ spec }) => {
      if (spec === "/new") throw new FakeFailure("store-not-found", "There is no store in /new");
      return storeView({ path: spec });
    },
    "store.create": ({ spec }) => storeView({ path: spec }),
    "app.hello": () => helloView(),
  });
  await inspectPath(api, "/home/you/a.db");
  await importAs(api, "a", { kind: "new", spec: "/new" });
  expect([fake.inputsOf("store.open"), fake.inputsOf("store.create")]).toEqual([[{ spec: "/new" }], [{ spec: "/new" }]]);
  await inspectPath(api, "/home/you/a.db");
  await importAs(api, "a", { kind: "existing", spec: "/gone" });
  expect(fake.inputsOf("store.create")).toHaveLength(1);
  fake.handle({
    "store.open": () => {
      throw new FakeFailure("store-not-found", "There is no store in /gone");
    },
  });
  await inspectPath(api, "/home/you/a.db");
  await importAs(api, "a", { kind: "existing", spec: "/gone" });
  expect(importState.get()).toMatchObject({ step: "report", failure: { code: "store-not-found" } });
  expect(fake.inputsOf("store.create")).toHaveLength(1);
});

test("REPORT-7: what cannot be imported is never sent", async () => {
  fake.handle({ "database.inspect": () => importReport({ canImport: false }) });
  await inspectPath(api, "/home/you/a.db");
  await importAs(api, "a", { kind: "current" });
  expect(fake.inputsOf("database.create")).toEqual([]);
});

test("REPORT-8: an unreadable file names itself and can be retried; a cancelled reading goes back to where it came from", async () => {
  fake.handle(failingInspect("encrypted"));
  await inspectPath(api, "/home/you/a.db");
  expect(importState.get()).toMatchObject({ step: "failed", path: "/home/you/a.db", fileName: "a.db", error: { code: "encrypted" } });
  showScreen("import");
  fake.handle(failingInspect("cancelled"));
  await inspectPath(api, "/home/you/a.db");
  expect([importState.get().step, appState.get().screen]).toEqual(["idle", "branches"]);
});

test("REPORT-9: an upload shows its progress, stops when it is left, and what comes later is dropped", async () => {
  let report: ((bytes: number) => void) | undefined;
  let stopped = false;
  const slow: Api = {
    ...api,
    giveFile: (_file, options) =>
      new Promise((_resolve, reject) => {
        report = options?.onProgress;
        options?.signal?.addEventListener("abort", () => {
          stopped = true;
          reject(new ApiError(new FakeFailure("cancelled", "Upload cancelled").view));
        });
      }),
  };
  const upload = inspectFile(slow, new File(["0123456789"], "shop.db"));
  report?.(4);
  expect(importState.get()).toEqual({ step: "uploading", fileName: "shop.db", done: 4, total: 10 });
  closeImport();
  await upload;
  report?.(9);
  expect([importState.get().step, stopped]).toEqual(["idle", true]);
  expect(fake.inputsOf("database.inspect")).toEqual([]);
});

test("REPORT-10: the same request twice is one import, another file replaces it", async () => {
  await Promise.all([startImport(api, "/home/you/a.db", "web"), startImport(api, "/home/you/a.db", "web")]);
  expect(fake.inputsOf("database.inspect")).toHaveLength(1);
  await startImport(api, "/home/you/b.db", "web");
  expect(importState.get()).toMatchObject({ step: "report", path: "/home/you/b.db" });
  closeImport();
  await startImport(api, null, "web");
  expect(importState.get()).toEqual({ step: "choosing" });
});

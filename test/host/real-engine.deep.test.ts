import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostEvent, RequestInput, RequestName, RequestOutput } from "#shared/contract.ts";
import { openStore } from "#engine/store.ts";
import { Host, type Face } from "#host/host.ts";
import { Settings } from "#host/settings.ts";

const face: Face = {
  kind: "web",
  chooseFile: () => Promise.resolve(null),
  chooseFolder: () => Promise.resolve(null),
  chooseSaveFile: () => Promise.resolve(null),
  reveal: () => Promise.resolve(),
  themeChanged: () => undefined,
};

// Workers and keepers start from source here, which takes seconds on a busy machine.
const SLOW = { timeout: 120_000 };

let folder = "";
let host: Host;
const events: HostEvent[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "coppice-host-"));
  process.env["COPPICE_CONFIG_DIR"] = join(folder, "config");
  host = new Host(face, new Settings(join(folder, "config")));
  host.onEvent((event) => events.push(event));
});
afterAll(async () => {
  await host.close();
  rmSync(folder, { recursive: true, force: true });
});

async function ask<K extends RequestName>(name: K, input: RequestInput<K>): Promise<RequestOutput<K>> {
  const answer = await host.request(name, input);
  if (!answer.ok) throw new Error(`${name}: ${answer.error.code}: ${answer.error.message}`);
  return answer.result as RequestOutput<K>;
}

async function seen(match: (event: HostEvent) => boolean): Promise<HostEvent> {
  for (;;) {
    const event = events.find(match);
    if (event) return event;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("HOST-8: a file is inspected before any store is open, imported into a new one, and the store is remembered", SLOW, async () => {
  const source = join(folder, "shop.db");
  const database = new Database(source);
  database.exec("create table orders(id integer primary key, total integer); insert into orders values (1, 5), (2, 7)");
  database.close();
  expect(await host.request("database.inspect", { file: join(folder, "none.db") })).toMatchObject({
    ok: false,
    error: { code: "file-not-found" },
  });
  expect(await ask("database.inspect", { file: source })).toMatchObject({ canImport: true, tables: 1 });
  const store = await ask("store.create", { spec: join(folder, "store") });
  await ask("database.create", { database: "shop", from: source });
  const { branches } = await ask("branch.list", { database: "shop" });
  expect(branches.map((branch) => branch.name)).toEqual(["main"]);
  const hello = await ask("app.hello", {});
  expect(hello.recent).toMatchObject([{ path: store.path, exists: true }]);
  expect(hello.store).toMatchObject({ path: store.path, databases: 1 });
});

test("HOST-11: another program's operations and another program's writes are told within the watch's ticks", SLOW, async () => {
  const { path } = await ask("branch.checkout", { database: "shop", branch: "main" });
  const other = await openStore(join(folder, "store"), { actor: "somebody" });
  events.length = 0;
  await other.fork({ database: "shop", branch: "main", newBranch: "theirs" });
  const lastOperation = other.lastOperation();
  await other.close();
  expect(await seen((event) => event.type === "store-changed" && event.lastOperation === lastOperation)).toBeTruthy();
  const client = new Database(path);
  client.exec("delete from orders");
  client.close();
  expect(await seen((event) => event.type === "checkouts-changed")).toEqual({
    type: "checkouts-changed",
    database: "shop",
    branches: ["main"],
  });
  expect((await ask("branch.get", { database: "shop", branch: "main" })).checkout.state).toBe("unsaved");
});

test("HOST-13: a demo whose making is cancelled leaves nothing", SLOW, async () => {
  const making = host.request("store.demo", {});
  const event = await seen((candidate) => candidate.type === "job" && candidate.job.title === "Make the demo");
  await ask("job.cancel", { id: event.type === "job" ? event.job.id : "" });
  expect(await making).toMatchObject({ ok: false, error: { code: "cancelled" } });
  expect(readdirSync(join(folder, "config")).filter((name) => name.startsWith("demo"))).toEqual([]);
  expect(await ask("store.status", {})).toMatchObject({ path: join(folder, "store") });
});

test("HOST-13: the demo is made once and opened again", SLOW, async () => {
  const first = await ask("store.demo", {});
  expect(first.path).toBe(join(folder, "config", "demo.coppice"));
  expect(first.branches).toBeGreaterThanOrEqual(20);
  await ask("store.open", { spec: join(folder, "store") });
  expect(await ask("store.demo", {})).toMatchObject({ uid: first.uid, lastOperation: first.lastOperation });
});

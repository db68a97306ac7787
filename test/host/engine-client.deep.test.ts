import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { HostEvent } from "#shared/contract.ts";
import { EngineClient } from "#host/engine-client.ts";

const WORKER = join(import.meta.dirname, "../support/memory-engine-worker.ts");
let client: EngineClient | null = null;
let events: HostEvent[] = [];

function start(file = WORKER): EngineClient {
  events = [];
  client = new EngineClient((event) => events.push(event), file);
  return client;
}
afterEach(() => client?.close());

async function seen(match: (event: HostEvent) => boolean): Promise<HostEvent> {
  for (;;) {
    const event = events.find(match);
    if (event) return event;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test("HOST-8: answers and expected failures cross as envelopes", async () => {
  const engine = start();
  expect(await engine.request("store.open", { spec: "missing" })).toMatchObject({ ok: false, error: { code: "store-not-found" } });
  expect(await engine.request("database.list", {})).toMatchObject({
    ok: false,
    error: { code: "store-not-found", hint: "Open or create one first." },
  });
  expect(await engine.request("store.open", { spec: "a" })).toMatchObject({ ok: true, result: { path: "/memory/a" } });
  expect(await engine.request("database.list", { surplus: 1 })).toMatchObject({ ok: false, error: { code: "bad-argument" } });
  expect(await engine.request("database.list", {})).toEqual({ ok: true, result: [] });
  expect(await engine.request("store.close", {})).toEqual({ ok: true, result: null });
  expect(await engine.request("database.list", {})).toMatchObject({ ok: false, error: { code: "store-not-found" } });
});

test("HOST-9: a worker that cannot start fails its callers, every time", async () => {
  const engine = start(join(import.meta.dirname, "no-such-worker.ts"));
  for (let i = 0; i < 2; i += 1) {
    const answers = await Promise.all([engine.request("store.status", {}), engine.request("job.list", {})]);
    for (const answer of answers) expect(answer).toMatchObject({ ok: false, error: { code: "worker-died", retryable: true } });
  }
});

test("HOST-9: a worker that dies fails all its callers; the next request finds the same store open in a new one", async () => {
  const engine = start();
  await engine.request("store.open", { spec: "a" });
  const hanging = engine.request("branch.protect", { database: "shop", branch: "main", protected: true });
  const verifying = engine.request("store.verify", {});
  await seen((event) => event.type === "job");
  const killing = engine.request("database.drop", { database: "shop" });
  for (const answer of await Promise.all([hanging, verifying, killing]))
    expect(answer).toMatchObject({ ok: false, error: { code: "worker-died" } });
  await seen((event) => event.type === "connection" && event.state === "lost");
  await seen((event) => event.type === "job" && event.job.state === "failed");
  expect(engine.runningJobs()).toEqual([]);
  const [list, status] = await Promise.all([engine.request("database.list", {}), engine.request("store.status", {})]);
  expect(list).toEqual({ ok: true, result: [] });
  expect(status).toMatchObject({ ok: true, result: { path: "/memory/a" } });
  await seen((event) => event.type === "connection" && event.state === "open");
});

test("HOST-9: after a death the screens are connected again without asking anything", async () => {
  const engine = start();
  await engine.request("store.open", { spec: "a" });
  await engine.request("database.drop", { database: "shop" });
  await seen((event) => event.type === "connection" && event.state === "open");
  expect(await engine.request("store.status", {})).toMatchObject({ ok: true, result: { path: "/memory/a" } });
});

test("HOST-9: a store that cannot be opened again does not keep another one from being opened", async () => {
  const engine = start();
  await engine.request("store.open", { spec: "once" });
  await engine.request("database.drop", { database: "shop" });
  expect(await engine.request("store.status", {})).toMatchObject({ ok: false, error: { code: "store-not-found" } });
  expect(await engine.request("store.open", { spec: "b" })).toMatchObject({ ok: true, result: { path: "/memory/b" } });
  expect(await engine.request("store.status", {})).toMatchObject({ ok: true, result: { path: "/memory/b" } });
});

test("HOST-5: a job is cancelled by its id over the border", async () => {
  const engine = start();
  await engine.request("store.open", { spec: "a" });
  const verifying = engine.request("store.verify", {});
  const event = await seen((candidate) => candidate.type === "job");
  const id = event.type === "job" ? event.job.id : "";
  expect(await engine.request("job.list", {})).toMatchObject({ ok: true, result: [{ id, title: "Verify the store", state: "running" }] });
  expect(await engine.request("job.cancel", { id })).toEqual({ ok: true, result: null });
  expect(await verifying).toMatchObject({ ok: false, error: { code: "cancelled" } });
  expect(await engine.request("job.cancel", { id: "none" })).toMatchObject({ ok: false, error: { code: "bad-argument" } });
});

test("HOST-10: another store is not opened, nor this one closed, under a running job", async () => {
  const engine = start();
  await engine.request("store.open", { spec: "a" });
  const verifying = engine.request("store.verify", {});
  const event = await seen((candidate) => candidate.type === "job");
  expect(await engine.request("store.open", { spec: "b" })).toMatchObject({ ok: false, error: { code: "store-busy", retryable: true } });
  expect(await engine.request("store.close", {})).toMatchObject({ ok: false, error: { code: "store-busy" } });
  await engine.request("job.cancel", { id: event.type === "job" ? event.job.id : "" });
  await verifying;
  expect(await engine.request("store.open", { spec: "missing" })).toMatchObject({ ok: false, error: { code: "store-not-found" } });
  expect(await engine.request("store.status", {})).toMatchObject({ ok: true, result: { path: "/memory/a" } });
  expect(await engine.request("store.open", { spec: "b" })).toMatchObject({ ok: true, result: { path: "/memory/b" } });
});

test("HOST-11: a change of the store is told to the screens", async () => {
  const engine = start();
  await engine.request("store.open", { spec: "a" });
  await engine.request("branch.setMeta", { database: "shop", branch: "main", meta: {} });
  expect(await seen((event) => event.type === "store-changed")).toMatchObject({ lastOperation: 1 });
});

test("HOST-12: closing cancels what runs and answers everybody", async () => {
  const engine = start();
  await engine.request("store.open", { spec: "a" });
  const verifying = engine.request("store.verify", {});
  const hanging = engine.request("branch.protect", { database: "shop", branch: "main", protected: true });
  await engine.close();
  expect(await verifying).toMatchObject({ ok: false });
  expect(await hanging).toMatchObject({ ok: false, error: { code: "worker-died" } });
  expect(await engine.request("store.status", {})).toMatchObject({ ok: false, error: { code: "worker-died" } });
});

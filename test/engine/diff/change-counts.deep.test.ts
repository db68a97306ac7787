import { setTimeout as later } from "node:timers/promises";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { LIMITS } from "#shared/limits.ts";
import type { Store } from "#engine/store.ts";
import { runAndStay, type LiveClient } from "../../support/foreign-clients.ts";
import { startScript } from "../../support/run-script.ts";
import { execute, makeShop, SHOP } from "../../support/stores.ts";
import { cachedEntries, cacheFile, countsOf, countsOfOne, textOf } from "./change-support.ts";

/** Another program writes to a branch's file, and a checkpoint of it waits: a verb is under way until the client is stopped. */
async function keepBusy(store: Store): Promise<{ readonly client: LiveClient; readonly verb: Promise<unknown> }> {
  await store.fork({ ...SHOP, at: "v1", newBranch: "busy" });
  const { path } = await store.checkout({ database: "shop", branch: "busy" });
  const client = await runAndStay(
    path,
    "const database = new Database(path); database.exec('BEGIN IMMEDIATE; DELETE FROM notes WHERE id = 2')",
  );
  onTestFinished(() => client.stop());
  const verb = store.checkpoint({ database: "shop", branch: "busy", waitMs: 60_000 }).catch((error: unknown) => error);
  return { client, verb };
}

/** v2 has so many rows more than v1 that a verb under way holds up their counting for long. */
async function makeLarge(): Promise<Store> {
  const { store, main } = await makeShop();
  execute(main, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1500000) INSERT INTO notes (text) SELECT i FROM n");
  await store.checkpoint(SHOP);
  return store;
}

test(
  "CHANGES-4: what takes long is pending, is counted on while it is asked for, and gives way to verbs",
  { timeout: 60_000 },
  async () => {
    const store = await makeLarge();
    const { client, verb } = await keepBusy(store);
    const pairs = [
      { from: 1, to: 2 },
      { from: 2, to: 2 },
    ];
    const first = await store.changes({ database: "shop", pairs });
    expect(first.map(({ state }) => state)).toEqual(["pending", "known"]);
    await client.stop();
    await verb;
    const [counted] = await countsOf(store, pairs);
    expect(counted && textOf(counted)).toBe("known 1→2 +1500000 −0 ~0 §0: notes +1500000 −0 ~0");
  },
);

test("CHANGES-4: what nobody asks for any more is given up; asked again it is counted", { timeout: 60_000 }, async () => {
  const store = await makeLarge();
  const { client, verb } = await keepBusy(store);
  await store.changes({ database: "shop", pairs: [{ from: 1, to: 2 }] });
  await later(LIMITS.changeLeaseMs + 300);
  await client.stop();
  await verb;
  await later(1_000);
  expect(cachedEntries(store)).toBe(0);
  expect(await countsOfOne(store, 1, 2)).toMatchObject({ state: "known", inserted: 1_500_000 });
  expect(cachedEntries(store)).toBe(1);
});

test("CHANGES-4: a request that is cancelled ends at once, and closing the store ends what is under way", { timeout: 60_000 }, async () => {
  const store = await makeLarge();
  const { client, verb } = await keepBusy(store);
  const abort = new AbortController();
  const asked = store.changes({ database: "shop", pairs: [{ from: 1, to: 2 }] }, { signal: abort.signal });
  abort.abort();
  await expect(asked).rejects.toMatchObject({ code: "cancelled" });
  await client.stop();
  await verb;
  const again = store.changes({ database: "shop", pairs: [{ from: 2, to: 1 }] });
  await store.close();
  expect((await again)[0]?.state).toMatch(/pending|known/);
});

async function runToEnd(script: string): Promise<string> {
  const child = startScript(script);
  const line = await child.nextLine();
  await child.end();
  return line;
}

test("CHANGES-6: processes that count in one store at once agree, and share what they found", { timeout: 60_000 }, async () => {
  const { store, main } = await makeShop();
  for (let version = 2; version <= 12; version += 1) {
    execute(main, `UPDATE notes SET text = 'v${version}' WHERE id <= ${version}; INSERT INTO notes (text) VALUES ('${version}')`);
    await store.checkpoint(SHOP);
  }
  const pairs = Array.from({ length: 11 }, (_, index) => ({ from: null, to: index + 2 }));
  const script = `
    import { openStore } from "#engine/store.ts";
    const store = await openStore(${JSON.stringify(store.path)}, { ownProcess: true });
    const pairs = ${JSON.stringify(pairs)};
    let answer = await store.changes({ database: "shop", pairs });
    while (answer.some(({ state }) => state === "pending")) answer = await store.changes({ database: "shop", pairs });
    console.log(JSON.stringify(answer));
    await store.close();`;
  const [mine, first, second] = await Promise.all([countsOf(store, pairs), runToEnd(script), runToEnd(script)]);
  expect(mine.map(({ inserted, updated }) => [inserted, updated])).toEqual(pairs.map(({ to }) => [1, to]));
  expect(JSON.parse(first)).toEqual(mine);
  expect(JSON.parse(second)).toEqual(mine);
  expect(new Database(cacheFile(store), { readonly: true }).pragma("integrity_check", { simple: true })).toBe("ok");
  expect(cachedEntries(store)).toBe(11);
});

test("CHANGES-4: a program that closes its store while changes are counted ends as it should", { timeout: 60_000 }, async () => {
  const store = await makeLarge();
  await store.close();
  const script = startScript(`
    import { openStore } from "#engine/store.ts";
    const store = await openStore(${JSON.stringify(store.path)}, { actor: "a" });
    await store.changes({ database: "shop", pairs: [{ from: 1, to: 2 }] });
    await store.touch({ database: "shop", branch: "main" });
    await store.close();
    console.log("closed");`);
  expect(await script.nextLine()).toBe("closed");
  expect(await script.end()).toBe(0);
});

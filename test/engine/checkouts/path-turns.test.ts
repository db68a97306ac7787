import { expect, test } from "vitest";
import { isWantedAlone, takeTurn } from "#engine/checkouts/path-turns.ts";

let keys = 0;
const nextKey = (): string => `file ${(keys += 1)}`;

async function take(key: string, mode: "alone" | "shared" = "alone", waitMs = 10_000): Promise<() => void> {
  const end = await takeTurn(key, waitMs, mode);
  if (end === null) throw new Error("the turn did not come");
  return end;
}

/** Who had the turn, in order; each lets the others in between. */
async function runAll(key: string, modes: readonly ("alone" | "shared")[]): Promise<string[]> {
  const log: string[] = [];
  await Promise.all(
    modes.map(async (mode, index) => {
      const end = await take(key, mode);
      log.push(`${index} in`);
      await new Promise((settle) => setTimeout(settle, 5));
      log.push(`${index} out`);
      end();
    }),
  );
  return log;
}

test("CHECKOUT-24: turns alone come one after another, in the order of asking", async () => {
  expect(await runAll(nextKey(), ["alone", "alone", "alone"])).toEqual(["0 in", "0 out", "1 in", "1 out", "2 in", "2 out"]);
});

test("CHECKOUT-24: those that only read share a turn, but do not overtake whoever waits to be alone", async () => {
  const log = await runAll(nextKey(), ["shared", "shared", "alone", "shared", "shared"]);
  expect(log.slice(0, 2)).toEqual(["0 in", "1 in"]);
  expect(log.slice(4, 6)).toEqual(["2 in", "2 out"]);
  expect(log.slice(6, 8)).toEqual(["3 in", "4 in"]);
});

test("CHECKOUT-24: a turn that does not come in time is none, and whoever waits behind it is served", async () => {
  const key = nextKey();
  const end = await take(key);
  expect(await takeTurn(key, 1)).toBeNull();
  expect(await takeTurn(key, 1, "shared")).toBeNull();
  const waiting = take(key, "shared");
  end();
  (await waiting)();
  (await take(key))();
});

test("CHECKOUT-24: when nobody waits to be alone any more, those who waited behind join", async () => {
  const key = nextKey();
  const end = await take(key, "shared");
  const alone = takeTurn(key, 20);
  const joining = take(key, "shared");
  expect(isWantedAlone(key)).toBe(true);
  expect(await alone).toBeNull();
  (await joining)();
  expect(isWantedAlone(key)).toBe(false);
  end();
});

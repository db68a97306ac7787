import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { LIMITS } from "#shared/limits.ts";
import { Activity } from "#engine/upkeep/activity.ts";

async function timed(act: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

/** A little less than a timer promises: timers and the clock round differently. */
const NEARLY = 0.9;

test("MERGE-19: background work does not wait where no verb has run", async () => {
  expect(await timed(() => new Activity().idle())).toBeLessThan(LIMITS.quietMs);
});

test("MERGE-19: it waits for a verb, and for its caller's next one, which is likely to come at once", async () => {
  const activity = new Activity();
  const verb = activity.during(() => sleep(30));
  let isIdle = false;
  const idle = activity.idle().then(() => (isIdle = true));
  await verb;
  expect(isIdle).toBe(false);
  await activity.during(() => Promise.resolve());
  expect(await timed(() => idle.then(() => undefined))).toBeGreaterThanOrEqual(LIMITS.quietMs * NEARLY);
});

test("MERGE-19: it gets on where verbs never end, and when the store is closed", async () => {
  const activity = new Activity();
  const ends = new AbortController();
  const verb = activity.during(() => sleep(60_000, undefined, { signal: ends.signal }).catch(() => undefined));
  const waited = await timed(() => activity.idle());
  expect(waited).toBeGreaterThanOrEqual(LIMITS.giveWayMs * NEARLY);
  const idle = activity.idle();
  activity.end();
  expect(await timed(() => idle)).toBeLessThan(LIMITS.giveWayMs);
  ends.abort();
  await verb;
});

import { expect, test } from "vitest";
import { takeTurns } from "#bench/common/turns.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { fakeBench } from "./fake-bench.ts";

const ofRound = (round: number) => [`limit ${round}`, `prepare ${round}`, `subject ${round}`, `tidy ${round}`];

test("SUITE-3: contestants take turns, and rounds of the warm-up are no samples", async () => {
  const { bench, recorded } = fakeBench(makeTemporaryFolder());
  const order: string[] = [];
  const found = await takeTurns(
    bench,
    [
      { series: "limit", act: (round) => order.push(`limit ${round}`) },
      {
        series: "subject",
        prepare: (round) => order.push(`prepare ${round}`),
        act: (round) => order.push(`subject ${round}`),
        tidy: (round) => order.push(`tidy ${round}`),
      },
    ],
    { title: "Turns", rounds: 2, warmUp: 1 },
  );
  expect(order).toEqual([...ofRound(-1), ...ofRound(0), ...ofRound(1)]);
  expect(recorded.samples.get("limit")).toHaveLength(2);
  expect(found.get("subject")).toEqual(recorded.samples.get("subject"));
});

test("SUITE-3: a contestant that keeps failing is counted and left out, and the others go on", async () => {
  const { bench, recorded } = fakeBench(makeTemporaryFolder());
  let tries = 0;
  await takeTurns(
    bench,
    [
      {
        series: "broken",
        act: () => {
          tries += 1;
          throw new Error(`no ${tries}`);
        },
      },
      { series: "sound", act: () => undefined },
    ],
    { title: "Turns", rounds: 9 },
  );
  expect(recorded.errors.get("broken")).toEqual(["no 1", "no 2", "no 3"]);
  expect(recorded.samples.get("broken")).toBeUndefined();
  expect(recorded.samples.get("sound")).toHaveLength(9);
});

test("SUITE-3: a run that is stopped ends the turns, and what fails because of that is no error", async () => {
  const stop = new AbortController();
  const { bench, recorded } = fakeBench(makeTemporaryFolder(), stop.signal);
  const turns = takeTurns(
    bench,
    [
      {
        series: "stopped",
        act: (round) => {
          if (round < 2) return;
          stop.abort();
          throw new Error("the server has gone");
        },
      },
    ],
    { title: "Turns", rounds: 9 },
  );
  await expect(turns).rejects.toMatchObject({ code: "cancelled" });
  expect(recorded.samples.get("stopped")).toHaveLength(2);
  expect(recorded.errors.size).toBe(0);
});

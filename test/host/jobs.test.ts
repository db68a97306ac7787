import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { JobView } from "#shared/views.ts";
import { EngineError } from "#engine/io/errors.ts";
import { JobRegistry, type JobWork } from "#host/jobs.ts";

const ABOUT = { title: "Work", unit: "pages" as const };

function registry(): { jobs: JobRegistry; events: JobView[] } {
  const events: JobView[] = [];
  return { jobs: new JobRegistry((job) => events.push(job)), events };
}

async function workUntilCancelled({ signal, progress }: JobWork): Promise<never> {
  for (let done = 0; ; done += 1) {
    if (signal.aborted) throw new EngineError("cancelled", "Cancelled");
    progress(done, 1_000_000);
    await sleep(1);
  }
}

test("HOST-3: a job that ends at once is never shown", async () => {
  const { jobs, events } = registry();
  expect(await jobs.run(ABOUT, async () => 5)).toBe(5);
  await expect(jobs.run(ABOUT, () => Promise.reject(new EngineError("io-failed", "no")))).rejects.toThrow("no");
  expect(events).toEqual([]);
  expect(jobs.list()).toEqual([]);
  expect(jobs.running).toBe(0);
});

test("HOST-4: progress is told at most ten times a second, the end always", async () => {
  const { jobs, events } = registry();
  await jobs.run(ABOUT, async ({ progress, phase }) => {
    phase("Storing");
    for (let done = 1; done <= 700; done += 1) {
      progress(done, 700);
      if (done % 10 === 0) await sleep(10);
    }
  });
  const lived = Date.now() - (events[0]?.startedAt ?? 0);
  expect(events.length).toBeLessThanOrEqual(Math.ceil(lived / 100) + 2);
  expect(events.at(-1)).toMatchObject({ phase: "Storing", done: 700, total: 700, state: "done", cancellable: false });
  expect(jobs.list()).toHaveLength(1);
});

test("HOST-5: cancel is acknowledged before the work looks, and the caller gets `cancelled`", async () => {
  const { jobs, events } = registry();
  const running = jobs.run(ABOUT, workUntilCancelled);
  const outcome = running.catch((error: EngineError) => error.code);
  while (events.length === 0) await sleep(5);
  const id = events[0]?.id ?? "";
  jobs.cancel(id);
  expect(events.at(-1)?.state).toBe("cancelling");
  expect(await outcome).toBe("cancelled");
  expect(events.at(-1)?.state).toBe("cancelled");
  jobs.cancel(id);
  expect(jobs.list().map((job) => job.state)).toEqual(["cancelled"]);
  expect(() => jobs.cancel("unknown")).toThrow(/there is no job "unknown"/);
});

test("HOST-5: a job that fails says so, and one that finished in spite of a cancel is done", async () => {
  const { jobs, events } = registry();
  const failing = jobs.run(ABOUT, async () => {
    await sleep(250);
    throw new EngineError("disk-full", "full");
  });
  await expect(failing).rejects.toThrow("full");
  expect(events.at(-1)?.state).toBe("failed");
  const late = jobs.run(ABOUT, () => sleep(300, "kept"));
  await sleep(220);
  jobs.cancelAll();
  expect(await late).toBe("kept");
  expect(events.at(-1)?.state).toBe("done");
});

test("HOST-16: a job that the client named is cancelled at once, before it is announced; its name is taken", async () => {
  const { jobs, events } = registry();
  const running = jobs.run({ ...ABOUT, id: "query-0001" }, workUntilCancelled);
  await expect(jobs.run({ ...ABOUT, id: "query-0001" }, async () => 1)).rejects.toMatchObject({ code: "bad-argument" });
  expect(jobs.list()).toEqual([]);
  jobs.cancel("query-0001");
  expect(events.map(({ id, state }) => [id, state])).toEqual([["query-0001", "cancelling"]]);
  await expect(running).rejects.toMatchObject({ code: "cancelled" });
  expect(await jobs.run({ ...ABOUT, id: "query-0002" }, async () => 2)).toBe(2);
  expect(await jobs.run({ ...ABOUT, id: "query-0002" }, async () => 3)).toBe(3);
});

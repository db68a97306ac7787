import { expect, test } from "vitest";
import type { JobView } from "#shared/views.ts";
import { describeProgress } from "../../../src-renderer/ui/job-row.tsx";

const job: JobView = {
  id: "1",
  title: "Benchmark: Density",
  phase: "Forking",
  done: 37,
  total: 100,
  unit: "percent",
  startedAt: 0,
  state: "running",
  cancellable: true,
};

test("BENCH-15: a benchmark's job says its percent and the time left, like any other", () => {
  expect(describeProgress(job, 500)).toBe("37 %");
  expect(describeProgress(job, 37_000)).toMatch(/^37 % · .* left$/);
  expect(describeProgress({ ...job, unit: "pages" }, 500)).toBe("37 of 100 pages");
});

import { expect, test } from "vitest";
import { formatAge, formatCountdown, formatElapsed, formatIso, formatPlural } from "../../../src-renderer/ui/format.ts";

test("FIGURES-1: ages, times left, durations and ISO times", () => {
  expect([0, 4_000, 12 * 60_000, 2 * 3_600_000, 9 * 86_400_000, 61 * 86_400_000, 800 * 86_400_000].map(formatAge)).toEqual([
    "now",
    "4 s",
    "12 min",
    "2 h",
    "9 d",
    "2 mo",
    "2 y",
  ]);
  expect([-5, 9_000, 9 * 60_000 + 12_000, 52 * 60_000, 3 * 3_600_000 + 240_000, 28 * 3_600_000].map(formatCountdown)).toEqual([
    "expired",
    "9 s",
    "9 m 12 s",
    "52 m",
    "3 h 04 m",
    "1 d 04 h",
  ]);
  expect([0.0123, 0.384, 12.44, 384.4, 1_900].map(formatElapsed)).toEqual(["12.3 µs", "384 µs", "12.4 ms", "384 ms", "1.90 s"]);
  expect(formatPlural(1, "branch", "branches")).toBe("1 branch");
  expect(formatPlural(2, "job")).toBe("2 jobs");
  expect(Date.parse(formatIso(1_796_000_000_000))).toBe(1_796_000_000_000);
});

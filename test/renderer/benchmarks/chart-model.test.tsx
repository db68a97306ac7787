import fc from "fast-check";
import { expect, test } from "vitest";
import {
  lanesOf,
  niceBound,
  placeLabels,
  positionOn,
  scaleFor,
  thinPoints,
  type LabelWish,
} from "../../../src-renderer/benchmarks/chart-model.ts";

const GAP = 5;

/** Where the label of a wish was put, as a box and the line of its mark. */
function boxes(wishes: readonly LabelWish[], placed: ReturnType<typeof placeLabels>) {
  return placed.map((label) => {
    const wish = wishes.find((each) => each.id === label.id);
    return { ...label, end: label.start + (wish?.width ?? 0), x: wish?.x ?? 0 };
  });
}

const WISHES = fc
  .array(fc.record({ x: fc.integer({ min: 60, max: 940 }), width: fc.integer({ min: 20, max: 240 }), left: fc.boolean() }), {
    maxLength: 6,
  })
  .map((list) => list.map(({ x, width, left }, index): LabelWish => ({ id: String(index), x, width, prefer: left ? "left" : "right" })));

test("BENCHSCREEN-5: labels of marks never overlap, whatever their places and widths", () => {
  fc.assert(
    fc.property(WISHES, (wishes) => {
      const placed = boxes(wishes, placeLabels(wishes, [0, 1_000]));
      expect(placed).toHaveLength(wishes.length);
      for (const a of placed) {
        expect(a.start).toBeGreaterThanOrEqual(0);
        expect(a.end).toBeLessThanOrEqual(1_000);
        for (const b of placed) {
          if (a.id !== b.id && a.lane === b.lane) expect(a.end < b.start || b.end < a.start).toBe(true);
        }
      }
    }),
  );
});

test("BENCHSCREEN-5: no line of a mark runs through the label of another one where that can be had", () => {
  // Close together, as percentiles of few samples are, and two published figures near the right edge.
  const marks: LabelWish[] = [
    { id: "p50", x: 100, width: 64, prefer: "left" },
    { id: "p95", x: 130, width: 64, prefer: "right" },
    { id: "p99", x: 134, width: 64, prefer: "right" },
    { id: "max", x: 139, width: 64, prefer: "right" },
  ];
  const placed = boxes(marks, placeLabels(marks, [0, 1_000], [500, 980]));
  for (const label of placed) {
    expect(label.side === "right" ? label.start - label.x : label.x - label.end).toBe(GAP);
    for (const other of placed) {
      if (other.id === label.id || other.lane < label.lane) continue;
      expect(other.x < label.start || other.x > label.end, `${other.id} through ${label.id}`).toBe(true);
    }
  }
  expect(lanesOf(placed)).toBeLessThanOrEqual(3);
  const obstructed = placeLabels([{ id: "max", x: 480, width: 64, prefer: "right" }], [0, 1_000], [500]);
  expect(obstructed[0]?.side).toBe("left");
});

test("BENCHSCREEN-6: of many samples the lowest and highest of each stretch are drawn, in order", () => {
  const few = [3, 1, 2];
  expect(thinPoints(few).map((point) => point.value)).toEqual(few);
  const many = Array.from({ length: 10_001 }, (_, index) => 1 + (index % 7) * 0.01);
  many[7_777] = 50;
  many[3_333] = 0.01;
  const points = thinPoints(many, 2_000);
  expect(points.length).toBeLessThanOrEqual(2_000);
  expect(points.map((point) => point.index)).toEqual(points.map((point) => point.index).toSorted((a, b) => a - b));
  expect(points).toContainEqual({ index: 7_777, value: 50 });
  expect(points).toContainEqual({ index: 3_333, value: 0.01 });
  expect(points.every((point) => many[point.index] === point.value)).toBe(true);
});

test("BENCHSCREEN-7: a scale holds every value, has round ends, and is logarithmic as long as all are positive", () => {
  const values = fc.array(fc.double({ min: 1e-6, max: 1e12, noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(values, fc.boolean(), (found, binary) => {
      const scale = scaleFor(found, 8, binary);
      expect(scale.kind).toBe("log");
      for (const value of found) {
        expect(positionOn(scale, value)).toBeGreaterThanOrEqual(-1e-6);
        expect(positionOn(scale, value)).toBeLessThanOrEqual(1 + 1e-6);
      }
      expect(scale.ticks.length).toBeGreaterThan(0);
      expect(scale.ticks.every((tick) => positionOn(scale, tick) > -1e-6 && positionOn(scale, tick) < 1 + 1e-6)).toBe(true);
      expect(scale.to).toBeGreaterThan(scale.from);
    }),
  );
  expect(scaleFor([0.24, 3.1], 6)).toEqual({ kind: "log", from: 0.2, to: 5, ticks: [0.2, 0.5, 1, 2, 5] });
  expect(scaleFor([500, 5_000], 8, true).ticks).toEqual([256, 512, 1_024, 2_048, 4_096, 8_192]);
  expect(scaleFor([0, 17], 3)).toMatchObject({ kind: "linear", from: 0, to: 20 });
  expect(scaleFor([], 3).ticks.length).toBeGreaterThan(0);
  expect([niceBound(0.2, -1), niceBound(0.2, 1), niceBound(1.01, 1), niceBound(9.99, -1)]).toEqual([0.2, 0.2, 2, 5]);
});

/** The arithmetic of the charts: scales, ticks, which points are drawn, where labels stand. No colours, no elements. */

/** Points beyond this are thinned out before they are drawn. */
export const POINTS_DRAWN_MAX = 2_000;
const STEPS = [1, 2, 5];

export interface Scale {
  readonly kind: "log" | "linear";
  readonly from: number;
  readonly to: number;
  /** Inside `from`…`to`, ascending. */
  readonly ticks: readonly number[];
}

/** 1, 2 or 5 times a power of ten: the next at or below (`direction` −1) or at or above (1) a positive value. */
export function niceBound(value: number, direction: -1 | 1): number {
  const decade = 10 ** Math.floor(Math.log10(value));
  const candidates = [0.5, 1, 2, 5, 10].map((step) => step * decade);
  // The power itself may be off by one unit in the last place: a hair of tolerance keeps 0.2 at 0.2.
  if (direction === 1) return candidates.find((each) => each >= value * (1 - 1e-9)) ?? decade * 10;
  return candidates.findLast((each) => each <= value * (1 + 1e-9)) ?? decade;
}

function logTicks(from: number, to: number, max: number): number[] {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++) {
    for (const step of STEPS) {
      const tick = Number((step * 10 ** power).toPrecision(3));
      if (tick >= from * (1 - 1e-9) && tick <= to * (1 + 1e-9)) ticks.push(tick);
    }
  }
  if (ticks.length <= max) return ticks;
  const decades = ticks.filter((tick) => String(tick.toExponential()).startsWith("1e"));
  if (decades.length <= 1) return ticks.filter((_, index) => index % Math.ceil(ticks.length / max) === 0);
  return decades.filter((_, index) => index % Math.ceil(decades.length / max) === 0);
}

function linearScale(low: number, high: number, max: number): Scale {
  const span = high - low || Math.abs(high) || 1;
  const step = niceBound(span / Math.max(1, max - 1), 1);
  const from = Math.floor(low / step + 1e-9) * step;
  const to = Math.max(Math.ceil(high / step - 1e-9) * step, from + step);
  const count = Math.round((to - from) / step);
  return { kind: "linear", from, to, ticks: Array.from({ length: count + 1 }, (_, index) => Number((from + index * step).toPrecision(6))) };
}

function binaryScale(low: number, high: number, max: number): Scale {
  const first = Math.floor(Math.log2(low) + 1e-9);
  const last = Math.max(Math.ceil(Math.log2(high) - 1e-9), first + 1);
  const every = Math.ceil((last - first + 1) / max);
  const powers = Array.from({ length: last - first + 1 }, (_, index) => first + index).filter((power) => power % every === 0);
  return { kind: "log", from: 2 ** first, to: 2 ** last, ticks: powers.map((power) => 2 ** power) };
}

/** A scale that holds all values, with at most about `max` ticks. Logarithmic unless a value is not positive; `binary` for bytes. */
export function scaleFor(values: readonly number[], max: number, binary = false): Scale {
  const finite = values.filter((value) => Number.isFinite(value));
  let low = Infinity;
  let high = -Infinity;
  for (const value of finite) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (finite.length === 0) return { kind: "log", from: 0.1, to: 10, ticks: [0.1, 1, 10] };
  if (low <= 0) return linearScale(low, high, max);
  if (binary) return binaryScale(low, high, max);
  const from = niceBound(low, -1);
  const wanted = niceBound(high, 1);
  const to = wanted > from ? wanted : niceBound(from * 1.5, 1);
  return { kind: "log", from, to, ticks: logTicks(from, to, max) };
}

/** Where a value stands between the ends of a scale: 0 … 1. */
export function positionOn(scale: Scale, value: number): number {
  if (scale.kind === "linear") return (value - scale.from) / (scale.to - scale.from);
  return Math.log(value / scale.from) / Math.log(scale.to / scale.from);
}

export interface Point {
  readonly index: number;
  readonly value: number;
}

/** All points, or the lowest and highest of each stretch: what stands out stays in sight. In order. */
export function thinPoints(samples: readonly number[], max = POINTS_DRAWN_MAX): readonly Point[] {
  if (samples.length <= max) return samples.map((value, index) => ({ index, value }));
  const stretches = Math.floor(max / 2);
  const points: Point[] = [];
  for (let stretch = 0; stretch < stretches; stretch++) {
    const start = Math.floor((stretch * samples.length) / stretches);
    const end = Math.floor(((stretch + 1) * samples.length) / stretches);
    let low = start;
    let high = start;
    for (let index = start; index < end; index++) {
      if ((samples[index] ?? 0) < (samples[low] ?? 0)) low = index;
      if ((samples[index] ?? 0) > (samples[high] ?? 0)) high = index;
    }
    for (const index of low === high ? [low] : [Math.min(low, high), Math.max(low, high)])
      points.push({ index, value: samples[index] ?? 0 });
  }
  return points;
}

export interface LabelWish {
  readonly id: string;
  /** Place of the mark that it belongs to. */
  readonly x: number;
  readonly width: number;
  /** The side it would rather stand on. */
  readonly prefer: "left" | "right";
}
export interface PlacedLabel {
  readonly id: string;
  readonly side: "left" | "right";
  /** Left edge of the text. */
  readonly start: number;
  /** 0 is the lane next to the chart; higher ones are further away. */
  readonly lane: number;
}

const LABEL_GAP = 5;
const LABEL_APART = 8;
/** Between a label and the line of another mark. */
const CLEAR = 4;
/** Tries of one search: it is done ten times a second. */
const TRIES_MAX = 5_000;

interface Placing {
  /** From the right: labels mostly stand right of their marks, and then see the lines that they have to stay above. */
  readonly wishes: readonly LabelWish[];
  readonly from: number;
  readonly to: number;
  /** Lines that run through every lane. */
  readonly obstacles: readonly number[];
}

interface Standing extends PlacedLabel {
  readonly x: number;
  readonly end: number;
}

function stand(wish: LabelWish, side: "left" | "right", lane: number): Standing {
  const start = side === "right" ? wish.x + LABEL_GAP : wish.x - LABEL_GAP - wish.width;
  return { id: wish.id, side, start, lane, x: wish.x, end: start + wish.width };
}

const isThrough = (x: number, label: Standing): boolean => x > label.start - CLEAR && x < label.end + CLEAR;

/** Marks are drawn from their own lane down to the axis: through all lanes below. */
function isInTheWay(label: Standing, other: Standing): boolean {
  if (label.lane === other.lane && label.start < other.end + LABEL_APART && other.start < label.end + LABEL_APART) return true;
  return (other.lane >= label.lane && isThrough(other.x, label)) || (label.lane >= other.lane && isThrough(label.x, other));
}

/** Tries every side and lane; null when nothing fits in so many lanes, or it took too long to find out. */
function searchPlaces(placing: Placing, lanes: number): readonly Standing[] | null {
  const { wishes, from, to, obstacles } = placing;
  const placed: Standing[] = [];
  let tries = 0;
  const fits = (label: Standing) =>
    label.start >= from &&
    label.end <= to &&
    obstacles.every((x) => !isThrough(x, label)) &&
    placed.every((other) => !isInTheWay(label, other));
  const search = (index: number): boolean => {
    const wish = wishes[index];
    if (!wish) return true;
    const sides = wish.prefer === "right" ? (["right", "left"] as const) : (["left", "right"] as const);
    for (let lane = 0; lane < lanes; lane++) {
      for (const side of sides) {
        tries += 1;
        if (tries > TRIES_MAX) return false;
        const label = stand(wish, side, lane);
        if (!fits(label)) continue;
        placed.push(label);
        if (search(index + 1)) return true;
        placed.pop();
      }
    }
    return false;
  };
  return search(0) ? placed : null;
}

/**
 * Places labels beside their marks inside `from`…`to` so that no two overlap and no line of a mark runs through the label
 * of another one, in as few lanes as that takes. `obstacles` are lines that run through every lane. Where nothing of the
 * kind is possible each label has a lane of its own, held inside.
 */
export function placeLabels(
  wishes: readonly LabelWish[],
  [from, to]: readonly [number, number],
  obstacles: readonly number[] = [],
): readonly PlacedLabel[] {
  const fromRight = wishes.toSorted((a, b) => b.x - a.x);
  for (let lanes = 1; lanes <= wishes.length; lanes++) {
    const placed = searchPlaces({ wishes: fromRight, from, to, obstacles }, lanes);
    if (placed) return placed.map(({ id, side, start, lane }) => ({ id, side, start, lane }));
  }
  return fromRight.map((wish, lane) => {
    const { side, start } = stand(wish, wish.prefer, lane);
    return { id: wish.id, side, start: Math.max(from, Math.min(start, to - wish.width)), lane };
  });
}

/** Lanes that labels take. */
export function lanesOf(labels: readonly PlacedLabel[]): number {
  return labels.reduce((most, label) => Math.max(most, label.lane + 1), 0);
}

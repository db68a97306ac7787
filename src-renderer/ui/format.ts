/** Figures as people read them: locale grouping, two largest units, three significant digits. */
const COUNT = new Intl.NumberFormat();

export function formatCount(value: number): string {
  return COUNT.format(value);
}

/** "1 branch", "2,118 branches". */
export function formatPlural(value: number, one: string, many = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : many}`;
}

function pad(value: number): string {
  return String(Math.abs(value)).padStart(2, "0");
}

const AGE_UNITS: readonly (readonly [number, string])[] = [
  [365 * 86_400_000, "y"],
  [30 * 86_400_000, "mo"],
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** Time since, in its largest unit: "now", "12 min", "9 d". A clock that ran ahead counts as now. */
export function formatAge(sinceMs: number): string {
  for (const [size, unit] of AGE_UNITS) {
    if (sinceMs >= size) return `${Math.floor(sinceMs / size)} ${unit}`;
  }
  return "now";
}

/** Time left, the second unit padded so that a column stands still: "1 d 04 h", "52 m"; seconds only in the last ten minutes. */
export function formatCountdown(leftMs: number): string {
  if (leftMs <= 0) return "expired";
  const seconds = Math.floor(leftMs / 1000);
  if (seconds >= 86_400) return `${Math.floor(seconds / 86_400)} d ${pad(Math.floor(seconds / 3600) % 24)} h`;
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${pad(Math.floor(seconds / 60) % 60)} m`;
  if (seconds >= 600) return `${Math.floor(seconds / 60)} m`;
  return seconds >= 60 ? `${Math.floor(seconds / 60)} m ${pad(seconds % 60)} s` : `${seconds} s`;
}

/** Three significant digits: "384 µs", "12.4 ms", "1.90 s". */
export function formatElapsed(ms: number): string {
  const [value, unit] = ms < 1 ? [ms * 1000, "µs"] : ms < 1000 ? [ms, "ms"] : [ms / 1000, "s"];
  return `${value >= 100 ? Math.round(value) : value.toPrecision(3)} ${unit}`;
}

/** The ISO form shown on hover, in local time with its offset. */
export function formatIso(at: number): string {
  const date = new Date(at);
  const offset = -date.getTimezoneOffset();
  const local = new Date(at + offset * 60_000).toISOString().slice(0, 19);
  return `${local}${offset < 0 ? "-" : "+"}${pad(Math.trunc(offset / 60))}:${pad(offset % 60)}`;
}

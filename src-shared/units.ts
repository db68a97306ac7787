/** Durations and sizes as people write them. */

const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const SIZE_UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1024,
  kib: 1024,
  mb: 1024 ** 2,
  mib: 1024 ** 2,
  gb: 1024 ** 3,
  gib: 1024 ** 3,
  tb: 1024 ** 4,
  tib: 1024 ** 4,
};

/** "90s", "2h", "1h30m", "7d" → milliseconds; null when the text is no duration. */
export function parseDuration(text: string): number | null {
  if (!/^(\d+(\.\d+)?(ms|[smhdw]))+$/.test(text)) return null;
  let total = 0;
  for (const part of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) total += Number(part[1]) * (DURATION_UNITS[part[2] ?? ""] ?? 0);
  return Number.isSafeInteger(Math.round(total)) ? Math.round(total) : null;
}

/** 5_400_000 → "1 h 30 m": the two largest units. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "m"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([n]) => n > 0);
  return parts
    .slice(first, first + 2)
    .filter(([n]) => n > 0)
    .map(([n, unit]) => `${n} ${unit}`)
    .join(" ");
}

/** "1MB", "512KiB", "100" → bytes (powers of 1024); null when the text is no size. */
export function parseBytes(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?i?b)?$/i.exec(text);
  if (!match) return null;
  return Math.round(Number(match[1]) * (SIZE_UNITS[(match[2] ?? "b").toLowerCase()] ?? 1));
}

/** 13_002_342 → "12.4 MiB". */
export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${value} B` : `${value.toFixed(1)} ${units[unit]}`;
}

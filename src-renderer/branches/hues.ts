/** A branch keeps its hue wherever it is drawn, because the hue comes from its name; main is neutral. */
const HUES = 8;

/** FNV-1a over UTF-16 units: small and well spread for names that differ in their last digit. */
function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** A CSS colour. Never the only sign of a branch: its name stands beside it. */
export function laneColor(name: string): string {
  return name === "main" ? "var(--lane-main)" : `var(--lane-${(hashName(name) % HUES) + 1})`;
}

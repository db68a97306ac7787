import type { WindowState } from "#host/settings.ts";

export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const DEFAULT_SIZE = { width: 1280, height: 800 };
export const MINIMUM_SIZE = { width: 800, height: 500 };
/** So much of the window must be on a display for it to be found again. */
const VISIBLE_MIN = 120;

/**
 * Where to open the window: as it was, moved and shrunk onto the displays that exist now; centred on the first one when
 * it would not be seen. Work areas in device-independent pixels, at least one.
 */
export function placeWindow(saved: WindowState | null, workAreas: readonly [Area, ...Area[]]): WindowState {
  const home = saved ? workAreas.find((area) => overlaps(saved, area)) : undefined;
  const area = home ?? workAreas[0];
  const width = clamp(saved?.width ?? DEFAULT_SIZE.width, Math.min(MINIMUM_SIZE.width, area.width), area.width);
  const height = clamp(saved?.height ?? DEFAULT_SIZE.height, Math.min(MINIMUM_SIZE.height, area.height), area.height);
  const x = home && saved ? clamp(saved.x, area.x, area.x + area.width - width) : area.x + Math.round((area.width - width) / 2);
  const y = home && saved ? clamp(saved.y, area.y, area.y + area.height - height) : area.y + Math.round((area.height - height) / 2);
  return { x, y, width, height, maximized: saved?.maximized ?? false };
}

function overlaps(window: Area, area: Area): boolean {
  const wide = Math.min(window.x + window.width, area.x + area.width) - Math.max(window.x, area.x);
  const high = Math.min(window.y + window.height, area.y + area.height) - Math.max(window.y, area.y);
  return wide >= VISIBLE_MIN && high >= VISIBLE_MIN;
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}

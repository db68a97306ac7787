import { useEffect, useState } from "react";

/** How wide text is in the charts' font: labels are placed before they are drawn. */
export const CHART_FONT = '"Inter Variable", "Segoe UI", "Noto Sans", sans-serif';
export const CHART_FONT_PX = 11;

let context: CanvasRenderingContext2D | null | undefined;
const known = new Map<string, number>();
/** Labels repeat from frame to frame; figures in them change. */
const KNOWN_MAX = 2_000;

/** CSS pixels. */
export function textWidth(text: string, weight: 400 | 600 = 400): number {
  const key = `${weight} ${text}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  context ??= document.createElement("canvas").getContext("2d");
  if (!context) return text.length * 6.5;
  context.font = `${weight} ${CHART_FONT_PX}px ${CHART_FONT}`;
  const width = Math.ceil(context.measureText(text).width);
  if (known.size >= KNOWN_MAX) known.clear();
  // Before the font has come, text is measured in another one.
  if (document.fonts.check(context.font)) known.set(key, width);
  return width;
}

/** Fonts come when they are first needed; a canvas does not wait for them. Never fails: another font is used then. */
export async function loadChartFonts(): Promise<void> {
  await Promise.allSettled([400, 600].map((weight) => document.fonts.load(`${weight} ${CHART_FONT_PX}px ${CHART_FONT}`)));
}

/** Renders anew once the fonts are there: labels that were placed before have other widths. */
export function useFontsLoaded(): boolean {
  const [loaded, setLoaded] = useState(false);
  useEffect(() => {
    let gone = false;
    void loadChartFonts().then(() => !gone && setLoaded(true));
    return () => {
      gone = true;
    };
  }, []);
  return loaded;
}

/** The text, or its beginning and an ellipsis, at most so wide. */
export function cutText(text: string, width: number, weight: 400 | 600 = 400): string {
  if (textWidth(text, weight) <= width) return text;
  let end = text.length;
  while (end > 1 && textWidth(`${text.slice(0, end).trimEnd()}…`, weight) > width) end -= 1;
  return `${text.slice(0, end).trimEnd()}…`;
}

/** Values of SQL as text for people. */
import type { DataValue } from "#shared/query-views.ts";
import { plainText } from "#shared/row-text.ts";

const CELL_CHARS = 80;

/** One line. Plain text stands as it is; NULL, blobs and text that is none say what they are. */
export function shownCell(value: DataValue): string {
  const text = plainText(value, "NULL").replaceAll("\n", String.raw`\n`);
  return text.length > CELL_CHARS ? `${text.slice(0, CELL_CHARS - 1)}…` : text;
}

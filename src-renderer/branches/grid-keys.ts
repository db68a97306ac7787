/** What a key does in the branch list; pure, so that the treegrid's keyboard is tested without a browser. */
import { branchKey, type Row } from "./rows.ts";

export type GridMove =
  | { readonly kind: "focus"; readonly key: string; readonly extend: boolean }
  | { readonly kind: "toggle"; readonly key: string; readonly open: boolean }
  | { readonly kind: "menu"; readonly key: string }
  | { readonly kind: "select-toggle"; readonly key: string }
  | { readonly kind: "select-all" };

export interface GridKey {
  readonly key: string;
  readonly shift: boolean;
  readonly mod: boolean;
}

/** What the keys need to know of a row: other treegrids have rows of their own. */
export type KeyRow = Pick<Row, "key" | "expandable" | "expanded" | "parentKey"> & { readonly kind: string };

/** `pageRows` is how many rows fit on the screen. Null: the key is not for the list. */
export function moveInGrid(rows: readonly KeyRow[], focusedKey: string | null, pressed: GridKey, pageRows: number): GridMove | null {
  const index = rows.findIndex((row) => row.key === focusedKey);
  const row = rows[index];
  const focusAt = (target: number): GridMove | null => {
    const clamped = rows[Math.max(0, Math.min(rows.length - 1, target))];
    return clamped ? { kind: "focus", key: clamped.key, extend: pressed.shift } : null;
  };
  if (pressed.mod) return pressed.key.toLowerCase() === "a" ? { kind: "select-all" } : null;
  switch (pressed.key) {
    case "ArrowDown":
      return focusAt(index + 1);
    case "ArrowUp":
      return focusAt(index < 0 ? 0 : index - 1);
    case "Home":
      return focusAt(0);
    case "End":
      return focusAt(rows.length - 1);
    case "PageDown":
      return focusAt(index + pageRows);
    case "PageUp":
      return focusAt(index - pageRows);
    case "ArrowRight":
      if (!row?.expandable) return null;
      return row.expanded ? focusAt(index + 1) : { kind: "toggle", key: row.key, open: true };
    case "ArrowLeft":
      if (row?.expanded) return { kind: "toggle", key: row.key, open: false };
      return row?.parentKey ? { kind: "focus", key: row.parentKey, extend: false } : null;
    case "Enter":
      if (!row) return null;
      return row.kind === "branch" ? { kind: "menu", key: row.key } : { kind: "toggle", key: row.key, open: !row.expanded };
    case " ":
      return row ? { kind: "select-toggle", key: row.key } : null;
    case "ContextMenu":
    case "F10":
      return row && (pressed.key === "ContextMenu" || pressed.shift) ? { kind: "menu", key: row.key } : null;
    default:
      return null;
  }
}

/** The next branch whose name starts with what was typed, from the focused row on, around the end. */
export function findTyped(rows: readonly Row[], focusedKey: string | null, typed: string): string | null {
  const start = rows.findIndex((row) => row.key === focusedKey);
  // A first letter moves on to the next match; more letters may stay where they are.
  const offset = typed.length === 1 ? 1 : 0;
  for (let step = 0; step < rows.length; step++) {
    const row = rows[(Math.max(start, 0) + offset + step) % rows.length];
    if (row && labelOf(row).startsWith(typed)) return row.key;
  }
  return null;
}

function labelOf(row: Row): string {
  if (row.kind === "branch") return row.label;
  if (row.kind === "folder") return row.path;
  return row.kind === "bundle" ? row.prefix : "";
}

/** Branches that a row stands for. */
export function idsOfRow(row: Row): readonly number[] {
  return row.kind === "branch" ? [row.branch.id] : row.members.map((branch) => branch.id);
}

/** Branches from one row to another, both included. */
export function idsBetween(rows: readonly Row[], fromKey: string, toKey: string): ReadonlySet<number> {
  const a = rows.findIndex((row) => row.key === fromKey);
  const b = rows.findIndex((row) => row.key === toKey);
  if (a < 0 || b < 0) return new Set();
  return new Set(rows.slice(Math.min(a, b), Math.max(a, b) + 1).flatMap(idsOfRow));
}

/** Where the focus goes when its row has gone: to the branch's own row, else to the same place in the list. */
export function repairFocus(rows: readonly Row[], focusedKey: string | null, branchId: number | null, oldIndex: number): string | null {
  if (focusedKey !== null && rows.some((row) => row.key === focusedKey)) return focusedKey;
  if (branchId !== null && rows.some((row) => row.key === branchKey(branchId))) return branchKey(branchId);
  return rows[Math.min(Math.max(oldIndex, 0), rows.length - 1)]?.key ?? null;
}

import { cx } from "./cx.ts";

const MAC = /Mac/.test(globalThis.navigator?.userAgent ?? "");
const WORDS: Readonly<Record<string, string>> = MAC
  ? { Mod: "⌘", Shift: "⇧", Alt: "⌥", Enter: "↩", Delete: "⌫", Escape: "esc" }
  : { Mod: "Ctrl", Escape: "Esc" };

/** "Mod+Shift+Z" → "Ctrl Shift Z", or "⌘ ⇧ Z" on a Mac. */
export function formatShortcut(shortcut: string): string {
  return shortcut
    .split("+")
    .map((key) => WORDS[key] ?? key)
    .join(" ");
}

export function Kbd({ shortcut, className }: { readonly shortcut: string; readonly className?: string }) {
  return <kbd className={cx("font-sans text-2xs whitespace-nowrap opacity-75", className)}>{formatShortcut(shortcut)}</kbd>;
}

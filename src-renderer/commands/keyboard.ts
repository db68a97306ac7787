import type { Api } from "../api/api.ts";
import { COMMANDS, runCommand } from "./commands.ts";
import type { Command } from "./command.ts";

/** "Mod+Shift+Z" for a key event; Mod is ⌘ on a Mac, Ctrl elsewhere. */
export function shortcutOf(event: KeyboardEvent, platform: string): string {
  const mod = platform === "darwin" ? event.metaKey : event.ctrlKey;
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  // "?" is typed with Shift on most keyboards: the sign counts, not how it is made.
  const shift = event.shiftKey && (event.key.length > 1 || /[A-Z0-9]/.test(key));
  return [mod ? "Mod" : null, event.altKey ? "Alt" : null, shift ? "Shift" : null, key].filter((part) => part !== null).join("+");
}

function isEditor(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input:not([type=checkbox], [type=radio]), textarea, select"))
  );
}

/** Inside editors only what cannot be typed or edit text reaches commands. */
const EDITOR_KEYS = /^(Mod\+[KFNSO1-9]|(Shift\+)?F6)$/;

function appliesHere(command: Command, shortcut: string, event: KeyboardEvent): boolean {
  if (isEditor(event.target)) return EDITOR_KEYS.test(shortcut);
  if (command.menu !== "branch" || shortcut.startsWith("Mod+")) return true;
  return event.target instanceof Element && event.target.closest("[data-branch-keys]") !== null;
}

/** Listens to the whole window; returns how to stop. A dialog that is open keeps the keyboard for itself. */
export function listenToKeyboard(api: Api): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    if (event.target instanceof Element && event.target.closest("[role=dialog], [role=menu]")) return;
    const shortcut = shortcutOf(event, api.platform);
    const command = COMMANDS.find((candidate) => candidate.shortcuts?.includes(shortcut) && appliesHere(candidate, shortcut, event));
    if (command && runCommand(api, command.id)) event.preventDefault();
    else if (shortcut === "Mod+S" || shortcut === "Mod+O") event.preventDefault();
  };
  window.addEventListener("keydown", onKeyDown);
  return () => window.removeEventListener("keydown", onKeyDown);
}

import type { Api } from "../api/api.ts";
import type { MenuEntry } from "../ui/menu.tsx";
import { APP_COMMANDS } from "./app-commands.ts";
import { BRANCH_COMMANDS } from "./branch-commands.ts";
import { RUN_COMMANDS } from "./run-commands.ts";
import { SQL_COMMANDS } from "./sql-commands.ts";
import { createContext, isEnabled, titleOf, type Command, type CommandContext, type MenuName } from "./command.ts";

export const COMMANDS: readonly Command[] = [...APP_COMMANDS, ...BRANCH_COMMANDS, ...RUN_COMMANDS, ...SQL_COMMANDS];

const BY_ID = new Map(COMMANDS.map((command) => [command.id, command]));

/** Runs a command by id when it applies; answers whether it did. */
export function runCommand(api: Api, id: string): boolean {
  const command = BY_ID.get(id);
  const context = createContext(api);
  if (!command || !isEnabled(command, context)) return false;
  void command.run(context);
  return true;
}

export function commandShortcut(id: string): string | undefined {
  return BY_ID.get(id)?.shortcuts?.[0];
}

export function toMenuEntry(command: Command, context: CommandContext): MenuEntry {
  return {
    kind: "item",
    id: command.id,
    label: titleOf(command, context),
    icon: command.icon,
    shortcut: command.shortcuts?.[0],
    danger: command.danger,
    disabled: !isEnabled(command, context),
    checked: command.checked?.(context),
    run: () => void command.run(context),
  };
}

/** A menu's entries with lines between groups. `applicable` leaves out what cannot be done now. */
export function menuEntries(menu: MenuName, context: CommandContext, applicable: boolean): readonly MenuEntry[] {
  const entries: MenuEntry[] = [];
  let group: number | null = null;
  for (const command of COMMANDS) {
    if (command.menu !== menu || (applicable && !isEnabled(command, context))) continue;
    if (group !== null && command.group !== group) entries.push({ kind: "separator", id: `before-${command.id}` });
    group = command.group;
    entries.push(toMenuEntry(command, context));
  }
  return entries;
}

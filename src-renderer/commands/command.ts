import type { LucideIcon } from "lucide-react";
import type { BranchView } from "#shared/views.ts";
import type { Api } from "../api/api.ts";
import { appState, type AppState } from "../app-state.ts";
import { branchList, type BranchListState } from "../branches/branch-list.ts";
import { branchesView, type BranchesView } from "../branches/branches-view.ts";

export type MenuName = "file" | "edit" | "branch" | "view" | "run" | "help";

/** What a command may look at when it decides whether it applies. */
export interface CommandContext {
  readonly api: Api;
  readonly app: AppState;
  readonly list: BranchListState;
  readonly view: BranchesView;
  /** The branch in focus. */
  readonly branch: BranchView | null;
  /** All selected branches. */
  readonly selected: readonly BranchView[];
}

/** Everything that can be done, once: menus, palette, keyboard, buttons and the application's menu read this. */
export interface Command {
  readonly id: string;
  /** Names the act, with its object where there is one. */
  readonly title: string | ((context: CommandContext) => string);
  readonly icon?: LucideIcon;
  /** "Mod+Shift+Z"; a bare key ("N") works in the branch list only. The first one is shown. */
  readonly shortcuts?: readonly string[];
  readonly menu: MenuName;
  /** Commands of one menu and group stand together. */
  readonly group: number;
  readonly danger?: boolean;
  /** Left out: always. */
  readonly when?: (context: CommandContext) => boolean;
  readonly checked?: (context: CommandContext) => boolean;
  readonly run: (context: CommandContext) => void | Promise<unknown>;
}

export function createContext(api: Api): CommandContext {
  const app = appState.get();
  const list = branchList.get();
  const selected = [...app.selection].flatMap((id) => list.byId.get(id) ?? []);
  const branch = app.branchId === null ? null : (list.byId.get(app.branchId) ?? null);
  return { api, app, list, view: branchesView.get(), branch, selected };
}

export function titleOf(command: Command, context: CommandContext): string {
  return typeof command.title === "function" ? command.title(context) : command.title;
}

export function isEnabled(command: Command, context: CommandContext): boolean {
  return command.when?.(context) ?? true;
}

import {
  Activity,
  Command as CommandIcon,
  FileDown,
  Gauge,
  GitBranch,
  GitCompareArrows,
  History,
  Keyboard,
  ListTree,
  PieChart,
  Redo2,
  Rows3,
  Settings,
  Table2,
  Trash2,
  Undo2,
} from "lucide-react";
import { redoOperation, undoOperation } from "../api/perform.ts";
import { openDialog, openImport, setTheme, showScreen, type ScreenName, type Theme } from "../app-state.ts";
import { changeBranchesView } from "../branches/branches-view.ts";
import { leaveStore } from "../shell/enter-store.ts";
import { focusFilter, focusNextPane, hasFilter } from "../shell/focus.ts";
import type { Command, CommandContext } from "./command.ts";

const hasStore = ({ app }: CommandContext): boolean => app.hello?.store != null;
const onBranches = (context: CommandContext): boolean => hasStore(context) && context.app.screen === "branches";

function screenCommand(screen: ScreenName, title: string, icon: Command["icon"], digit: number): Command {
  return {
    id: `view.${screen}`,
    title,
    ...(icon ? { icon } : {}),
    shortcuts: [`Mod+${digit}`],
    menu: "view",
    group: 1,
    when: hasStore,
    run: () => showScreen(screen),
  };
}

function themeCommand(theme: Theme, title: string): Command {
  return {
    id: `view.theme-${theme}`,
    title,
    menu: "view",
    group: 3,
    checked: ({ app }) => app.theme === theme,
    run: () => setTheme(theme),
  };
}

export const APP_COMMANDS: readonly Command[] = [
  {
    id: "file.import",
    title: "Import a SQLite file…",
    icon: FileDown,
    shortcuts: ["Mod+O"],
    menu: "file",
    group: 1,
    run: () => openImport(null),
  },
  { id: "file.close-store", title: "Open another store…", menu: "file", group: 2, when: hasStore, run: ({ api }) => leaveStore(api) },
  {
    id: "edit.undo",
    title: "Undo",
    icon: Undo2,
    shortcuts: ["Mod+Z"],
    menu: "edit",
    group: 1,
    when: hasStore,
    run: ({ api }) => undoOperation(api, null),
  },
  {
    id: "edit.redo",
    title: "Redo",
    icon: Redo2,
    shortcuts: ["Mod+Shift+Z", "Mod+Y"],
    menu: "edit",
    group: 1,
    when: hasStore,
    run: ({ api }) => redoOperation(api),
  },
  {
    id: "edit.filter",
    title: "Filter",
    shortcuts: ["Mod+F"],
    menu: "edit",
    group: 2,
    when: hasStore,
    run: () => {
      // Screens without a filter lead to the one that is searched most.
      if (!hasFilter()) showScreen("branches");
      focusFilter();
    },
  },
  screenCommand("branches", "Branches", GitBranch, 1),
  screenCommand("history", "History", History, 2),
  screenCommand("diff", "Diff", GitCompareArrows, 3),
  screenCommand("data", "Data", Table2, 4),
  screenCommand("usage", "Usage", PieChart, 5),
  screenCommand("benchmarks", "Benchmarks", Gauge, 6),
  screenCommand("activity", "Activity", Activity, 7),
  screenCommand("trash", "Trash", Trash2, 8),
  screenCommand("settings", "Settings", Settings, 9),
  {
    id: "view.graph",
    title: "Branches as graph",
    icon: ListTree,
    menu: "view",
    group: 2,
    when: onBranches,
    checked: ({ view }) => view.mode === "graph",
    run: () => changeBranchesView({ mode: "graph" }),
  },
  {
    id: "view.flat",
    title: "Branches as flat list",
    icon: Rows3,
    menu: "view",
    group: 2,
    when: onBranches,
    checked: ({ view }) => view.mode === "flat",
    run: () => changeBranchesView({ mode: "flat" }),
  },
  {
    id: "view.show-all",
    title: "Show hidden branches",
    menu: "view",
    group: 2,
    when: ({ view }) => view.hidden.size > 0 || view.solo !== null,
    run: () => changeBranchesView({ hidden: new Set(), solo: null }),
  },
  themeCommand("system", "Theme: as the system"),
  themeCommand("light", "Theme: light"),
  themeCommand("dark", "Theme: dark"),
  { id: "view.next-pane", title: "Next pane", shortcuts: ["F6"], menu: "view", group: 4, run: () => focusNextPane(1) },
  { id: "view.previous-pane", title: "Previous pane", shortcuts: ["Shift+F6"], menu: "view", group: 4, run: () => focusNextPane(-1) },
  {
    id: "help.palette",
    title: "Search and commands",
    icon: CommandIcon,
    shortcuts: ["Mod+K"],
    menu: "help",
    group: 1,
    run: () => openDialog({ kind: "palette" }),
  },
  {
    id: "help.shortcuts",
    title: "Keyboard shortcuts",
    icon: Keyboard,
    shortcuts: ["?"],
    menu: "help",
    group: 1,
    run: () => openDialog({ kind: "shortcuts" }),
  },
];

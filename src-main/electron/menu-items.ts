/** What stands in the application menu, as data: no Electron here, so that it can be checked against the screens. */
export type MenuItemSpec =
  | { readonly separator: true }
  | {
      readonly role:
        | "quit"
        | "cut"
        | "copy"
        | "paste"
        | "selectAll"
        | "togglefullscreen"
        | "zoomIn"
        | "zoomOut"
        | "resetZoom"
        | "toggleDevTools"
        | "minimize"
        | "close";
    }
  | { readonly command: string; readonly label: string; readonly keys?: string };

const line: MenuItemSpec = { separator: true };

export const MENU_ITEMS: readonly { readonly label: string; readonly items: readonly MenuItemSpec[] }[] = [
  {
    label: "File",
    items: [
      { command: "file.import", label: "Import a SQLite File…", keys: "CmdOrCtrl+O" },
      { command: "file.close-store", label: "Open Another Store…" },
      line,
      { role: "quit" },
    ],
  },
  {
    label: "Edit",
    items: [
      { command: "edit.undo", label: "Undo", keys: "CmdOrCtrl+Z" },
      { command: "edit.redo", label: "Redo", keys: "CmdOrCtrl+Shift+Z" },
      line,
      { role: "cut" },
      { role: "copy" },
      { role: "paste" },
      { role: "selectAll" },
      line,
      { command: "edit.filter", label: "Filter", keys: "CmdOrCtrl+F" },
    ],
  },
  {
    label: "Branch",
    items: [
      { command: "branch.fork", label: "Fork…", keys: "CmdOrCtrl+N" },
      { command: "branch.checkpoint", label: "Checkpoint…", keys: "CmdOrCtrl+S" },
      { command: "branch.rollback", label: "Roll Back…" },
      { command: "branch.promote-onto", label: "Promote Onto…" },
      line,
      { command: "branch.copy-path", label: "Copy Path" },
      { command: "branch.reveal", label: "Show in File Manager" },
      { command: "branch.data", label: "Browse Data" },
      { command: "branch.history", label: "Show History" },
      line,
      { command: "branch.rename", label: "Rename", keys: "F2" },
      { command: "branch.protect", label: "Protect" },
      { command: "branch.unprotect", label: "Unprotect" },
      { command: "branch.expire", label: "Expire…" },
      { command: "branch.delete", label: "Delete", keys: "Delete" },
    ],
  },
  {
    label: "View",
    items: [
      { command: "view.branches", label: "Branches", keys: "CmdOrCtrl+1" },
      { command: "view.history", label: "History", keys: "CmdOrCtrl+2" },
      { command: "view.diff", label: "Diff", keys: "CmdOrCtrl+3" },
      { command: "view.data", label: "Data", keys: "CmdOrCtrl+4" },
      { command: "view.usage", label: "Usage", keys: "CmdOrCtrl+5" },
      { command: "view.benchmarks", label: "Benchmarks", keys: "CmdOrCtrl+6" },
      { command: "view.activity", label: "Activity", keys: "CmdOrCtrl+7" },
      { command: "view.trash", label: "Trash", keys: "CmdOrCtrl+8" },
      { command: "view.settings", label: "Settings", keys: "CmdOrCtrl+9" },
      line,
      { command: "view.graph", label: "Branches as Graph" },
      { command: "view.flat", label: "Branches as Flat List" },
      line,
      { command: "view.theme-system", label: "Theme: As the System" },
      { command: "view.theme-light", label: "Theme: Light" },
      { command: "view.theme-dark", label: "Theme: Dark" },
      line,
      { role: "resetZoom" },
      { role: "zoomIn" },
      { role: "zoomOut" },
      { role: "togglefullscreen" },
      { role: "toggleDevTools" },
    ],
  },
  {
    label: "Run",
    items: [
      { command: "run.benchmark", label: "Run Benchmark…", keys: "CmdOrCtrl+Enter" },
      { command: "run.stop-benchmark", label: "Stop Benchmark and Keep Partial" },
    ],
  },
  { label: "Window", items: [{ command: "view.next-pane", label: "Next Pane", keys: "F6" }, { role: "minimize" }, { role: "close" }] },
  {
    label: "Help",
    items: [
      { command: "help.palette", label: "Search and Commands", keys: "CmdOrCtrl+K" },
      { command: "help.shortcuts", label: "Keyboard Shortcuts", keys: "?" },
    ],
  },
];

import { Redo2, Search, Undo2 } from "lucide-react";
import { useApi } from "../api/queries.ts";
import { openDialog, useAppState } from "../app-state.ts";
import { useBranchList } from "../branches/branch-list.ts";
import { useBranchesView } from "../branches/branches-view.ts";
import { createContext, type MenuName } from "../commands/command.ts";
import { commandShortcut, menuEntries, runCommand } from "../commands/commands.ts";
import { IconButton } from "../ui/button.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { Menu } from "../ui/menu.tsx";

const MENUS: readonly { readonly name: MenuName; readonly title: string }[] = [
  { name: "file", title: "File" },
  { name: "edit", title: "Edit" },
  { name: "branch", title: "Branch" },
  { name: "view", title: "View" },
  { name: "run", title: "Run" },
  { name: "help", title: "Help" },
];

function Brand() {
  return (
    <span className="flex items-center gap-2">
      <svg
        width="16"
        height="16"
        viewBox="0 0 16 16"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.75"
        strokeLinecap="round"
        aria-hidden
      >
        <path d="M8 14.5V9.5M8 9.5C8 6 8 4.5 8 1.5M8 11C5.2 11 3.2 9 3.2 5.5M8 11c2.8 0 4.8-2 4.8-5.5" />
        <path d="M4.5 14.5h7" />
      </svg>
      <span className="font-semibold">Coppice</span>
    </span>
  );
}

/** The desktop has the system's menu bar; the web host shows the same menus here. */
function MenuBar() {
  const api = useApi();
  // Entries depend on all three: reading them re-renders the bar when they move.
  useAppState((state) => state);
  useBranchList((state) => state);
  useBranchesView((state) => state);
  const context = createContext(api);
  return (
    <nav aria-label="Menus" className="ml-2 flex gap-0.5 text-xs text-ink-2">
      {MENUS.map(({ name, title }) => (
        <Menu key={name} label={title} entries={menuEntries(name, context, false)}>
          <button type="button" className="rounded-sm px-1.5 py-0.5 hover:bg-selected-quiet data-[state=open]:bg-selected-quiet">
            {title}
          </button>
        </Menu>
      ))}
    </nav>
  );
}

export function TitleBar() {
  const api = useApi();
  const web = useAppState((state) => state.hello?.host === "web");
  const hasStore = useAppState((state) => state.hello?.store != null);
  return (
    <header
      data-pane="title"
      className="grid h-9 shrink-0 grid-cols-[minmax(0,1fr)_minmax(120px,360px)_minmax(0,1fr)] tiny:grid-cols-[auto_minmax(64px,1fr)_auto] items-center gap-2 border-b border-line bg-surface px-3"
    >
      <div className="flex min-w-0 items-center overflow-hidden">
        <Brand />
        {web ? <MenuBar /> : null}
      </div>
      <button
        type="button"
        onClick={() => openDialog({ kind: "palette" })}
        className="flex h-6 min-w-0 items-center gap-1.5 rounded-md border border-line-strong bg-raised px-2 text-xs text-ink-3 hover:bg-hover"
      >
        <Search size={14} aria-hidden className="shrink-0" />
        <span className="name-cut">Search branches, databases, commands</span>
        <Kbd shortcut="Mod+K" className="ml-auto" />
      </button>
      <div className="flex justify-end gap-0.5">
        <IconButton
          icon={Undo2}
          label="Undo"
          shortcut={commandShortcut("edit.undo") ?? ""}
          disabled={!hasStore}
          onClick={() => runCommand(api, "edit.undo")}
        />
        <IconButton
          icon={Redo2}
          label="Redo"
          shortcut={commandShortcut("edit.redo") ?? ""}
          disabled={!hasStore}
          onClick={() => runCommand(api, "edit.redo")}
        />
      </div>
    </header>
  );
}

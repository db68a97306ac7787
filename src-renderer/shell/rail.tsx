import {
  Activity,
  ChevronsUpDown,
  Database,
  Gauge,
  GitBranch,
  GitCompareArrows,
  History,
  PieChart,
  Plus,
  Settings,
  Table2,
  Trash2,
  type LucideIcon,
} from "lucide-react";
import { useEffect, type ReactNode } from "react";
import type { DatabaseView } from "#shared/views.ts";
import { useRequest } from "../api/queries.ts";
import { openImport, selectDatabase, showScreen, useAppState, type ScreenName } from "../app-state.ts";
import { commandShortcut } from "../commands/commands.ts";
import { IconButton } from "../ui/button.tsx";
import { cx } from "../ui/cx.ts";
import { formatCount, formatPlural } from "../ui/format.ts";
import { Menu } from "../ui/menu.tsx";
import { Tooltip } from "../ui/tooltip.tsx";
import { keepDatabaseChosen } from "./enter-store.ts";

/** Under 1360 px the rail shows icons only: then the tooltip is the label. */
function NavItem(props: {
  readonly icon: LucideIcon;
  readonly label: string;
  readonly shortcut?: string | undefined;
  readonly on: boolean;
  readonly aside?: ReactNode;
  readonly onClick: () => void;
}) {
  const Icon = props.icon;
  return (
    <Tooltip text={props.label} shortcut={props.shortcut} side="right">
      <button
        type="button"
        aria-label={props.label}
        aria-current={props.on ? "page" : undefined}
        onClick={props.onClick}
        className={cx(
          "flex h-row w-full shrink-0 items-center gap-2.5 rounded-md px-2 text-left",
          props.on ? "bg-selected-quiet font-medium text-ink" : "text-ink-2 hover:bg-selected-quiet/60",
        )}
      >
        <Icon size={16} strokeWidth={1.75} aria-hidden className={cx("shrink-0", props.on && "text-accent")} />
        <span className="name-cut flex-1 narrow:hidden">{props.label}</span>
        <span className="text-xs font-normal text-ink-3 tabular-nums narrow:hidden">{props.aside}</span>
      </button>
    </Tooltip>
  );
}

function DatabasePicker({ databases, current }: { readonly databases: readonly DatabaseView[]; readonly current: DatabaseView | null }) {
  const entries = databases.map((database) => ({
    kind: "item" as const,
    id: database.uid,
    label: `${database.name} · ${formatPlural(database.branches, "branch", "branches")}`,
    checked: database.name === current?.name,
    run: () => selectDatabase(database.name),
  }));
  return (
    <Menu
      label="Databases"
      entries={[
        ...entries,
        { kind: "separator", id: "line" },
        { kind: "item", id: "import", label: "Import a SQLite file…", icon: Plus, run: () => openImport(null) },
      ]}
    >
      <button
        type="button"
        aria-label={`Database ${current?.name ?? "none"}`}
        title={current?.name ?? ""}
        className="mb-2.5 flex h-11 shrink-0 items-center gap-2 rounded-md border border-line-strong bg-raised px-2 text-left hover:bg-hover narrow:h-8 narrow:justify-center narrow:px-0"
      >
        <Database size={16} aria-hidden className="shrink-0" />
        <span className="min-w-0 flex-1 leading-4 narrow:hidden">
          <span className="name-cut block font-semibold">{current?.name ?? "No database"}</span>
          <span className="name-cut block text-2xs text-ink-3">
            {current ? formatPlural(current.branches, "branch", "branches") : "Import one"}
          </span>
        </span>
        <ChevronsUpDown size={14} aria-hidden className="shrink-0 text-ink-2 narrow:hidden" />
      </button>
    </Menu>
  );
}

const SCREENS: readonly { readonly name: ScreenName; readonly label: string; readonly icon: LucideIcon }[] = [
  { name: "branches", label: "Branches", icon: GitBranch },
  { name: "history", label: "History", icon: History },
  { name: "diff", label: "Diff", icon: GitCompareArrows },
  { name: "data", label: "Data", icon: Table2 },
  { name: "usage", label: "Usage", icon: PieChart },
  { name: "benchmarks", label: "Benchmarks", icon: Gauge },
  { name: "activity", label: "Activity", icon: Activity },
];

export function Rail() {
  const screen = useAppState((state) => state.screen);
  const database = useAppState((state) => state.database);
  const listed = useRequest("database.list", {}).data;
  const databases = listed ?? [];
  const trashed = useRequest("store.status", {}).data?.trashed ?? 0;
  useEffect(() => {
    if (listed) keepDatabaseChosen(listed);
  }, [listed]);
  const item = (name: ScreenName, label: string, icon: LucideIcon, aside?: ReactNode) => (
    <NavItem
      key={name}
      icon={icon}
      label={label}
      shortcut={commandShortcut(`view.${name}`)}
      on={screen === name}
      aside={aside}
      onClick={() => showScreen(name)}
    />
  );
  return (
    <nav data-pane="rail" aria-label="Screens" className="flex w-rail shrink-0 flex-col gap-0.5 border-r border-line bg-surface p-2">
      <DatabasePicker databases={databases} current={databases.find((each) => each.name === database) ?? null} />
      {SCREENS.map(({ name, label, icon }) => item(name, label, icon))}
      <div className="mt-4 mb-0.5 flex items-center justify-between px-2 text-2xs font-medium text-ink-3 narrow:hidden">
        <span>Databases</span>
        <IconButton icon={Plus} label="Import a SQLite file" className="-mr-1.5" onClick={() => openImport(null)} />
      </div>
      <div className="flex min-h-0 flex-col gap-0.5 overflow-y-auto narrow:invisible">
        {databases.map((each) => (
          <button
            key={each.uid}
            type="button"
            aria-pressed={each.name === database}
            onClick={() => selectDatabase(each.name)}
            className={cx(
              "flex h-row shrink-0 items-center gap-2.5 rounded-md px-2 text-left hover:bg-selected-quiet/60",
              each.name === database ? "text-ink" : "text-ink-2",
            )}
          >
            <Database size={14} aria-hidden className="shrink-0" />
            <span className="name-cut flex-1">{each.name}</span>
            <span className="text-xs text-ink-3 tabular-nums">{formatCount(each.branches)}</span>
          </button>
        ))}
      </div>
      <div className="mt-auto flex flex-col gap-0.5">
        {item("trash", "Trash", Trash2, trashed > 0 ? formatCount(trashed) : null)}
        {item("settings", "Settings", Settings)}
      </div>
    </nav>
  );
}

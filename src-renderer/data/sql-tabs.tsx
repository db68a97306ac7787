import { ListTree, Play, Plus, TriangleAlert, X } from "lucide-react";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { useApi } from "../api/queries.ts";
import { Button, IconButton, SplitButton } from "../ui/button.tsx";
import { cx } from "../ui/cx.ts";
import { MenuAt } from "../ui/menu.tsx";
import { showToast } from "../ui/toasts.ts";
import { SqlHistory } from "./sql-history.tsx";
import { runActive } from "./sql-run.ts";
import {
  NAME_CHARS_MAX,
  NO_WORK,
  closeScript,
  openScript,
  renameScript,
  showScript,
  unkeptScripts,
  useSql,
  type SqlScript,
} from "./sql-session.ts";

/** Open scripts, and what can be done with the one that is shown. */
export function SqlTabs() {
  const api = useApi();
  const scripts = useSql((session) => session.scripts);
  const active = useSql((session) => session.active);
  const isRunning = useSql((session) => (session.work.get(session.active) ?? NO_WORK).running !== null);
  const unkept = useMemo(() => unkeptScripts(scripts), [scripts]);
  return (
    <div data-pane="toolbar" className="flex h-10 flex-none items-center gap-1.5 border-b border-line bg-surface pr-3">
      <div role="tablist" aria-label="Scripts" className="flex h-full min-w-0 items-stretch overflow-x-auto overflow-y-hidden">
        {scripts.map((script) => (
          <ScriptTab key={script.id} script={script} isActive={script.id === active} isKept={!unkept.has(script.id)} />
        ))}
      </div>
      <IconButton icon={Plus} label="New script" onClick={() => openScript()} />
      <span className="flex-1" />
      <SqlHistory />
      <Button size="sm" icon={ListTree} disabled={isRunning} onClick={() => runActive(api, "chosen", "plan")}>
        Explain
      </Button>
      <SplitButton
        variant="primary"
        icon={Play}
        label="Run"
        menuLabel="Other ways to run"
        disabled={isRunning}
        onClick={() => runActive(api, "chosen")}
        entries={[
          {
            kind: "item",
            id: "chosen",
            label: "Run the selection or the statement at the cursor",
            shortcut: "Mod+Enter",
            run: () => runActive(api, "chosen"),
          },
          { kind: "item", id: "all", label: "Run all", shortcut: "Mod+Shift+Enter", run: () => runActive(api, "all") },
        ]}
      />
    </div>
  );
}

interface ScriptTabProps {
  readonly script: SqlScript;
  readonly isActive: boolean;
  readonly isKept: boolean;
}

function close(script: SqlScript): void {
  const reopen = closeScript(script.id);
  if (script.text.trim() !== "") showToast({ text: `Closed ${script.name}`, tone: "plain", action: { label: "Undo", run: reopen } });
}

/** A click shows it, a double-click or F2 renames it, Delete or the middle button closes it. */
function ScriptTab({ script, isActive, isKept }: ScriptTabProps) {
  const isRunning = useSql((session) => (session.work.get(script.id) ?? NO_WORK).running !== null);
  const [isRenaming, setRenaming] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isActive) frame.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [isActive]);
  const [menuAt, setMenuAt] = useState<{ readonly x: number; readonly y: number } | null>(null);
  if (isRenaming) return <Rename script={script} onDone={() => setRenaming(false)} />;
  const onKeyDown = (event: KeyboardEvent<HTMLButtonElement>) => {
    if (event.key === "F2") setRenaming(true);
    else if (event.key === "Delete") close(script);
    else if (!stepTab(event)) return;
    event.preventDefault();
  };
  return (
    <div
      ref={frame}
      className={cx(
        "group flex max-w-52 min-w-0 shrink-0 items-center border-r border-line",
        isActive ? "bg-canvas shadow-[inset_0_2px_0_var(--accent)]" : "hover:bg-hover",
      )}
    >
      <button
        type="button"
        role="tab"
        aria-selected={isActive}
        tabIndex={isActive ? 0 : -1}
        onClick={() => showScript(script.id)}
        onDoubleClick={() => setRenaming(true)}
        onAuxClick={(event) => event.button === 1 && close(script)}
        onContextMenu={(event) => {
          event.preventDefault();
          setMenuAt({ x: event.clientX, y: event.clientY });
        }}
        onKeyDown={onKeyDown}
        className={cx("flex h-full min-w-0 items-center gap-1.5 pl-3 text-xs", isActive ? "font-medium text-ink" : "text-ink-2")}
      >
        {isKept ? null : (
          <span title="Too long to be kept when Coppice ends: copy it to a file of your own.">
            <TriangleAlert size={12} aria-label="Not kept when Coppice ends" className="text-warn" />
          </span>
        )}
        <span className="name-cut">{script.name}</span>
        {isRunning ? <span className="shrink-0 text-2xs text-ink-3">running</span> : null}
      </button>
      <IconButton
        icon={X}
        label={`Close ${script.name}`}
        tabIndex={-1}
        className={cx("mx-0.5", !isActive && "opacity-0 group-hover:opacity-100 focus-visible:opacity-100")}
        onClick={() => close(script)}
      />
      <MenuAt
        label={script.name}
        at={menuAt}
        onClose={() => setMenuAt(null)}
        entries={[
          { kind: "item", id: "rename", label: "Rename", shortcut: "F2", run: () => setRenaming(true) },
          { kind: "item", id: "copy", label: "Duplicate", run: () => openScript(script.text) },
          { kind: "separator", id: "end" },
          { kind: "item", id: "close", label: "Close", shortcut: "Delete", run: () => close(script) },
        ]}
      />
    </div>
  );
}

/** Arrow keys, Home and End go through the tabs. */
function stepTab(event: KeyboardEvent<HTMLButtonElement>): boolean {
  const tabs = [...(event.currentTarget.closest("[role=tablist]")?.querySelectorAll<HTMLElement>("[role=tab]") ?? [])];
  const at = tabs.indexOf(event.currentTarget);
  const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (next === undefined) return false;
  const target = tabs[Math.min(Math.max(next, 0), tabs.length - 1)];
  target?.click();
  target?.focus();
  return true;
}

function Rename({ script, onDone }: { readonly script: SqlScript; readonly onDone: () => void }) {
  const [name, setName] = useState(script.name);
  const finish = (isKept: boolean) => {
    if (isKept) renameScript(script.id, name);
    onDone();
  };
  return (
    <input
      // oxlint-disable-next-line jsx-a11y/no-autofocus -- the user has just asked to type here
      autoFocus
      aria-label={`Name of ${script.name}`}
      value={name}
      maxLength={NAME_CHARS_MAX}
      onFocus={(event) => event.target.select()}
      onChange={(event) => setName(event.target.value)}
      onBlur={() => finish(true)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== "Escape") return;
        event.preventDefault();
        finish(event.key === "Enter");
      }}
      className="w-40 shrink-0 border-r border-line bg-raised px-3 text-xs outline-2 -outline-offset-2 outline-focus"
    />
  );
}

import { Play, Square } from "lucide-react";
import { useMemo } from "react";
import { LIMITS } from "#shared/limits.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { appState, useAppState } from "../app-state.ts";
import { branchList, useBranchList } from "../branches/branch-list.ts";
import { Button } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";
import { formatCount, formatPlural } from "../ui/format.ts";
import { Segmented } from "../ui/segmented.tsx";
import { askAcross, changeAsk, isUnderWay, matchPatterns, stopAcross, useAcross } from "./across-session.ts";
import { SqlEditor } from "./sql-editor.tsx";

export interface Asking {
  /** Puts the question as it stands. Rows of each state: `limit`, or as many as the host gives. */
  readonly ask: (limit?: number) => void;
  /** Branches that are asked. */
  readonly names: readonly string[];
  /** Why it cannot be put. */
  readonly problem: string | null;
}

export function useAskAcross(): Asking {
  const api = useApi();
  const database = useAppState((state) => state.database);
  const by = useAcross((session) => session.ask.by);
  const patterns = useAcross((session) => session.ask.patterns);
  const chosen = useAcross((session) => session.ask.branches);
  const isBlank = useAcross((session) => session.ask.sql.trim() === "");
  const branches = useBranchList((state) => state.branches);
  const names = useMemo(() => {
    const isNamed = by === "list" ? isIn(chosen) : matchPatterns(patterns);
    return branches.flatMap(({ name }) => (isNamed(name) ? [name] : []));
  }, [by, chosen, patterns, branches]);
  const problem =
    names.length === 0
      ? "No branch matches"
      : names.length > LIMITS.acrossTargetsMax
        ? `At most ${formatCount(LIMITS.acrossTargetsMax)} at once`
        : isBlank
          ? "Write a query first"
          : null;
  const ask = (limit?: number): void => {
    if (database === null || problem !== null) return;
    // Those that went meanwhile would only fail.
    if (by === "list") changeAsk({ branches: names });
    void askAcross(api, database, limit);
  };
  return { ask, names, problem };
}

function isIn(names: readonly string[]): (name: string) => boolean {
  const set = new Set(names);
  return (name) => set.has(name);
}

/** Which branches, as of when, and the SELECT. */
export function AcrossForm({ ask, names, problem }: Asking) {
  const api = useApi();
  const { by, at, sql } = useAcross((session) => session.ask);
  const isRunning = useAcross((session) => isUnderWay(session.question));
  const database = useAppState((state) => state.database);
  const first = names[0] ?? null;
  const schema = useRequest(
    "data.schema",
    { database: database ?? "", branch: first ?? "" },
    { enabled: database !== null && first !== null },
  );
  const stop = () => stopAcross(api);
  return (
    <>
      <div data-pane="toolbar" className="flex min-h-10 flex-none flex-wrap items-center gap-2 border-b border-line bg-surface px-3 py-1.5">
        <Segmented
          label="Which branches"
          size="sm"
          value={by}
          segments={[
            { value: "pattern", label: "By name" },
            { value: "list", label: "Selected" },
          ]}
          onChange={(value) => changeAsk({ by: value })}
        />
        {by === "pattern" ? <Patterns count={names.length} /> : <Selected names={names} />}
        <TextInput
          aria-label="As of"
          placeholder="as of now; or a checkpoint, v12, a time"
          value={at}
          onChange={(event) => changeAsk({ at: event.target.value })}
          boxClassName="h-control-sm! w-72"
          className="text-xs!"
        />
        <span className="flex-1" />
        {problem === null ? null : <span className="text-xs text-ink-3">{problem}</span>}
        {isRunning ? (
          <Button size="sm" icon={Square} shortcut="Escape" onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button size="sm" variant="primary" icon={Play} disabled={problem !== null} onClick={() => ask()}>
            Run on {formatPlural(names.length, "branch", "branches")}
          </Button>
        )}
      </div>
      <div data-pane="editor" className="h-28 flex-none border-b border-line">
        <SqlEditor
          key="across"
          id="across"
          label="SQL for all of them"
          text={sql}
          hint="SELECT … (one statement)"
          schema={schema.data ?? null}
          problem={null}
          acts={{ run: () => ask(), runAll: () => ask(), stop }}
          onChange={(text) => changeAsk({ sql: text })}
        />
      </div>
    </>
  );
}

function Patterns({ count }: { readonly count: number }) {
  const patterns = useAcross((session) => session.ask.patterns);
  const isLoading = useBranchList((state) => state.loading);
  const total = useBranchList((state) => state.total);
  return (
    <TextInput
      aria-label="Names of branches, with * and ?"
      placeholder="main, attempt-*"
      value={patterns}
      onChange={(event) => changeAsk({ patterns: event.target.value })}
      trailing={
        <span className="tabular-nums" role="status" aria-label="Branches that match">
          {formatCount(count)}
          {isLoading ? "…" : ""} of {formatCount(total)}
        </span>
      }
      boxClassName="h-control-sm! w-80"
      className="text-xs!"
    />
  );
}

function takeSelected(): void {
  const { byId } = branchList.get();
  changeAsk({ branches: [...appState.get().selection].flatMap((id) => byId.get(id)?.name ?? []) });
}

function Selected({ names }: { readonly names: readonly string[] }) {
  const selection = useAppState((state) => state.selection);
  return (
    <span className="flex min-w-0 items-center gap-2 text-xs">
      <span className="name-cut max-w-80" title={names.slice(0, 200).join(", ")}>
        {names.length === 0
          ? "None yet: select some on the Branches screen"
          : `${formatPlural(names.length, "branch", "branches")}: ${names.slice(0, 20).join(", ")}`}
      </span>
      <Button size="sm" disabled={selection.size === 0} onClick={takeSelected}>
        Take the {formatCount(selection.size)} selected
      </Button>
    </span>
  );
}

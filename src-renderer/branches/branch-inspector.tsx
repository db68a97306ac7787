import { ArrowUpRight, Bookmark, Copy, Ellipsis, FolderOpen, GitFork, RotateCcw } from "lucide-react";
import type { ReactNode } from "react";
import type { BranchDetail, BranchView, CheckpointView } from "#shared/views.ts";
import { performOrReport, requestOrReport } from "../api/perform.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { toErrorView } from "../api/api-error.ts";
import { openDialog, useAppState } from "../app-state.ts";
import { promoteTarget } from "../commands/branch-commands.ts";
import { createContext } from "../commands/command.ts";
import { menuEntries, runCommand } from "../commands/commands.ts";
import { openDiffOf } from "../diff/diff-session.ts";
import { changesOfBranch } from "../diff/side-text.ts";
import { FileBadge, StatusBadge } from "../ui/badge.tsx";
import { Button, IconButton, SplitButton } from "../ui/button.tsx";
import { ChangeList, OpenDiff } from "../ui/change-figures.tsx";
import { copyText } from "../ui/copy.ts";
import { cx } from "../ui/cx.ts";
import { Facts, Section, type Fact } from "../ui/facts.tsx";
import { Bytes, Countdown, RelativeTime } from "../ui/figures.tsx";
import { formatCount, formatIso, formatPlural } from "../ui/format.ts";
import { Menu, type MenuEntry } from "../ui/menu.tsx";
import { EmptyState, ErrorPanel, Skeleton, describeHolder } from "../ui/states.tsx";
import { useBranchChanges } from "./branch-changes.ts";
import { useBranchList, useFocusedBranch } from "./branch-list.ts";
import { laneColor } from "./hues.ts";
import { statusOf, tally } from "./rows.ts";

const LINK = "rounded-sm font-medium text-accent hover:underline";

function Heading({ branch }: { readonly branch: BranchView }) {
  const api = useApi();
  const state = branch.checkout.state;
  const unsaved = state === "unsaved" || state === "conflict";
  const entries = () => menuEntries("branch", createContext(api), true);
  return (
    <div className="flex items-start gap-2">
      <svg width="12" height="12" className="mt-1 shrink-0" aria-hidden>
        <circle
          cx="6"
          cy="6"
          r={unsaved ? 4.5 : 5}
          fill={unsaved ? "none" : laneColor(branch.name)}
          stroke={unsaved ? laneColor(branch.name) : "none"}
          strokeWidth="2"
        />
      </svg>
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-2 gap-y-1">
        <h2 title={branch.name} className="name-cut text-md font-semibold">
          {branch.name}
        </h2>
        <span className="flex gap-1.5 empty:hidden">
          {unsaved || state === "missing" ? <FileBadge state={state} /> : null}
          {statusOf(branch) === "none" ? null : <StatusBadge status={statusOf(branch)} />}
        </span>
      </div>
      <span className="-mt-0.5">
        <Menu label="Branch actions" entries={entries()} align="end">
          <IconButton icon={Ellipsis} label="All actions" />
        </Menu>
      </span>
    </div>
  );
}

function Actions({ branch }: { readonly branch: BranchView }) {
  const api = useApi();
  const run = (id: string) => () => void runCommand(api, id);
  const item = (id: string, label: string): MenuEntry => ({ kind: "item", id, label, run: run(id) });
  const desktop = useAppState((state) => state.hello?.host === "electron");
  const open = [
    item("branch.data", "Browse data"),
    item("branch.copy-path", "Copy path"),
    item("branch.copy-command", "Copy sqlite3 command"),
    ...(desktop ? [item("branch.reveal", "Show in file manager")] : []),
  ];
  return (
    <div className="mt-2.5 grid grid-cols-2 gap-1.5 tiny:grid-cols-1">
      <Button variant="primary" icon={GitFork} onClick={run("branch.fork")}>
        Fork
      </Button>
      <Button icon={Bookmark} onClick={run("branch.checkpoint")}>
        Checkpoint
      </Button>
      {branch.forkedFrom ? (
        <SplitButton
          icon={ArrowUpRight}
          label={<span className="name-cut">Promote</span>}
          menuLabel={`Promote ${branch.name} onto`}
          onClick={run("branch.promote")}
          entries={[item("branch.promote", `Onto ${promoteTarget(branch)}`), item("branch.promote-onto", "Onto another branch…")]}
        />
      ) : (
        <Button icon={ArrowUpRight} onClick={run("branch.promote-onto")}>
          Promote…
        </Button>
      )}
      <Menu label="Open" entries={open}>
        <Button icon={FolderOpen}>Open</Button>
      </Menu>
      <Button icon={RotateCcw} className="col-span-2 tiny:col-span-1" onClick={run("branch.rollback")}>
        Roll back…
      </Button>
    </div>
  );
}

function Notice({ children, actions }: { readonly children: ReactNode; readonly actions: ReactNode }) {
  return (
    <div role="status" className="mt-2.5 rounded-md bg-warn-bg p-2 text-xs">
      {children}
      <div className="mt-1.5 flex flex-wrap gap-1.5">{actions}</div>
    </div>
  );
}

/** Ways out of the two states in which the file needs the user. */
function FileNotice({ branch }: { readonly branch: BranchView }) {
  const api = useApi();
  const on = { database: branch.database, branch: branch.name };
  if (branch.checkout.state === "conflict") {
    const resolve = (how: "put-mine-on-top" | "take-theirs") => () => void performOrReport(api, "branch.checkout", { ...on, resolve: how });
    return (
      <Notice
        actions={
          <>
            <Button size="sm" onClick={resolve("put-mine-on-top")}>
              Put my work on top
            </Button>
            <Button size="sm" onClick={resolve("take-theirs")}>
              Take the head
            </Button>
          </>
        }
      >
        The file holds unsaved work on {branch.checkout.base === null ? "an older version" : `v${branch.checkout.base}`}, but the head is v
        {branch.head}. Either way what is in the file stays as a version.
      </Notice>
    );
  }
  if (branch.checkout.state !== "missing") return null;
  return (
    <Notice
      actions={
        <Button size="sm" onClick={() => void performOrReport(api, "branch.checkout", on)}>
          Make it again
        </Button>
      }
    >
      The file of this branch is gone from its place. Every saved version is in the store.
    </Notice>
  );
}

function shortPath(path: string): string {
  const parts = path.split("/");
  return parts.length > 3 ? `…/${parts.slice(-2).join("/")}` : path;
}

const quiet = (text: ReactNode) => <span className="text-ink-3">{text}</span>;

function branchFacts(branch: BranchView, detail: BranchDetail | undefined, onExtend: () => void): readonly Fact[] {
  const { forkedFrom, checkout } = branch;
  const states = {
    none: "no file yet",
    clean: "nothing",
    unsaved: "changes in the file",
    stale: "nothing; the file is older than the head",
    conflict: "changes on an older head",
    missing: "unknown: the file is gone",
  };
  return [
    {
      label: "Head",
      value: (
        <>
          {branch.headCheckpoint ?? `v${branch.head}`}{" "}
          {quiet(
            <>
              {branch.headCheckpoint ? `v${branch.head} · ` : ""}
              <RelativeTime at={branch.headAt} suffix=" ago" />
            </>,
          )}
        </>
      ),
      title: formatIso(branch.headAt),
    },
    {
      label: "Forked from",
      value: forkedFrom ? (
        <>
          {forkedFrom.branch ?? "a purged branch"}{" "}
          {quiet(`@ ${forkedFrom.checkpoint ? `${forkedFrom.checkpoint}, ` : ""}v${forkedFrom.version}`)}
        </>
      ) : (
        quiet("root")
      ),
    },
    {
      label: "Created",
      value: (
        <>
          <RelativeTime at={branch.createdAt} suffix=" ago" /> {quiet(`by ${branch.actor}`)}
        </>
      ),
      title: branch.actor,
    },
    {
      label: "Expires",
      value:
        branch.expiresAt === null ? (
          quiet("never")
        ) : (
          <>
            in <Countdown until={branch.expiresAt} />{" "}
            <button type="button" className={LINK} title="Start its time anew" onClick={onExtend}>
              Extend
            </button>
          </>
        ),
    },
    {
      label: "Unsaved",
      value: checkout.state === "unsaved" || checkout.state === "conflict" ? states[checkout.state] : quiet(states[checkout.state]),
    },
    { label: "Opened by", value: detail && detail.holders.length > 0 ? detail.holders.map(describeHolder).join("; ") : null },
    { label: "Forks", value: detail && detail.children > 0 ? formatCount(detail.children) : null },
    {
      label: "Logical",
      value: detail ? (
        <>
          <Bytes value={detail.logicalBytes} /> {quiet(formatPlural(detail.pageCount, "page"))}
        </>
      ) : null,
      title: detail ? `${formatCount(detail.pageSize)} bytes a page` : "",
    },
    {
      label: "Stored",
      value: detail ? (
        <>
          <Bytes value={detail.storedBytes} /> {quiet("since the fork")}
        </>
      ) : null,
    },
  ];
}

function PathFact({ branch }: { readonly branch: BranchView }) {
  const api = useApi();
  return (
    <div className="grid grid-cols-[88px_minmax(0,1fr)_24px] items-center text-xs">
      <span className="leading-5.5 text-ink-3">File</span>
      <span title={branch.checkout.path} className="name-cut font-mono text-2xs">
        {shortPath(branch.checkout.path)}
      </span>
      <IconButton icon={Copy} label="Make the file if needed and copy its path" onClick={() => runCommand(api, "branch.copy-path")} />
    </div>
  );
}

function checkpointEntries(checkpoint: CheckpointView, database: string, api: ReturnType<typeof useApi>): readonly MenuEntry[] {
  const on = { database, branch: checkpoint.branch, name: checkpoint.name };
  return [
    {
      kind: "item",
      id: "fork",
      label: "Fork here…",
      icon: GitFork,
      run: () => openDialog({ kind: "fork", branch: checkpoint.branch, at: checkpoint.name }),
    },
    {
      kind: "item",
      id: "rollback",
      label: "Roll back to here",
      icon: RotateCcw,
      run: () => void performOrReport(api, "branch.rollback", { database, branch: checkpoint.branch, to: checkpoint.name }),
    },
    {
      kind: "item",
      id: "open",
      label: "Open read-only: copy path",
      icon: Copy,
      run: () =>
        void requestOrReport(api, "checkpoint.open", { database, branch: checkpoint.branch, at: checkpoint.name }).then((file) =>
          file ? copyText(file.path, `path of ${checkpoint.name}`) : undefined,
        ),
    },
    { kind: "separator", id: "line" },
    {
      kind: "item",
      id: "rename",
      label: "Rename…",
      run: () => openDialog({ kind: "rename-checkpoint", branch: checkpoint.branch, name: checkpoint.name }),
    },
    { kind: "item", id: "delete", label: "Delete name", danger: true, run: () => void performOrReport(api, "checkpoint.delete", on) },
  ];
}

function Checkpoints({ detail }: { readonly detail: BranchDetail }) {
  const api = useApi();
  const inherits = detail.inheritedCheckpoints > 0 ? ` · inherits ${formatCount(detail.inheritedCheckpoints)}` : "";
  return (
    <Section title="Checkpoints" aside={`${formatCount(detail.ownCheckpoints.length)}${inherits}`}>
      {detail.ownCheckpoints.length === 0 ? <p className="text-xs text-ink-3">None made on this branch.</p> : null}
      <ul>
        {detail.ownCheckpoints.map((checkpoint) => (
          <li key={checkpoint.name}>
            <Menu label={checkpoint.name} entries={checkpointEntries(checkpoint, detail.database, api)} align="end">
              <button
                type="button"
                title={checkpoint.message ?? checkpoint.name}
                className="-mx-1.5 grid h-6 w-[calc(100%+12px)] grid-cols-[14px_minmax(0,1fr)_auto_62px] items-center gap-2 rounded-sm px-1.5 text-left text-xs hover:bg-selected-quiet"
              >
                <Bookmark size={14} aria-hidden className="text-ink-3" />
                <span className="name-cut">
                  {checkpoint.name} <span className="text-ink-3 tabular-nums">v{checkpoint.version}</span>
                </span>
                <RelativeTime at={checkpoint.createdAt} className="text-ink-3" />
                <Bytes value={checkpoint.storedBytes} className="text-right text-ink-2" />
              </button>
            </Menu>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The head against the version at which the branch was forked; unsaved work is not counted. */
function ChangesSection({ branch }: { readonly branch: BranchView }) {
  const api = useApi();
  const counts = useBranchChanges(branch);
  const pair = changesOfBranch(branch);
  if (!pair || !branch.forkedFrom) return null;
  const head = { kind: "state", database: branch.database, branch: branch.name } as const;
  return (
    <Section
      title={`Changes since the fork at v${branch.forkedFrom.version}`}
      aside={<OpenDiff onClick={() => void openDiffOf(api, pair.left, head)} />}
    >
      <ChangeList counts={counts} onOpen={(table) => void openDiffOf(api, pair.left, head, table)} />
    </Section>
  );
}

function MetaSection({ branch }: { readonly branch: BranchView }) {
  const entries = Object.entries(branch.meta).filter(([key]) => key !== "status" && key !== "description");
  if (entries.length === 0) return null;
  return (
    <Section title="Labels">
      <Facts facts={entries.map(([label, value]) => ({ label, value, title: value }))} />
    </Section>
  );
}

function OneBranch({ branch }: { readonly branch: BranchView }) {
  const api = useApi();
  const on = { database: branch.database, branch: branch.name };
  const detail = useRequest("branch.get", on);
  const extend = () => void performOrReport(api, "branch.touch", on);
  return (
    <>
      <div className="p-3">
        <Heading branch={branch} />
        {branch.meta["description"] ? <p className="mt-0.5 ml-5 text-xs text-ink-2">{branch.meta["description"]}</p> : null}
        <Actions branch={branch} />
        <FileNotice branch={branch} />
      </div>
      <section className="border-t border-line px-3 py-2">
        <Facts facts={branchFacts(branch, detail.data, extend)} />
        <PathFact branch={branch} />
      </section>
      {detail.error ? (
        <div className="p-3">
          <ErrorPanel error={toErrorView(detail.error)} onRetry={() => void detail.refetch()} />
        </div>
      ) : null}
      {detail.data ? (
        <Checkpoints detail={detail.data} />
      ) : detail.isPending ? (
        <Skeleton lines={3} className="border-t border-line px-3" />
      ) : null}
      <ChangesSection branch={branch} />
      <MetaSection branch={branch} />
    </>
  );
}

const countFact = (value: number, tone: string) => (value > 0 ? <b className={cx("font-medium", tone)}>{formatCount(value)}</b> : null);

function ManyBranches({ branches }: { readonly branches: readonly BranchView[] }) {
  const api = useApi();
  const total = tally(branches);
  const run = (id: string) => () => void runCommand(api, id);
  return (
    <div className="p-3">
      <h2 className="text-md font-semibold">{formatPlural(branches.length, "branch", "branches")}</h2>
      <div className="mt-2.5 grid grid-cols-2 gap-1.5 tiny:grid-cols-1">
        <Button onClick={run("branch.expire")}>Expire…</Button>
        <Button onClick={run("branch.status")}>Set status…</Button>
        <Button onClick={run("branch.protect")}>Protect</Button>
        <Button variant="danger" onClick={run("branch.delete")}>
          Delete
        </Button>
      </div>
      <Facts
        className="mt-3"
        facts={[
          { label: "Pass", value: countFact(total.pass, "text-ok") },
          { label: "Fail", value: countFact(total.fail, "text-bad") },
          { label: "Running", value: countFact(total.running, "") },
          { label: "Unsaved", value: countFact(total.unsaved, "text-warn") },
          { label: "Newest head", value: <RelativeTime at={total.headAt} suffix=" ago" /> },
          {
            label: "First expires",
            value:
              total.expiresAt === null ? null : (
                <>
                  in <Countdown until={total.expiresAt} />
                </>
              ),
          },
        ]}
      />
    </div>
  );
}

export function BranchInspector() {
  const branch = useFocusedBranch();
  const selection = useAppState((state) => state.selection);
  const byId = useBranchList((state) => state.byId);
  const many = selection.size > 1 || (selection.size === 1 && branch === null);
  return (
    <aside
      data-pane="inspector"
      aria-label="Branch inspector"
      className="flex w-inspector shrink-0 flex-col overflow-y-auto border-l border-line bg-surface"
    >
      {many ? (
        <ManyBranches branches={[...selection].flatMap((id) => byId.get(id) ?? [])} />
      ) : branch ? (
        <OneBranch key={branch.id} branch={branch} />
      ) : (
        <EmptyState text="Select a branch to see what it is made of." />
      )}
    </aside>
  );
}

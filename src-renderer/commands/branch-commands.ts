import {
  ArrowUpRight,
  Bookmark,
  Clipboard,
  Eye,
  EyeOff,
  FolderOpen,
  GitCompareArrows,
  GitFork,
  History,
  Layers,
  Lock,
  LockOpen,
  Pencil,
  RotateCcw,
  SquareTerminal,
  Table2,
  Tag,
  Timer,
  Trash2,
} from "lucide-react";
import type { BranchView } from "#shared/views.ts";
import { performMany, performOrReport, requestOrReport } from "../api/perform.ts";
import { openDialog, selectBranches, showScreen } from "../app-state.ts";
import { branchList, mergeBranches } from "../branches/branch-list.ts";
import { branchKey } from "../branches/rows.ts";
import { changeBranchesView } from "../branches/branches-view.ts";
import { openData, placeOf } from "../data/data-session.ts";
import { openAcross } from "../data/across-session.ts";
import { openDiffOf, openDiffOfBranch } from "../diff/diff-session.ts";
import { unsavedChanges } from "../diff/side-text.ts";
import { copyText } from "../ui/copy.ts";
import { formatPlural } from "../ui/format.ts";
import type { Command, CommandContext } from "./command.ts";

const one = (context: CommandContext): boolean => context.branch !== null && context.selected.length <= 1;
const some = (context: CommandContext): boolean => context.selected.length > 0;
const many = (context: CommandContext): boolean => context.selected.length > 1;

/** Runs for the branch in focus; `when: one` has made sure that there is one. */
function forOne(act: (branch: BranchView, context: CommandContext) => unknown): Command["run"] {
  return async (context) => {
    if (context.branch) await act(context.branch, context);
  };
}

/** What a branch is promoted onto unless the user says otherwise: what it was forked from. */
export function promoteTarget(branch: BranchView): string {
  return branch.forkedFrom?.branch ?? "main";
}

/** Makes the file if there is none, and answers its path. */
export async function prepareFile(context: Pick<CommandContext, "api">, branch: BranchView): Promise<string | null> {
  const result = await requestOrReport(context.api, "branch.checkout", { database: branch.database, branch: branch.name });
  // A new file is no operation: no event tells the list of it.
  const made = result?.branch;
  if (made) branchList.set((state) => (state.database === made.database ? mergeBranches(state, [made]) : state));
  return result?.path ?? null;
}

/** Single quotes, as every POSIX shell reads them. */
export function quoteForShell(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

async function copyPath(branch: BranchView, context: CommandContext): Promise<void> {
  const path = await prepareFile(context, branch);
  if (path !== null) await copyText(path, `path of ${branch.name}`);
}

async function copySqliteCommand(branch: BranchView, context: CommandContext): Promise<void> {
  const path = await prepareFile(context, branch);
  if (path !== null) await copyText(`sqlite3 ${quoteForShell(path)}`, `sqlite3 command for ${branch.name}`);
}

async function reveal(branch: BranchView, context: CommandContext): Promise<void> {
  const path = await prepareFile(context, branch);
  if (path !== null) await requestOrReport(context.api, "app.reveal", { path });
}

async function destroyAll({ api, selected }: CommandContext): Promise<void> {
  const inputs = selected.map((branch) => ({ database: branch.database, branch: branch.name }));
  const [only] = inputs;
  if (inputs.length === 1 && only) await performOrReport(api, "branch.destroy", only);
  else await performMany(api, "branch.destroy", inputs, (count) => `Deleted ${formatPlural(count, "branch", "branches")}`);
}

async function protectAll({ api, selected }: CommandContext, on: boolean): Promise<void> {
  const inputs = selected
    .filter((branch) => branch.protected !== on)
    .map((branch) => ({ database: branch.database, branch: branch.name, protected: on }));
  const [only] = inputs;
  if (inputs.length === 1 && only) await performOrReport(api, "branch.protect", only);
  else
    await performMany(
      api,
      "branch.protect",
      inputs,
      (count) => `${on ? "Protected" : "Unprotected"} ${formatPlural(count, "branch", "branches")}`,
    );
}

function goTo(branch: BranchView | undefined): void {
  if (!branch) return;
  selectBranches(branch.id);
  changeBranchesView({ focusedKey: branchKey(branch.id) });
}

const parentOf = (context: CommandContext) => context.list.byId.get(context.branch?.forkedFrom?.branchId ?? -1);
const childOf = (context: CommandContext) => context.list.branches.find((other) => other.forkedFrom?.branchId === context.branch?.id);

function toggleHidden(context: CommandContext): void {
  const hidden = new Set(context.view.hidden);
  for (const branch of context.selected) hidden.add(branch.id);
  changeBranchesView({ hidden });
}

export const BRANCH_COMMANDS: readonly Command[] = [
  {
    id: "branch.fork",
    title: "Fork…",
    icon: GitFork,
    shortcuts: ["N", "Mod+N"],
    menu: "branch",
    group: 1,
    when: one,
    run: forOne((branch) => openDialog({ kind: "fork", branch: branch.name })),
  },
  {
    id: "branch.checkpoint",
    title: "Checkpoint…",
    icon: Bookmark,
    shortcuts: ["Mod+S"],
    menu: "branch",
    group: 1,
    when: one,
    run: forOne((branch) => openDialog({ kind: "checkpoint", branch: branch.name })),
  },
  {
    id: "branch.rollback",
    title: "Roll back…",
    icon: RotateCcw,
    menu: "branch",
    group: 1,
    when: one,
    run: forOne((branch) => openDialog({ kind: "rollback", branch: branch.name })),
  },
  {
    id: "branch.promote",
    title: ({ branch }) => (branch ? `Promote onto ${promoteTarget(branch)}` : "Promote"),
    icon: ArrowUpRight,
    menu: "branch",
    group: 1,
    when: (context) => one(context) && context.branch?.forkedFrom != null,
    run: forOne((branch, { api }) =>
      performOrReport(api, "branch.promote", { database: branch.database, source: branch.name, onto: promoteTarget(branch) }),
    ),
  },
  {
    id: "branch.promote-onto",
    title: "Promote onto…",
    menu: "branch",
    group: 1,
    when: one,
    run: forOne((branch) => openDialog({ kind: "promote", branch: branch.name })),
  },
  {
    id: "branch.diff",
    title: ({ branch }) => (branch?.forkedFrom ? `Diff with ${branch.forkedFrom.branch ?? "its fork point"}` : "Diff with another state…"),
    icon: GitCompareArrows,
    shortcuts: ["Mod+D"],
    menu: "branch",
    group: 1,
    when: one,
    run: forOne((branch, { api }) => openDiffOfBranch(api, branch)),
  },
  {
    id: "branch.diff-unsaved",
    title: "Diff of unsaved changes",
    icon: GitCompareArrows,
    menu: "branch",
    group: 1,
    when: (context) => one(context) && ["unsaved", "conflict"].includes(context.branch?.checkout.state ?? ""),
    run: forOne((branch, { api }) => {
      const { left, right } = unsavedChanges(branch);
      return openDiffOf(api, left, right);
    }),
  },
  {
    id: "branch.query",
    title: ({ selected }) => (selected.length > 1 ? `Query these ${selected.length} branches…` : "Query several branches…"),
    icon: Layers,
    menu: "branch",
    group: 1,
    when: many,
    run: ({ selected }) => openAcross(selected.map((branch) => branch.name)),
  },
  { id: "branch.copy-path", title: "Open: copy path", icon: Clipboard, menu: "branch", group: 2, when: one, run: forOne(copyPath) },
  {
    id: "branch.copy-command",
    title: "Open: copy sqlite3 command",
    icon: SquareTerminal,
    menu: "branch",
    group: 2,
    when: one,
    run: forOne(copySqliteCommand),
  },
  {
    id: "branch.reveal",
    title: "Open: show in file manager",
    icon: FolderOpen,
    menu: "branch",
    group: 2,
    when: (context) => one(context) && context.app.hello?.host === "electron",
    run: forOne(reveal),
  },
  {
    id: "branch.data",
    title: "Browse data",
    icon: Table2,
    menu: "branch",
    group: 2,
    when: one,
    run: forOne((branch) => openData(placeOf(branch))),
  },
  { id: "branch.history", title: "Show history", icon: History, menu: "branch", group: 2, when: one, run: () => showScreen("history") },
  {
    id: "branch.rename",
    title: "Rename",
    icon: Pencil,
    shortcuts: ["F2"],
    menu: "branch",
    group: 3,
    when: one,
    run: forOne((branch) => {
      showScreen("branches");
      goTo(branch);
      changeBranchesView({ renaming: branch.id });
    }),
  },
  {
    id: "branch.protect",
    title: ({ selected }) => (selected.length > 1 ? `Protect ${selected.length} branches` : "Protect"),
    icon: Lock,
    menu: "branch",
    group: 3,
    when: (context) => context.selected.some((branch) => !branch.protected),
    run: (context) => protectAll(context, true),
  },
  {
    id: "branch.unprotect",
    title: ({ selected }) => (selected.length > 1 ? `Unprotect ${selected.length} branches` : "Unprotect"),
    icon: LockOpen,
    menu: "branch",
    group: 3,
    when: (context) => context.selected.some((branch) => branch.protected),
    run: (context) => protectAll(context, false),
  },
  {
    id: "branch.expire",
    title: "Expire…",
    icon: Timer,
    menu: "branch",
    group: 3,
    when: some,
    run: ({ selected }) => openDialog({ kind: "expire", branches: selected.map((branch) => branch.name) }),
  },
  {
    id: "branch.status",
    title: "Set status…",
    icon: Tag,
    menu: "branch",
    group: 3,
    when: some,
    run: ({ selected }) => openDialog({ kind: "status", branches: selected.map((branch) => branch.name) }),
  },
  {
    id: "branch.hide",
    title: "Hide",
    icon: EyeOff,
    menu: "branch",
    group: 4,
    when: (context) => some(context) && context.app.screen === "branches",
    run: toggleHidden,
  },
  {
    id: "branch.solo",
    title: "Show only its family",
    icon: Eye,
    menu: "branch",
    group: 4,
    when: (context) => one(context) && context.app.screen === "branches",
    run: forOne((branch) => changeBranchesView({ solo: branch.id })),
  },
  {
    id: "branch.parent",
    title: "Go to parent",
    shortcuts: ["P"],
    menu: "branch",
    group: 4,
    when: (context) => one(context) && parentOf(context) !== undefined,
    run: (context) => goTo(parentOf(context)),
  },
  {
    id: "branch.child",
    title: "Go to first child",
    shortcuts: ["C"],
    menu: "branch",
    group: 4,
    when: (context) => one(context) && childOf(context) !== undefined,
    run: (context) => goTo(childOf(context)),
  },
  {
    id: "branch.delete",
    title: (context) => (many(context) ? `Delete ${context.selected.length} branches` : "Delete"),
    icon: Trash2,
    shortcuts: ["Delete"],
    menu: "branch",
    group: 5,
    danger: true,
    when: some,
    run: destroyAll,
  },
];

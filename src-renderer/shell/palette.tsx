import { Command } from "cmdk";
import { Database, GitBranch } from "lucide-react";
import { Dialog } from "radix-ui";
import { useMemo, useState } from "react";
import { useApi, useRequest } from "../api/queries.ts";
import { closeDialog, selectBranches, selectDatabase, showScreen } from "../app-state.ts";
import { useBranchList } from "../branches/branch-list.ts";
import { changeBranchesView } from "../branches/branches-view.ts";
import { branchKey } from "../branches/rows.ts";
import { COMMANDS } from "../commands/commands.ts";
import { createContext, isEnabled, titleOf } from "../commands/command.ts";
import { Kbd } from "../ui/kbd.tsx";
import { formatCount } from "../ui/format.ts";

/** Branches offered at once; the best matches come first, the rest is counted. */
const BRANCHES_SHOWN_MAX = 8;

/** Names that start with the text, then names that contain it, shortest first. */
export function findBranches<T extends { readonly name: string }>(branches: readonly T[], text: string): readonly T[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return branches;
  const rank = (name: string) => (name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2);
  return branches
    .filter((branch) => branch.name.includes(wanted))
    .toSorted((a, b) => rank(a.name) - rank(b.name) || a.name.length - b.name.length);
}

/** Closes the palette, then acts: after it has given the keyboard back, so that what the act focuses keeps it. */
const choose = (act: () => void) => () => {
  closeDialog();
  setTimeout(act);
};

const GROUP =
  "[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-2xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-ink-3";

export function Palette() {
  const api = useApi();
  const [text, setText] = useState("");
  const branches = useBranchList((state) => state.branches);
  const databases = useRequest("database.list", {}).data ?? [];
  const context = useMemo(() => createContext(api), [api]);
  const wanted = text.trim().toLowerCase();
  const found = findBranches(branches, text);
  const commands = COMMANDS.filter(
    (command) => command.id !== "help.palette" && isEnabled(command, context) && titleOf(command, context).toLowerCase().includes(wanted),
  );
  const foundDatabases = databases.filter((database) => database.name.includes(wanted));
  return (
    <Dialog.Root open onOpenChange={(open) => !open && closeDialog()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/25" />
        <Dialog.Content
          aria-describedby={undefined}
          className="float fixed top-[12vh] left-1/2 z-50 w-140 max-w-[calc(100vw-32px)] -translate-x-1/2 overflow-hidden"
        >
          <Dialog.Title className="sr-only">Search and commands</Dialog.Title>
          <Command shouldFilter={false} loop label="Search and commands">
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder="Search branches, databases, commands"
              className="h-11 w-full border-b border-line bg-transparent px-4 text-md outline-none placeholder:text-ink-3"
            />
            <Command.List className="max-h-[min(420px,60vh)] overflow-y-auto p-1.5">
              <Command.Empty className="p-6 text-center text-ink-2">Nothing is called “{text}”.</Command.Empty>
              {wanted !== "" && found.length > 0 ? (
                <Command.Group
                  heading={
                    found.length > BRANCHES_SHOWN_MAX ? `Branches · ${BRANCHES_SHOWN_MAX} of ${formatCount(found.length)}` : "Branches"
                  }
                  className={GROUP}
                >
                  {found.slice(0, BRANCHES_SHOWN_MAX).map((branch) => (
                    <Command.Item
                      key={branch.id}
                      value={`branch ${branch.name}`}
                      className="menu-item"
                      onSelect={choose(() => {
                        showScreen("branches");
                        selectBranches(branch.id);
                        changeBranchesView({ focusedKey: branchKey(branch.id) });
                      })}
                    >
                      <GitBranch size={14} aria-hidden className="shrink-0 text-ink-3" />
                      <span className="name-cut">{branch.name}</span>
                    </Command.Item>
                  ))}
                </Command.Group>
              ) : null}
              {commands.length > 0 ? (
                <Command.Group heading="Commands" className={GROUP}>
                  {commands.map((command) => (
                    <Command.Item
                      key={command.id}
                      value={`command ${command.id}`}
                      className="menu-item"
                      onSelect={choose(() => void command.run(createContext(api)))}
                    >
                      {command.icon ? <command.icon size={14} aria-hidden className="shrink-0 text-ink-3" /> : <span className="w-3.5" />}
                      <span className="name-cut">{titleOf(command, context)}</span>
                      {command.menu === "branch" && context.branch ? (
                        <span className="name-cut text-ink-3">
                          {context.selected.length > 1 ? `${context.selected.length} branches` : context.branch.name}
                        </span>
                      ) : null}
                      {command.shortcuts?.[0] ? <Kbd shortcut={command.shortcuts[0]} className="ml-auto" /> : null}
                    </Command.Item>
                  ))}
                </Command.Group>
              ) : null}
              {foundDatabases.length > 0 ? (
                <Command.Group heading="Databases" className={GROUP}>
                  {foundDatabases.map((database) => (
                    <Command.Item
                      key={database.uid}
                      value={`database ${database.name}`}
                      className="menu-item"
                      onSelect={choose(() => selectDatabase(database.name))}
                    >
                      <Database size={14} aria-hidden className="shrink-0 text-ink-3" />
                      <span className="name-cut">{database.name}</span>
                    </Command.Item>
                  ))}
                </Command.Group>
              ) : null}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

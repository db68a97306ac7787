import { useMemo } from "react";
import { useApi } from "../api/queries.ts";
import { closeDialog } from "../app-state.ts";
import { COMMANDS } from "../commands/commands.ts";
import { createContext, titleOf } from "../commands/command.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Kbd } from "../ui/kbd.tsx";

/** Keys of the branch list that are no commands: they move in it. */
const LIST_KEYS: readonly (readonly [string, string])[] = [
  ["Up / Down", "Previous, next row"],
  ["Left / Right", "Close, open a row"],
  ["Home / End", "First, last row"],
  ["Enter", "Menu of the row, or open it"],
  ["Space", "Add to or take from the selection"],
  ["a–z", "Jump to a name, typed quickly"],
];

function Line({ keys, text }: { readonly keys: readonly string[]; readonly text: string }) {
  return (
    <li className="flex h-6 items-center justify-between gap-4 text-xs">
      <span className="name-cut">{text}</span>
      <span className="flex gap-3 text-ink-2">
        {keys.map((key) => (
          <Kbd key={key} shortcut={key} />
        ))}
      </span>
    </li>
  );
}

export function ShortcutsDialog() {
  const api = useApi();
  const context = useMemo(() => createContext(api), [api]);
  const withKeys = COMMANDS.filter((command) => command.shortcuts);
  return (
    <Dialog title="Keyboard shortcuts" wide onClose={closeDialog}>
      <div className="grid grid-cols-2 gap-x-8 gap-y-4 pb-2 max-sm:grid-cols-1">
        <ul>
          {withKeys
            .filter((command) => command.menu !== "branch")
            .map((command) => (
              <Line key={command.id} keys={command.shortcuts ?? []} text={titleOf(command, context)} />
            ))}
        </ul>
        <ul>
          {withKeys
            .filter((command) => command.menu === "branch")
            .map((command) => (
              <Line key={command.id} keys={command.shortcuts ?? []} text={titleOf(command, context)} />
            ))}
          {LIST_KEYS.map(([key, text]) => (
            <Line key={key} keys={[key]} text={text} />
          ))}
        </ul>
      </div>
    </Dialog>
  );
}

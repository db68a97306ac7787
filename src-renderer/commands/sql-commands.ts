import { ListTree, Play, Plus } from "lucide-react";
import { acrossSession, askAcross } from "../data/across-session.ts";
import { dataSession } from "../data/data-session.ts";
import { runActive } from "../data/sql-run.ts";
import { openScript } from "../data/sql-session.ts";
import type { Api } from "../api/api.ts";
import type { AppState } from "../app-state.ts";
import type { Command, CommandContext } from "./command.ts";

/** The Data screen shows an editor: "run" means its SQL there. */
export function isSqlShown({ screen }: AppState): boolean {
  return screen === "data" && dataSession.get().tab !== "browse";
}

/** The statement at the cursor, or the one that is put to many branches. */
export function runShownSql(api: Api, { database }: AppState): void {
  if (dataSession.get().tab === "sql") runActive(api, "chosen");
  else if (database !== null && acrossSession.get().ask.sql.trim() !== "") void askAcross(api, database);
}

const isScriptShown = ({ app }: CommandContext): boolean => app.screen === "data" && dataSession.get().tab === "sql";

export const SQL_COMMANDS: readonly Command[] = [
  {
    id: "sql.run-all",
    title: "Run the whole script",
    icon: Play,
    shortcuts: ["Mod+Shift+Enter"],
    menu: "run",
    group: 2,
    when: isScriptShown,
    run: ({ api }) => runActive(api, "all"),
  },
  {
    id: "sql.explain",
    title: "Explain the statement",
    icon: ListTree,
    menu: "run",
    group: 2,
    when: isScriptShown,
    run: ({ api }) => runActive(api, "chosen", "plan"),
  },
  { id: "sql.new", title: "New script", icon: Plus, menu: "run", group: 2, when: isScriptShown, run: () => openScript() },
];

import { Gauge, Square } from "lucide-react";
import { showScreen } from "../app-state.ts";
import { startChosen, stopBenchmark } from "../benchmarks/bench-acts.ts";
import { benchRuns, findActiveRun } from "../benchmarks/bench-runs.ts";
import type { Command, CommandContext } from "./command.ts";
import { isSqlShown, runShownSql } from "./sql-commands.ts";

const hasStore = ({ app }: CommandContext): boolean => app.hello?.store != null;
const isRunning = (): boolean => findActiveRun(benchRuns.get()) !== null;

export const RUN_COMMANDS: readonly Command[] = [
  {
    id: "run.benchmark",
    title: ({ app }) => (isSqlShown(app) ? "Run SQL" : app.screen === "benchmarks" ? "Run benchmark" : "Run benchmark…"),
    icon: Gauge,
    shortcuts: ["Mod+Enter"],
    menu: "run",
    group: 1,
    when: (context) => hasStore(context) && !(context.app.screen === "benchmarks" && isRunning()),
    // Elsewhere nothing says yet what would be run: the screen does.
    run: ({ api, app }) =>
      isSqlShown(app) ? runShownSql(api, app) : app.screen === "benchmarks" ? startChosen(api) : showScreen("benchmarks"),
  },
  {
    id: "run.stop-benchmark",
    title: "Stop benchmark and keep partial",
    icon: Square,
    menu: "run",
    group: 1,
    when: (context) => hasStore(context) && isRunning(),
    run: ({ api }) => stopBenchmark(api),
  },
];

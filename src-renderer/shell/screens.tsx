import type { ComponentType } from "react";
import { ActivityScreen } from "../activity/activity-screen.tsx";
import type { ScreenName } from "../app-state.ts";
import { BranchesScreen } from "../branches/branches-screen.tsx";
import { BenchmarksScreen } from "../benchmarks/benchmarks-on-demand.tsx";
import { DataScreen } from "../data/data-on-demand.tsx";
import { DiffScreen } from "../diff/diff-screen.tsx";
import { HistoryScreen } from "../history/history-screen.tsx";
import { ImportScreen } from "../import-report/import-screen.tsx";
import { SettingsScreen } from "../settings/settings-screen.tsx";
import { TrashScreen } from "../trash/trash-screen.tsx";
import { UsageScreen } from "../usage/usage-screen.tsx";

/** The one place that knows every screen; screens never import each other. */
export const SCREENS: Readonly<Record<ScreenName, ComponentType>> = {
  branches: BranchesScreen,
  history: HistoryScreen,
  diff: DiffScreen,
  data: DataScreen,
  usage: UsageScreen,
  benchmarks: BenchmarksScreen,
  activity: ActivityScreen,
  trash: TrashScreen,
  settings: SettingsScreen,
  import: ImportScreen,
};

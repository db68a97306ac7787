/** What can be done with runs: from the toolbar, the list, the palette and the keyboard alike. */
import type { BenchRun } from "#shared/bench-views.ts";
import type { RequestInput } from "#shared/contract.ts";
import type { Api } from "../api/api.ts";
import { toErrorView } from "../api/api-error.ts";
import { requestOrReport } from "../api/perform.ts";
import { showError, showToast } from "../ui/toasts.ts";
import { addBenchHead, benchRuns, dropBenchRun, findActiveRun, loadBenchHeads, loadBenchRun } from "./bench-runs.ts";
import { benchView, changeBenchView, resolveChoice, toOrder } from "./bench-view.ts";

/** Starts a run and shows it. A refusal becomes an error toast with Retry. */
export async function startBenchmark(api: Api, order: RequestInput<"bench.start">): Promise<void> {
  try {
    const head = await api.request("bench.start", order);
    addBenchHead(head);
    changeBenchView({ suite: order.suite, shown: head.id, series: null });
    await loadBenchRun(api, head.id);
  } catch (error) {
    const view = toErrorView(error);
    // The one that runs may be another window's: then the list is behind.
    void loadBenchHeads(api);
    showError(view, () => void startBenchmark(api, order));
  }
}

/** Starts what the screen is set to. */
export async function startChosen(api: Api): Promise<void> {
  const answer = await requestOrReport(api, "bench.suites", {});
  const choice = answer && resolveChoice(benchView.get(), answer.suites);
  if (choice) await startBenchmark(api, toOrder(choice));
}

/** Takes a run again as it was. */
export async function repeatRun(api: Api, run: BenchRun): Promise<void> {
  const { folder } = benchView.get();
  await startBenchmark(api, {
    suite: run.suite,
    size: run.size,
    ...(Object.keys(run.options).length > 0 ? { options: { ...run.options } } : {}),
    ...(folder === null ? {} : { folder }),
  });
}

/** Ends the run that is under way; what was measured is kept. */
export async function stopBenchmark(api: Api): Promise<void> {
  const active = findActiveRun(benchRuns.get());
  if (active) await requestOrReport(api, "bench.stop", { run: active.id });
}

/** Removes a finished run with its samples. */
export async function removeRun(api: Api, id: string, name: string): Promise<void> {
  try {
    await api.request("bench.remove", { run: id });
  } catch (error) {
    showError(toErrorView(error), () => void removeRun(api, id, name));
    return;
  }
  dropBenchRun(id);
  const { shown, compared } = benchView.get();
  changeBenchView({ shown: shown === id ? null : shown, compared: compared.filter((other) => other !== id) });
  showToast({ text: `Deleted the run of ${name}`, tone: "plain" });
}

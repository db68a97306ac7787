/** The whole window over a fake host: what a user sees and presses, without a store behind it. */
import { createRoot, type Root } from "react-dom/client";
import { afterEach } from "vitest";
import "../../../src-renderer/app.css";
import { App } from "../../../src-renderer/app.tsx";
import { connectApi } from "../../../src-renderer/api/api.ts";
import { resetChangeCounts } from "../../../src-renderer/api/change-counts.ts";
import { resetAppState, type ScreenName } from "../../../src-renderer/app-state.ts";
import { resetBenchView } from "../../../src-renderer/benchmarks/bench-view.ts";
import { resetData } from "../../../src-renderer/data/reset-data.ts";
import { resetDiff } from "../../../src-renderer/diff/diff-session.ts";
import { importState } from "../../../src-renderer/import-report/import-session.ts";
import { resetUsage } from "../../../src-renderer/usage/usage-measure.ts";
import { toasts } from "../../../src-renderer/ui/toasts.ts";
import { installFakeApi, type FakeApi, type FakeHandlers } from "./fake-api.ts";
import { sampleHandlers } from "./sample-store.ts";

let mounted: { readonly root: Root; readonly elements: readonly Element[] } | null = null;

afterEach(() => {
  mounted?.root.unmount();
  for (const element of mounted?.elements ?? []) element.remove();
  mounted = null;
  resetAppState();
  resetBenchView();
  resetDiff();
  resetChangeCounts();
  resetData();
  resetUsage();
  importState.set({ step: "idle" });
  toasts.set({ list: [] });
});

/** Starts on `screen` with the sample store; `handlers` replace or add to its answers. */
export function renderApp(screen: ScreenName, handlers: FakeHandlers = {}): FakeApi {
  const layout = JSON.stringify({ screen, database: "shop" });
  const api = installFakeApi({ ...sampleHandlers(), "app.settings": () => ({ theme: "light", layout }), ...handlers });
  const place = document.createElement("div");
  place.id = "root";
  document.body.append(place);
  const root = createRoot(place);
  mounted = { root, elements: [place] };
  root.render(<App api={connectApi()} />);
  return api;
}

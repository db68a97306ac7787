/** The whole window over a fake host: what a user sees and presses, without a store behind it. */
import { createRoot, type Root } from "react-dom/client";
import { afterEach } from "vitest";
import { App } from "../../../src-renderer/app.tsx";
import { connectApi } from "../../../src-renderer/api/api.ts";
import { resetAppState, type ScreenName } from "../../../src-renderer/app-state.ts";
import { resetBenchView } from "../../../src-renderer/benchmarks/bench-view.ts";
import { resetDiff } from "../../../src-renderer/diff/diff-session.ts";
import { importState } from "../../../src-renderer/import-report/import-session.ts";
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
  importState.set({ step: "idle" });
  toasts.set({ list: [] });
});

/** Starts on `screen` with the sample store; `handlers` replace or add to its answers. */
export function renderApp(screen: ScreenName, handlers: FakeHandlers = {}): FakeApi {
  const layout = JSON.stringify({ screen, database: "shop" });
  const api = installFakeApi({ ...sampleHandlers(), "app.settings": () => ({ theme: "light", layout }), ...handlers });
  const place = document.createElement("div");
  // Tests run without the stylesheet: the few rules that virtual lists need to measure themselves.
  const style = document.createElement("style");
  style.textContent =
    "[role=grid], [role=treegrid] { height: 400px; overflow: auto } .relative { position: relative } .absolute { position: absolute } .h-row { height: 28px }";
  document.body.append(style, place);
  const root = createRoot(place);
  mounted = { root, elements: [style, place] };
  root.render(<App api={connectApi()} />);
  return api;
}

import { QueryClientProvider, type QueryClient } from "@tanstack/react-query";
import { StrictMode, useEffect, useState } from "react";
import type { HostEvent } from "#shared/contract.ts";
import type { ErrorView } from "#shared/error-codes.ts";
import type { Api } from "./api/api.ts";
import { toErrorView } from "./api/api-error.ts";
import { ApiProvider, applyHostEvent, createQueryClient } from "./api/queries.ts";
import { appState, openImport, setConnection } from "./app-state.ts";
import { followBenchRuns } from "./benchmarks/bench-runs.ts";
import { followBranches } from "./branches/branch-list.ts";
import { runCommand } from "./commands/commands.ts";
import { listenToKeyboard } from "./commands/keyboard.ts";
import { keepSession, startSession } from "./shell/session.ts";
import { Shell } from "./shell/shell.tsx";
import { useTheme } from "./shell/theme.ts";
import { ErrorBoundary } from "./ui/error-boundary.tsx";
import { ErrorPanel, Skeleton } from "./ui/states.tsx";
import { TooltipProvider } from "./ui/tooltip.tsx";

/** Host events that concern the window as a whole; lists and caches listen for themselves. */
function handleEvent(api: Api, event: HostEvent): void {
  if (event.type === "command") runCommand(api, event.command);
  if (event.type === "open-file") openImport(event.path);
  if (event.type === "connection") setConnection(event.state);
}

const openStoreUid = (): string | null => appState.get().hello?.store?.uid ?? null;

/** What was read from one store says nothing about the next one. */
function forgetOtherStores(queryClient: QueryClient): () => void {
  let store = openStoreUid();
  return appState.subscribe(() => {
    if (openStoreUid() === store) return;
    store = openStoreUid();
    void queryClient.resetQueries();
  });
}

function useSession(api: Api) {
  const [queryClient] = useState(createQueryClient);
  const [state, setState] = useState<{ readonly ready: boolean; readonly error: ErrorView | null }>({ ready: false, error: null });
  useEffect(() => {
    // Subscribed before the first request is sent: an event in between would be lost.
    const stops = [
      api.onEvent((event) => {
        applyHostEvent(queryClient, event);
        handleEvent(api, event);
      }),
      followBranches(api),
      followBenchRuns(api),
      forgetOtherStores(queryClient),
      listenToKeyboard(api),
    ];
    let ended = false;
    startSession(api)
      .then(() => {
        if (ended) return;
        stops.push(keepSession(api));
        const startWith = appState.get().hello?.startWith;
        if (startWith) openImport(startWith);
        setState({ ready: true, error: null });
      })
      .catch((error: unknown) => !ended && setState({ ready: false, error: toErrorView(error) }));
    return () => {
      ended = true;
      for (const stop of stops) stop();
    };
  }, [api, queryClient]);
  return { queryClient, ...state };
}

export function App({ api }: { readonly api: Api }) {
  useTheme();
  const session = useSession(api);
  return (
    <StrictMode>
      <ApiProvider value={api}>
        <QueryClientProvider client={session.queryClient}>
          <TooltipProvider delayDuration={400}>
            <ErrorBoundary>
              {session.ready ? (
                <Shell />
              ) : session.error ? (
                <div className="mx-auto max-w-160 p-8">
                  <ErrorPanel error={session.error} onRetry={() => location.reload()} retryLabel="Reload" />
                </div>
              ) : (
                <Skeleton lines={6} className="p-8" />
              )}
            </ErrorBoundary>
          </TooltipProvider>
        </QueryClientProvider>
      </ApiProvider>
    </StrictMode>
  );
}

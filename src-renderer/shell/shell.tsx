import { useEffect } from "react";
import { useAppState } from "../app-state.ts";
import { DialogHost } from "../dialogs/dialog-host.tsx";
import { FirstRunScreen } from "../first-run/first-run-screen.tsx";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { Toaster } from "../ui/toaster.tsx";
import { DropTarget } from "./drop-target.tsx";
import { Rail } from "./rail.tsx";
import { SCREENS } from "./screens.tsx";
import { StatusBar } from "./status-bar.tsx";
import { TitleBar } from "./title-bar.tsx";

/** Title bar, rail, screen, status bar, and what floats above them. Without a store there is only the first run. */
export function Shell() {
  const screen = useAppState((state) => state.screen);
  const database = useAppState((state) => state.database);
  const hasStore = useAppState((state) => state.hello?.store != null);
  const Screen = SCREENS[screen];
  useEffect(() => {
    document.title = hasStore && database ? `${database} · Coppice` : "Coppice";
  }, [hasStore, database]);
  return (
    <div className="flex h-full flex-col">
      <TitleBar />
      {hasStore ? (
        <div className="flex min-h-0 flex-1">
          <Rail />
          <main className="flex min-w-0 flex-1 flex-col">
            <ErrorBoundary key={screen}>
              <Screen />
            </ErrorBoundary>
          </main>
        </div>
      ) : (
        <main data-pane="first-run" className="flex min-h-0 flex-1">
          <ErrorBoundary>
            <FirstRunScreen />
          </ErrorBoundary>
        </main>
      )}
      <StatusBar />
      <DialogHost />
      <DropTarget />
      <Toaster />
    </div>
  );
}

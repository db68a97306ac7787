import { Copy, FolderOpen, Monitor, Moon, Sun } from "lucide-react";
import { LIMITS } from "#shared/limits.ts";
import { toErrorView } from "../api/api-error.ts";
import { requestOrReport } from "../api/perform.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { setTheme, useAppState } from "../app-state.ts";
import { leaveStore } from "../shell/enter-store.ts";
import { Button, IconButton } from "../ui/button.tsx";
import { copyText } from "../ui/copy.ts";
import { Facts } from "../ui/facts.tsx";
import { RelativeTime } from "../ui/figures.tsx";
import { formatCount, formatIso, formatPlural } from "../ui/format.ts";
import { Segmented } from "../ui/segmented.tsx";
import { ErrorPanel, Skeleton } from "../ui/states.tsx";
import { CachesPanel } from "./caches-panel.tsx";
import { DoctorPanel } from "./doctor-panel.tsx";
import { GcPanel } from "./gc-panel.tsx";
import { Panel } from "./panel.tsx";
import { VerifyPanel } from "./verify-panel.tsx";

/** How Coppice looks, what this store is, and the checks that can be run on it. */
export function SettingsScreen() {
  return (
    <section aria-label="Settings" data-pane="main" className="flex min-h-0 min-w-0 flex-1 flex-col bg-canvas">
      <header className="flex h-11 flex-none items-center border-b border-line px-3">
        <h1 className="font-semibold">Settings</h1>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto px-6 py-5">
        <div className="mx-auto flex max-w-200 flex-col gap-5">
          <Appearance />
          <Safety />
          <StoreFacts />
          <VerifyPanel />
          <DoctorPanel />
          <GcPanel />
          <CachesPanel />
        </div>
      </div>
    </section>
  );
}

function Appearance() {
  const theme = useAppState((state) => state.theme);
  return (
    <Panel
      title="Appearance"
      text="Follows the system unless told otherwise."
      action={
        <Segmented
          label="Theme"
          value={theme}
          onChange={setTheme}
          segments={[
            { value: "system", label: "System", icon: Monitor },
            { value: "light", label: "Light", icon: Sun },
            { value: "dark", label: "Dark", icon: Moon },
          ]}
        />
      }
    />
  );
}

function Safety() {
  return (
    <Panel title="Undo and trash" text="The same for every store and every program that works on it.">
      <Facts
        className="grid-cols-[168px_minmax(0,1fr)]!"
        facts={[
          { label: "Undo reaches back", value: formatPlural(LIMITS.undoWindowMs / 86_400_000, "day") },
          { label: "Trash keeps", value: `${formatPlural(LIMITS.trashKeepMs / 86_400_000, "day")}, then the next collection purges` },
        ]}
      />
    </Panel>
  );
}

function StoreFacts() {
  const api = useApi();
  const host = useAppState((state) => state.hello?.host);
  const status = useRequest("store.status", {});
  const store = status.data;
  return (
    <Panel
      title="This store"
      text="A folder that holds databases, their branches and the working files."
      action={<Button onClick={() => void leaveStore(api)}>Open another store…</Button>}
    >
      {status.isError && !store ? <ErrorPanel error={toErrorView(status.error)} onRetry={() => void status.refetch()} /> : null}
      {!store && !status.isError ? <Skeleton lines={5} /> : null}
      {store ? (
        <>
          <div className="flex items-center gap-1">
            <span className="name-cut font-mono text-xs" title={store.path}>
              {store.path}
            </span>
            <IconButton icon={Copy} label="Copy path" onClick={() => void copyText(store.path, "path")} />
            {host === "electron" ? (
              <IconButton
                icon={FolderOpen}
                label="Show in the file manager"
                onClick={() => void requestOrReport(api, "app.reveal", { path: store.path })}
              />
            ) : null}
          </div>
          <Facts
            className="grid-cols-[168px_minmax(0,1fr)]!"
            facts={[
              { label: "Databases", value: formatCount(store.databases) },
              { label: "Branches", value: formatCount(store.branches) },
              { label: "In the trash", value: formatCount(store.trashed) },
              { label: "Operations", value: formatCount(store.lastOperation) },
              { label: "Last durable", value: store.durableAt === null ? "never" : <RelativeTime at={store.durableAt} suffix=" ago" /> },
              { label: "Created", value: <RelativeTime at={store.createdAt} suffix=" ago" />, title: formatIso(store.createdAt) },
              { label: "Format", value: `version ${store.formatVersion}` },
              { label: "Identity", value: <span className="font-mono text-2xs">{store.uid}</span>, title: store.uid },
            ]}
          />
          {store.warnings.map((warning) => (
            <p key={warning} className="rounded-md bg-warn-bg px-3 py-2 text-xs text-warn">
              {warning}
            </p>
          ))}
        </>
      ) : null}
    </Panel>
  );
}

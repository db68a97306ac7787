import { ChevronRight, Download, FileInput, FlaskConical, FolderOpen, LoaderCircle, type LucideIcon } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { ErrorView } from "#shared/error-codes.ts";
import { toErrorView } from "../api/api-error.ts";
import { requestOrReport } from "../api/perform.ts";
import { useApi } from "../api/queries.ts";
import { openImport, useAppState } from "../app-state.ts";
import { useStore } from "../external-store.ts";
import { ImportPanel, useImportRequest } from "../import-report/import-panel.tsx";
import { closeImport, importState } from "../import-report/import-session.ts";
import { openStore } from "../shell/enter-store.ts";
import { cx } from "../ui/cx.ts";
import { RunningJob } from "../ui/running-job.tsx";
import { formatPlural } from "../ui/format.ts";
import { ErrorPanel } from "../ui/states.tsx";
import { showToast } from "../ui/toasts.ts";
import { RecentStores } from "./recent-stores.tsx";
import { StoreForm } from "./store-form.tsx";
import { Welcome } from "./welcome.tsx";

type Opening = "demo" | "store";
/** What the right side shows while no import is going on. */
type Aside = { readonly kind: "welcome" } | { readonly kind: "store"; readonly folder: string; readonly error: ErrorView | null };

/** No store is open: every way in, and the import report beside it. */
export function FirstRunScreen() {
  const api = useApi();
  const hello = useAppState((state) => state.hello);
  const importing = useStore(importState, (state) => state.step);
  const [aside, setAside] = useState<Aside>({ kind: "welcome" });
  const [opening, setOpening] = useState<Opening | null>(null);
  const [failure, setFailure] = useState<ErrorView | null>(null);
  useImportRequest();
  if (!hello) return null;

  const open = async (what: Opening, act: () => Promise<unknown>, onFailure: (error: ErrorView) => void) => {
    setFailure(null);
    setOpening(what);
    try {
      await act();
    } catch (error) {
      onFailure(toErrorView(error));
    } finally {
      setOpening(null);
    }
  };
  const openDemo = () =>
    void open(
      "demo",
      () => openStore(api, "store.demo", {}),
      (error) => setFailure(error.code === "cancelled" ? null : error),
    );
  const openFolder = (folder: string, create = false) => {
    const act = () => openStore(api, create ? "store.create" : "store.open", { spec: folder });
    closeImport();
    void open("store", act, (error) => setAside({ kind: "store", folder, error }));
  };
  const repair = (folder: string) =>
    void open(
      "store",
      async () => {
        const report = await api.request("store.repair", { spec: folder });
        await openStore(api, "store.open", { spec: folder });
        const { problems, repaired, databases } = report;
        const made = databases.length > 0 ? `${formatPlural(databases.length, "database")} in a new catalog` : "the store is empty";
        showToast({
          text: repaired ? `Repaired: ${made}` : "The catalog is sound",
          detail: problems.length > 0 ? problems.map(({ object, problem }) => `${object}: ${problem}`).join("\n") : null,
          tone: problems.length > 0 ? "warn" : "plain",
        });
      },
      (error) => setAside({ kind: "store", folder, error }),
    );
  const chooseFolder = async () => {
    if (hello.host === "web") {
      closeImport();
      setAside({ kind: "store", folder: "", error: null });
      return;
    }
    const folder = await requestOrReport(api, "app.chooseFolder", { title: "Open or create a store" });
    if (folder !== null) openFolder(folder);
  };
  return (
    <div className="flex min-h-0 min-w-0 flex-1">
      <div className="flex w-105 min-w-75 flex-none flex-col gap-3 overflow-y-auto border-r border-line bg-surface px-6 pt-8 pb-4 max-[1100px]:w-85">
        <header className="mb-2">
          <h1 className="text-lg font-semibold">Branch a SQLite database</h1>
          <p className="text-sm text-ink-2">Fork, try, keep one. Any step can be undone.</p>
        </header>
        <div className="overflow-hidden rounded-lg border border-line bg-raised">
          <Option
            icon={FlaskConical}
            title="Try the demo"
            text={opening === "demo" ? "Making it takes a few seconds the first time" : "A shop database with twenty branches"}
            on={opening === "demo"}
            busy={opening === "demo"}
            disabled={opening !== null}
            onClick={openDemo}
          />
          <Option
            icon={FileInput}
            title="Open a SQLite file"
            text="Imports a copy. The original is never written to"
            on={importing !== "idle"}
            disabled={opening !== null}
            onClick={() => openImport(null)}
          />
          <Option
            icon={FolderOpen}
            title="Open or create a store"
            text="A folder that holds databases and their branches"
            on={importing === "idle" && aside.kind === "store"}
            disabled={opening !== null}
            onClick={() => void chooseFolder()}
          />
        </div>
        {opening ? <RunningJob quiet /> : null}
        {failure ? <ErrorPanel error={failure} onRetry={openDemo} /> : null}
        <p className="flex h-14 flex-none items-center justify-center gap-2 rounded-lg border border-dashed border-line-strong text-xs text-ink-2">
          <Download size={14} aria-hidden />
          or drop a .db, .sqlite or .sqlite3 file anywhere
        </p>
        <RecentStores recent={hello.recent} home={hello.home} disabled={opening !== null} onOpen={(recent) => openFolder(recent.path)} />
        <p className="mt-auto pt-4 text-xs text-ink-3">{hello.program}</p>
      </div>
      {importing === "idle" ? (
        <Panel>
          {aside.kind === "store" ? (
            <StoreForm
              key={aside.folder}
              folder={aside.folder}
              error={aside.error}
              home={hello.home}
              busy={opening !== null}
              onOpen={openFolder}
              onRepair={repair}
              onClose={() => setAside({ kind: "welcome" })}
            />
          ) : (
            <Welcome />
          )}
        </Panel>
      ) : (
        <ImportPanel hello={hello} store={null} />
      )}
    </div>
  );
}

function Panel({ children }: { readonly children: ReactNode }) {
  return <section className="flex min-h-0 min-w-0 flex-1 flex-col overflow-y-auto bg-canvas">{children}</section>;
}

function Option(props: {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly text: string;
  readonly on: boolean;
  /** The act is under way. */
  readonly busy?: boolean;
  readonly disabled: boolean;
  readonly onClick: () => void;
}) {
  const Icon = props.icon;
  return (
    <button
      type="button"
      disabled={props.disabled}
      aria-busy={props.busy}
      onClick={props.onClick}
      className={cx(
        "flex h-14 w-full items-center gap-3 border-t border-line px-3 text-left first:border-t-0 focus-visible:outline-offset-[-2px]",
        props.on ? "bg-selected shadow-[inset_2px_0_0_var(--accent)]" : "enabled:hover:bg-hover",
      )}
    >
      <Icon size={16} aria-hidden className={cx("shrink-0", props.on ? "text-accent" : "text-ink-2")} />
      <span className="min-w-0 flex-1 leading-4.5">
        <span className="block font-medium">{props.title}</span>
        <span className="name-cut block text-xs text-ink-2">{props.text}</span>
      </span>
      {props.busy ? (
        <LoaderCircle size={14} aria-label="Working" className="shrink-0 animate-[turn_1s_linear_infinite] text-accent" />
      ) : (
        <ChevronRight size={14} aria-hidden className="shrink-0 text-ink-3" />
      )}
    </button>
  );
}

import { HardDrive, Unplug, X } from "lucide-react";
import type { RecentStore } from "#shared/views.ts";
import { requestOrReport } from "../api/perform.ts";
import { useApi } from "../api/queries.ts";
import { appState, setHello } from "../app-state.ts";
import { IconButton } from "../ui/button.tsx";
import { RelativeTime } from "../ui/figures.tsx";
import { formatPlural } from "../ui/format.ts";
import { fileNameOf, folderOf, shortenHome } from "../ui/paths.ts";

interface RecentStoresProps {
  readonly recent: readonly RecentStore[];
  readonly home: string;
  readonly disabled: boolean;
  readonly onOpen: (recent: RecentStore) => void;
}

/** Stores opened before, newest first. One that is gone stays, greyed, until it is removed by hand. */
export function RecentStores({ recent, home, disabled, onOpen }: RecentStoresProps) {
  const api = useApi();
  if (recent.length === 0) return null;
  const forget = async (path: string) => {
    const left = await requestOrReport(api, "app.forgetRecent", { path });
    const { hello } = appState.get();
    if (left && hello) setHello({ ...hello, recent: left });
  };
  return (
    <section aria-labelledby="recent-stores" className="mt-3">
      <h2 id="recent-stores" className="mb-1 text-2xs font-semibold text-ink-2">
        Recent stores
      </h2>
      <ul className="overflow-hidden rounded-lg border border-line bg-raised">
        {recent.map((entry) => (
          <li key={entry.path} className="group relative flex h-12 items-center border-t border-line first:border-t-0 hover:bg-hover">
            <button
              type="button"
              disabled={disabled || !entry.exists}
              title={entry.path}
              onClick={() => onOpen(entry)}
              className="flex h-full min-w-0 flex-1 items-center gap-3 px-3 text-left leading-4.5 focus-visible:outline-offset-[-2px]"
            >
              {entry.exists ? (
                <HardDrive size={14} aria-hidden className="shrink-0 text-ink-3" />
              ) : (
                <Unplug size={14} aria-hidden className="shrink-0 text-ink-off" />
              )}
              <span className="min-w-0 flex-1">
                <span className="name-cut block">
                  <span className={entry.exists ? "font-medium" : "text-ink-3"}>{fileNameOf(entry.path)}</span>{" "}
                  <span className="text-ink-3">{shortenHome(folderOf(entry.path), home)}</span>
                </span>
                <span className="name-cut block text-xs text-ink-3">
                  {entry.exists ? describeContents(entry) : "Not found: the folder was moved, deleted or is not mounted"}
                </span>
              </span>
              <RelativeTime
                at={entry.openedAt}
                className="shrink-0 text-xs text-ink-3 group-focus-within:invisible group-hover:invisible"
              />
            </button>
            <IconButton
              icon={X}
              label={`Remove ${fileNameOf(entry.path)} from the list`}
              className="absolute! right-2 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100"
              onClick={() => void forget(entry.path)}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

function describeContents({ databases, branches }: RecentStore): string {
  if (databases === null || branches === null) return "Not opened lately";
  return `${formatPlural(databases, "database")}, ${formatPlural(branches, "branch", "branches")}`;
}

import { FileDown } from "lucide-react";
import { useEffect, useState } from "react";
import { useApi } from "../api/queries.ts";
import { toErrorView } from "../api/api-error.ts";
import { openImport } from "../app-state.ts";
import { formatBytes } from "#shared/units.ts";
import { Button } from "../ui/button.tsx";
import { showError } from "../ui/toasts.ts";
import type { Api } from "../api/api.ts";

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;

const SIDE_FILE = /-(?:wal|journal|shm)$/;

/** The database among dropped files and, behind it, the side files that belong to it; the first file when all are side files. */
export function orderDropped<T extends { readonly name: string }>(files: readonly T[]): readonly T[] {
  const database = files.find((file) => !SIDE_FILE.test(file.name)) ?? files[0];
  if (!database) return [];
  return [database, ...files.filter((file) => SIDE_FILE.test(file.name) && file.name.replace(SIDE_FILE, "") === database.name)];
}

/** What is on its way to the host. */
interface Sending {
  readonly text: string;
  readonly abort: AbortController;
}

async function importDropped(api: Api, files: readonly File[], onSending: (sending: Sending | null) => void): Promise<void> {
  const abort = new AbortController();
  try {
    const paths: string[] = [];
    for (const file of files) {
      onSending({ text: `Reading ${file.name}`, abort });
      const path = await api.giveFile(file, {
        signal: abort.signal,
        onProgress: (sent) => onSending({ text: `Reading ${file.name}: ${formatBytes(sent)} of ${formatBytes(file.size)}`, abort }),
      });
      paths.push(path);
    }
    if (paths[0] !== undefined) openImport(paths[0]);
  } catch (error) {
    const view = toErrorView(error);
    if (view.code !== "cancelled") showError(view, () => void importDropped(api, files, onSending));
  } finally {
    onSending(null);
  }
}

/** A file dropped anywhere in the window, alone or with its side files, leads to its import report. Nothing is imported yet. */
export function DropTarget() {
  const api = useApi();
  const [over, setOver] = useState(false);
  const [sending, setSending] = useState<Sending | null>(null);
  useEffect(() => {
    const onOver = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const onLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent) => {
      const files = orderDropped([...(event.dataTransfer?.files ?? [])]);
      setOver(false);
      if (files.length === 0) return;
      event.preventDefault();
      void importDropped(api, files, setSending);
    };
    window.addEventListener("dragover", onOver);
    window.addEventListener("dragleave", onLeave);
    window.addEventListener("drop", onDrop);
    return () => {
      window.removeEventListener("dragover", onOver);
      window.removeEventListener("dragleave", onLeave);
      window.removeEventListener("drop", onDrop);
    };
  }, [api]);
  if (!over && sending === null) return null;
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-2 z-60 grid place-items-center rounded-lg border-2 border-dashed border-accent bg-canvas/80"
    >
      <span className="flex items-center gap-2 text-md font-medium">
        <FileDown size={20} aria-hidden className="text-accent" />
        {sending?.text ?? "Drop to see what an import would do"}
        {sending ? (
          <Button size="sm" className="pointer-events-auto ml-2" onClick={() => sending.abort.abort()}>
            Cancel
          </Button>
        ) : null}
      </span>
    </div>
  );
}

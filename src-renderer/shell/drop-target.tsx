import { FileDown } from "lucide-react";
import { useEffect, useState } from "react";
import { useApi } from "../api/queries.ts";
import { toErrorView } from "../api/api-error.ts";
import { openImport } from "../app-state.ts";
import { formatBytes } from "#shared/units.ts";
import { showError } from "../ui/toasts.ts";
import type { Api } from "../api/api.ts";

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;

async function importDropped(api: Api, file: File, onProgress: (text: string | null) => void): Promise<void> {
  try {
    const path = await api.giveFile(file, {
      onProgress: (sent) => onProgress(`Reading ${file.name}: ${formatBytes(sent)} of ${formatBytes(file.size)}`),
    });
    openImport(path);
  } catch (error) {
    showError(toErrorView(error), () => void importDropped(api, file, onProgress));
  } finally {
    onProgress(null);
  }
}

/** A file dropped anywhere in the window leads to its import report. Nothing is imported yet. */
export function DropTarget() {
  const api = useApi();
  const [over, setOver] = useState(false);
  const [progress, setProgress] = useState<string | null>(null);
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
      const file = event.dataTransfer?.files[0];
      setOver(false);
      if (!file) return;
      event.preventDefault();
      void importDropped(api, file, setProgress);
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
  if (!over && progress === null) return null;
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-2 z-60 grid place-items-center rounded-lg border-2 border-dashed border-accent bg-canvas/80"
    >
      <span className="flex items-center gap-2 text-md font-medium">
        <FileDown size={20} aria-hidden className="text-accent" />
        {progress ?? "Drop to see what an import would do"}
      </span>
    </div>
  );
}

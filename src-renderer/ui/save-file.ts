import { showToast } from "./toasts.ts";

const KEPT_MS = 60_000;

/**
 * Gives the user a file that the page made. The browser puts it among the downloads; the desktop's window asks where.
 * Both take it from the page's memory: nothing is sent to the host.
 */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download reads the bytes after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

/** As `saveFile`, and says so in a toast. `type`: "text/csv". */
export function saveText(name: string, text: string, type: string): void {
  saveFile(name, new Blob([text], { type: `${type};charset=utf-8` }));
  showToast({ text: `Saved ${name}`, tone: "plain" });
}

/** As file systems take it, for a file that is named after something of the user. */
export function fileNameOf(name: string, otherwise: string): string {
  return name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_") || otherwise;
}

/**
 * Gives the user a file that the page made. The browser puts it among the downloads; the desktop's window asks where.
 * Both take it from the page's memory: nothing is sent to the host.
 */
const KEPT_MS = 60_000;

export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download reads the bytes after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}

import { showToast } from "./toasts.ts";

/** Puts text on the clipboard and says so. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast({ text: `Copied ${what}`, tone: "plain" });
  } catch {
    showToast({ text: `${what} could not be copied: the clipboard is not available`, tone: "warn" });
  }
}

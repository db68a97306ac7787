import { app, dialog, type BrowserWindow } from "electron";
import type { Host } from "#host/host.ts";

const WAIT_EVERY_MS = 200;

/**
 * Ends the app: asks when jobs run (let them finish without a window, cancel them, or stay), then closes the host before
 * the process goes.
 */
export function askBeforeQuitting(host: Host, currentWindow: () => BrowserWindow | null): void {
  let state: "running" | "asking" | "closing" | "closed" = "running";
  const finish = async () => {
    state = "closing";
    await host.close();
    state = "closed";
    app.quit();
  };
  const ask = async () => {
    state = "asking";
    const answer = await askAboutJobs(host.runningJobs, currentWindow());
    if (answer === "stay") {
      state = "running";
      return;
    }
    if (answer === "keep") {
      currentWindow()?.hide();
      while (host.runningJobs > 0) await new Promise((resolve) => setTimeout(resolve, WAIT_EVERY_MS));
    }
    await finish();
  };
  app.on("before-quit", (event) => {
    if (state === "closed") return;
    event.preventDefault();
    if (state === "running") void (host.runningJobs > 0 ? ask() : finish());
  });
}

async function askAboutJobs(count: number, window: BrowserWindow | null): Promise<"keep" | "cancel" | "stay"> {
  const options = {
    type: "question" as const,
    message: count === 1 ? "A job is still running" : `${count} jobs are still running`,
    detail: "A cancelled job leaves everything as it was before it began.",
    buttons: ["Finish, Then Quit", "Cancel and Quit", "Stay"],
    defaultId: 0,
    cancelId: 2,
  };
  const { response } = await (window ? dialog.showMessageBox(window, options) : dialog.showMessageBox(options));
  return response === 0 ? "keep" : response === 1 ? "cancel" : "stay";
}

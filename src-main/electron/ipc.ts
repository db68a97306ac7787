/** The only file that touches `ipcMain`: one channel for requests, one for events. */
import { ipcMain, type BrowserWindow, type IpcMainInvokeEvent } from "electron";
import type { Host } from "#host/host.ts";

const PAGE = "app://coppice/";

/** Connects the window's page with the host. Events reach the page once it has said hello: before, nobody listens. */
export function connectWindow(host: Host, currentWindow: () => BrowserWindow | null): void {
  let listening: number | null = null;
  ipcMain.handle("coppice:request", async (event, name: unknown, input: unknown) => {
    if (!isOurPage(event, currentWindow())) throw new Error("not from the window of Coppice");
    const result = await host.request(name, input);
    if (name === "app.hello") listening = event.sender.id;
    return result;
  });
  host.onEvent((event) => {
    const window = currentWindow();
    if (window && !window.isDestroyed() && window.webContents.id === listening) window.webContents.send("coppice:event", event);
  });
}

function isOurPage(event: IpcMainInvokeEvent, window: BrowserWindow | null): boolean {
  return (
    event.sender === window?.webContents &&
    event.senderFrame !== null &&
    event.senderFrame.parent === null &&
    event.sender.getURL().startsWith(PAGE)
  );
}

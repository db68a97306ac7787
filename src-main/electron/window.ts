import { join } from "node:path";
import { BrowserWindow, screen } from "electron";
import { PACKAGE_FOLDER } from "#host/program.ts";
import type { Settings } from "#host/settings.ts";
import { PAGE_URL } from "./page-protocol.ts";
import { MINIMUM_SIZE, placeWindow, type Area } from "./window-state.ts";

/** Opens the one window: sandboxed, isolated, and staying on our own page. */
export function openWindow(settings: Settings): BrowserWindow {
  const [first = screen.getPrimaryDisplay(), ...others] = screen.getAllDisplays();
  const areas: [Area, ...Area[]] = [first.workArea, ...others.map((display) => display.workArea)];
  const { maximized, ...bounds } = placeWindow(settings.window, areas);
  const window = new BrowserWindow({
    ...bounds,
    minWidth: MINIMUM_SIZE.width,
    minHeight: MINIMUM_SIZE.height,
    show: false,
    title: "Coppice",
    webPreferences: {
      preload: join(PACKAGE_FOLDER, "out", "preload", "bridge.cjs"),
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: false,
    },
  });
  if (maximized) window.maximize();
  window.once("ready-to-show", () => window.show());
  window.on("close", () => settings.saveWindow({ ...window.getNormalBounds(), maximized: window.isMaximized() }));
  window.webContents.setWindowOpenHandler(() => ({ action: "deny" }));
  window.webContents.on("will-navigate", (event) => event.preventDefault());
  void window.loadURL(PAGE_URL);
  return window;
}

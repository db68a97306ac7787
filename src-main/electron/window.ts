import { join } from "node:path";
import { BrowserWindow, screen } from "electron";
import { PACKAGE_FOLDER } from "#host/program.ts";
import type { Settings } from "#host/settings.ts";
import { PAGE_URL } from "./page-protocol.ts";
import { MINIMUM_SIZE, placeWindow, type Area } from "./window-state.ts";

const SAVE_AFTER_MS = 500;

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
  keepPlace(window, settings);
  window.webContents.setWindowOpenHandler(() => ({ action: "deny" }));
  window.webContents.on("will-navigate", (event) => event.preventDefault());
  void window.loadURL(PAGE_URL);
  return window;
}

/** Saves where the window is when it closes, and shortly after each move: a program that is killed closes nothing. */
function keepPlace(window: BrowserWindow, settings: Settings): void {
  let timer: NodeJS.Timeout | undefined;
  const save = () => {
    clearTimeout(timer);
    if (!window.isDestroyed()) settings.saveWindow({ ...window.getNormalBounds(), maximized: window.isMaximized() });
  };
  const saveLater = () => {
    clearTimeout(timer);
    timer = setTimeout(save, SAVE_AFTER_MS);
  };
  window.on("close", save);
  window.on("resize", saveLater);
  window.on("move", saveLater);
}

/** The desktop app: composition only. What can be tested without Electron lives in the files beside this one. */
import { app, nativeTheme, session, type BrowserWindow } from "electron";
import { configFolder } from "#host/config-folder.ts";
import { Host } from "#host/host.ts";
import { Settings } from "#host/settings.ts";
import { fileArgument } from "./arguments.ts";
import { createDesktopFace } from "./desktop-face.ts";
import { connectWindow } from "./ipc.ts";
import { installMenu } from "./menu.ts";
import { registerPageScheme, servePage } from "./page-protocol.ts";
import { askBeforeQuitting } from "./quit.ts";
import { openWindow } from "./window.ts";

function start(): void {
  const settings = new Settings(configFolder());
  let window: BrowserWindow | null = null;
  const currentWindow = () => window;
  const show = () => {
    window ??= openWindow(settings);
    window.once("closed", () => {
      window = null;
    });
    if (window.isMinimized()) window.restore();
    window.focus();
  };
  const host = new Host(createDesktopFace(currentWindow), settings);
  const openFile = (path: string | null) => {
    if (path === null) return;
    app.addRecentDocument(path);
    host.openFile(path);
  };
  registerPageScheme();
  openFile(fileArgument(process.argv, process.cwd()));
  app.on("second-instance", (_event, argv, workingFolder) => {
    show();
    openFile(fileArgument(argv, workingFolder));
  });
  app.on("open-file", (event, path) => {
    event.preventDefault();
    openFile(path);
  });
  app.on("activate", show);
  app.on("window-all-closed", () => app.quit());
  connectWindow(host, currentWindow);
  askBeforeQuitting(host, currentWindow);
  void app.whenReady().then(() => {
    servePage();
    session.defaultSession.setPermissionRequestHandler((_contents, permission, decide) =>
      decide(permission === "clipboard-sanitized-write"),
    );
    nativeTheme.themeSource = settings.look.theme;
    installMenu((command) => host.sendCommand(command));
    show();
  });
}

if (app.requestSingleInstanceLock()) start();
else app.quit();

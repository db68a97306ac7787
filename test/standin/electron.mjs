// Test-only stand-in for the `electron` module: windows are pages of Debian's headless Chromium over raw CDP.
import { fork, spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { codec } from "./clone.mjs";
import { isolatedWorld, mainWorld } from "./page.mjs";

const { enc, dec } = codec();
const WORLD = "Electron Isolated Context", SUFFIX = "standin.test";
let cdp, chrome, userData, ownUserData = false, appRoot, quitting = false;
const schemes = new Map(), handlers = new Map(), windows = new Map(); let winSeq = 0;
const toHttp = (u) => { const x = new URL(u); const s = x.protocol.slice(0, -1); return schemes.has(s) ? `https://${x.host}.${s}.${SUFFIX}${x.pathname}${x.search}${x.hash}` : x.href; };
const toApp = (u) => { const m = /^https:\/\/(.+)\.([\w-]+)\.standin\.test(\/.*)?$/.exec(u); return m ? `${m[2]}://${m[1]}${m[3] ?? "/"}` : u; };

class Cdp extends EventEmitter {
  #seq = 0; #p = new Map();
  static open(url) { return new Promise((res, rej) => { const c = new Cdp(); c.ws = new WebSocket(url); c.ws.onopen = () => res(c); c.ws.onerror = rej; c.ws.onmessage = (e) => c.#got(JSON.parse(e.data)); c.ws.onclose = () => { for (const p of c.#p.values()) p[1](new Error("cdp closed")); c.emit("closed"); }; }); }
  #got(m) { if (m.id) { const p = this.#p.get(m.id); this.#p.delete(m.id); m.error ? p[1](new Error(m.error.message)) : p[0](m.result); } else this.emit(`${m.sessionId ?? ""}:${m.method}`, m.params); }
  send(method, params = {}, sessionId) { const id = ++this.#seq; return new Promise((res, rej) => { this.#p.set(id, [res, rej]); this.ws.send(JSON.stringify({ id, method, params, sessionId })); }); }
}
class IpcMain extends EventEmitter {
  handlers = new Map();
  handle(ch, f) { if (this.handlers.has(ch)) throw new Error(`Attempted to register a second handler for '${ch}'`); this.handlers.set(ch, f); }
  handleOnce(ch, f) { this.handle(ch, (...a) => { this.handlers.delete(ch); return f(...a); }); }
  removeHandler(ch) { this.handlers.delete(ch); }
}
export const ipcMain = new IpcMain();

class App extends EventEmitter {
  #ready; #set; isPackaged = false; name = "standin"; commandLine = { appendSwitch() {}, hasSwitch: () => false, getSwitchValue: () => "" };
  constructor() { super(); this.#ready = new Promise((r) => { this.#set = r; }); }
  _markReady() { this._isReady = true; this.#set(); this.emit("ready"); }
  whenReady() { return this.#ready; } isReady() { return !!this._isReady; }
  // One instance a user data folder, as in Electron: a second one leaves its arguments there for the first, and gets false.
  requestSingleInstanceLock() {
    const lock = join(userData, "standin.lock");
    try { writeFileSync(lock, String(process.pid), { flag: "wx" }); } catch {
      const holder = Number(readFileSync(lock, "utf8")); let alive = true; try { process.kill(holder, 0); } catch { alive = false; }
      if (alive) { const note = join(userData, `second-${process.pid}`); writeFileSync(`${note}.new`, JSON.stringify({ argv: process.argv, folder: process.cwd() })); renameSync(`${note}.new`, `${note}.json`); return false; }
      writeFileSync(lock, String(process.pid));
    }
    const look = () => { for (const name of readdirSync(userData).filter((n) => /^second-\d+\.json$/.test(n))) { const file = join(userData, name), { argv, folder } = JSON.parse(readFileSync(file, "utf8")); rmSync(file); void this.whenReady().then(() => this.emit("second-instance", {}, argv, folder)); } };
    this.lockWatch = watch(userData, look).unref(); look(); process.on("exit", () => rmSync(lock, { force: true })); return true;
  }
  releaseSingleInstanceLock() { rmSync(join(userData, "standin.lock"), { force: true }); }
  addRecentDocument(p) { log.push({ name: "addRecentDocument", args: [p] }); } clearRecentDocuments() {}
  getAppPath() { return appRoot; } getVersion() { return JSON.parse(readFileSync(join(appRoot, "package.json"), "utf8")).version; }
  getName() { return this.name; } setName(n) { this.name = n; } setAppUserModelId() {} getLocale() { return "en-US"; } setPath(n, p) { (this.paths ??= {})[n] = p; }
  getPath(n) { return this.paths?.[n] ?? (n === "userData" ? userData : n === "temp" ? tmpdir() : join(userData, n)); }
  quit() {
    if (quitting) return; let stop = false; const ev = { preventDefault: () => { stop = true; } };
    this.emit("before-quit", ev); if (stop) return;
    for (const w of windows.values()) if (!w._confirmClose()) return;
    quitting = true; for (const w of [...windows.values()]) w.destroy();
    this.emit("will-quit", ev); if (stop) { quitting = false; return; }
    this.emit("quit", {}, 0); this.exit(0);
  }
  exit(code = 0) { quitting = true; void cdp?.send("Browser.close").catch(() => {}); setTimeout(() => { chrome?.kill("SIGKILL"); rmSync(ownUserData ? userData : chromiumFolder(), { recursive: true, force: true }); process.exit(code); }, 150); }
}
export const app = new App();

class WebContents extends EventEmitter {
  id = ++winSeq; mainFrame = { parent: null }; session; #open = () => ({ action: "allow" }); #allowed = null; #ctx = null; #queue = [];
  constructor(win, opts) { super(); this.win = win; this.opts = opts; this.session = session.defaultSession; this.ready = this.#init(); this.ready.catch((e) => { if (!quitting) console.error("stand-in window:", e); }); }
  async #init() {
    await app.whenReady();
    const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank", newWindow: true, width: this.opts.width ?? 800, height: this.opts.height ?? 600 });
    this.targetId = targetId;
    this.sid = (await cdp.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    const secret = `__standin${Math.random().toString(36).slice(2)}`; this.secret = secret;
    const on = (ev, f) => cdp.on(`${this.sid}:${ev}`, f), s = (m, p) => cdp.send(m, p, this.sid);
    on("Runtime.executionContextCreated", ({ context: c }) => { if (c.name === WORLD && c.auxData.frameId === targetId) { this.#ctx = c.id; for (const t of this.#queue.splice(0)) this.#eval(t); } });
    on("Runtime.executionContextDestroyed", ({ executionContextId }) => { if (executionContextId === this.#ctx) this.#ctx = null; });
    on("Runtime.bindingCalled", (e) => { if (e.name === secret) void this.#message(dec(e.payload)); });
    on("Fetch.requestPaused", (e) => void this.#fetch(e));
    on("Page.domContentEventFired", () => { this.emit("dom-ready"); this.win.emit("ready-to-show"); });
    on("Page.loadEventFired", () => this.emit("did-finish-load"));
    on("Inspector.targetCrashed", () => this.emit("render-process-gone", {}, { reason: "crashed", exitCode: 1 }));
    on("Page.windowOpen", ({ url }) => { const d = this.#open({ url: toApp(url), frameName: "", disposition: "foreground-tab" }); if (d.action === "deny") denied.add(url); });
    await Promise.all([s("Page.enable"), s("Runtime.enable"), s("Fetch.enable", { patterns: [{ urlPattern: `*://*.${SUFFIX}/*` }, { urlPattern: "*", resourceType: "Document" }] })]);
    await s("Emulation.setDeviceMetricsOverride", { width: this.opts.width ?? 800, height: this.opts.height ?? 600, deviceScaleFactor: 1, mobile: false });
    await s("Runtime.addBinding", { name: secret, executionContextName: WORLD });
    await s("Page.addScriptToEvaluateOnNewDocument", { source: `(${mainWorld})(${JSON.stringify(secret)})` });
    const pre = this.opts.webPreferences?.preload;
    if (pre) await s("Page.addScriptToEvaluateOnNewDocument", { worldName: WORLD, source: `(${isolatedWorld})(${JSON.stringify(secret)}, ${codec}, function (require, module, exports, process) {${readFileSync(pre, "utf8")}\n}, ${JSON.stringify(accelerators())})` });
  }
  #eval(text) { cdp.send("Runtime.evaluate", { contextId: this.#ctx, expression: `globalThis[${JSON.stringify(this.secret + "recv")}](${JSON.stringify(text)})` }, this.sid).catch(() => {}); }
  #post(m) { const t = enc(m); if (this.#ctx) this.#eval(t); else this.#queue.push(t); }
  async #message(m) {
    const ev = { sender: this, senderFrame: this.mainFrame, frameId: 1, processId: 1 };
    if (m.k === "accel") { clickAccelerator(m.accel); return; }
    if (m.k === "send") { ipcMain.emit(m.ch, { ...ev, reply: (ch, ...a) => this.send(ch, ...a) }, ...m.args); return; }
    try {
      const h = ipcMain.handlers.get(m.ch); if (!h) throw new Error(`No handler registered for '${m.ch}'`);
      this.#post({ k: "reply", id: m.id, ch: m.ch, ok: true, v: await h(ev, ...m.args) });
    } catch (e) { this.#post({ k: "reply", id: m.id, ch: m.ch, ok: false, error: String(e) }); }
  }
  async #fetch(e) {
    const done = (m, p) => cdp.send(`Fetch.${m}`, { requestId: e.requestId, ...p }, this.sid).catch(() => {});
    const url = toApp(e.request.url), scheme = url.split(":")[0];
    if (e.resourceType === "Document" && e.frameId === this.targetId && e.request.url.split("#")[0] !== this.#allowed) {
      let stop = false; this.emit("will-navigate", { url, preventDefault: () => { stop = true; } }, url);
      if (stop) return done("failRequest", { errorReason: "Aborted" });
    }
    const h = handlers.get(scheme); if (!h) return done("continueRequest", {});
    const r = await h(new Request(url, { method: e.request.method, headers: e.request.headers, body: e.request.postData }));
    return done("fulfillRequest", { responseCode: r.status, responseHeaders: [...r.headers].map(([name, value]) => ({ name, value })), body: Buffer.from(await r.arrayBuffer()).toString("base64") });
  }
  send(ch, ...args) { this.#post({ k: "event", ch, args }); }
  setWindowOpenHandler(f) { this.#open = f; }
  async loadURL(u) { await this.ready; this.#allowed = toHttp(u).split("#")[0]; const r = await cdp.send("Page.navigate", { url: toHttp(u) }, this.sid); if (r.errorText) throw new Error(`${r.errorText} loading '${u}'`); this.url = u; }
  getURL() { return this.url ?? ""; } isDestroyed() { return this.win.isDestroyed(); } openDevTools() {} closeDevTools() {} toggleDevTools() {} reload() { void cdp.send("Page.reload", {}, this.sid); }
  close() { this.win.close(); } setZoomFactor() {} getZoomFactor() { return 1; } focus() {}
  async executeJavaScript(expression) { await this.ready; return (await cdp.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, this.sid)).result.value; }
}
const denied = new Set();
export class BrowserWindow extends EventEmitter {
  #closed = false; #b;
  constructor(o = {}) { super(); this.#b = { x: o.x ?? 0, y: o.y ?? 0, width: o.width ?? 800, height: o.height ?? 600 }; this.title = o.title ?? ""; this.webContents = new WebContents(this, o); this.id = this.webContents.id; windows.set(this.id, this); queueMicrotask(() => app.emit("browser-window-created", {}, this)); }
  static getAllWindows() { return [...windows.values()]; } static getFocusedWindow() { return [...windows.values()].at(-1) ?? null; }
  static fromWebContents(wc) { return wc?.win ?? null; } static fromId(i) { return windows.get(i) ?? null; }
  loadURL(u) { return this.webContents.loadURL(u); } loadFile(f) { return this.loadURL(`file://${resolve(appRoot, f)}`); }
  show() { this.visible = true; this.emit("show"); } hide() { this.visible = false; this.emit("hide"); } focus() { this.emit("focus"); } isVisible() { return !!this.visible; } isDestroyed() { return this.#closed; }
  getBounds() { return { ...this.#b }; } getNormalBounds() { return { ...this.#b }; } getSize() { return [this.#b.width, this.#b.height]; } setSize(width, height) { this.setBounds({ width, height }); }
  setBounds(b) { Object.assign(this.#b, b); void this.webContents.ready.then(() => cdp.send("Emulation.setDeviceMetricsOverride", { width: this.#b.width, height: this.#b.height, deviceScaleFactor: 1, mobile: false }, this.webContents.sid)); this.emit("resize"); }
  setTitle(t) { this.title = t; } getTitle() { return this.title; } isMaximized() { return !!this.max; } maximize() { this.max = true; this.emit("maximize"); } unmaximize() { this.max = false; this.emit("unmaximize"); } minimize() { this.min = true; this.emit("minimize"); } isMinimized() { return !!this.min; } restore() { this.min = false; this.emit("restore"); } setMenu() {} setMenuBarVisibility() {} isFocused() { return true; } isFullScreen() { return false; } setFullScreen() {}
  _confirmClose() { let stop = false; this.emit("close", { preventDefault: () => { stop = true; } }); return !stop; }
  close() { if (!this.#closed && this._confirmClose()) this.destroy(); }
  destroy() { if (this.#closed) return; this.#closed = true; windows.delete(this.id); const t = this.webContents.targetId; if (t) void cdp.send("Target.closeTarget", { targetId: t }).catch(() => {}); this.emit("closed"); if (windows.size === 0 && !quitting) { if (app.listenerCount("window-all-closed")) app.emit("window-all-closed"); else app.quit(); } }
}
export const webContents = { getAllWebContents: () => [...windows.values()].map((w) => w.webContents), fromId: (i) => windows.get(i)?.webContents, fromDevToolsTargetId: (t) => [...windows.values()].find((w) => w.webContents.targetId === t)?.webContents };

export class MenuItem { constructor(o) { Object.assign(this, { enabled: true, visible: true, checked: false, label: o.role ?? "" }, o); this.submenu = o.submenu ? Menu.buildFromTemplate(o.submenu) : undefined; const f = o.click; this.click = (...a) => { if (this.enabled) f?.(this, BrowserWindow.getFocusedWindow() ?? undefined, ...a); }; } }
export class Menu { static #app = null; items = []; static lastPopup = null;
  static buildFromTemplate(t) { const m = new Menu(); m.items = t.map((x) => new MenuItem(x)); return m; }
  static setApplicationMenu(m) { Menu.#app = m; } static getApplicationMenu() { return Menu.#app; }
  append(i) { this.items.push(i); } popup(o) { Menu.lastPopup = this; o?.callback?.(); } closePopup() {}
  getMenuItemById(id) { for (const i of this.items) { const f = i.id === id ? i : i.submenu?.getMenuItemById(id); if (f) return f; } return null; } }
const walk = (m) => (m?.items ?? []).flatMap((i) => [i, ...walk(i.submenu)]);
const norm = (a) => a.replace(/CommandOrControl|Ctrl|Control|Command|Cmd(?!Or)/g, "CmdOrCtrl").replace("CmdOrCmdOrCtrl", "CmdOrCtrl");
const isRegistered = (i) => i.accelerator && i.registerAccelerator !== false;
const accelerators = () => walk(Menu.getApplicationMenu()).filter(isRegistered).map((i) => norm(i.accelerator));
const clickAccelerator = (a) => walk(Menu.getApplicationMenu()).find((i) => isRegistered(i) && norm(i.accelerator) === a)?.click();

const log = []; const rec = (name, v) => (...args) => { log.push({ name, args: args.filter((a) => !(a instanceof EventEmitter)) }); return Promise.resolve(v); };
export const standin = { log };
export const dialog = { showOpenDialog: rec("showOpenDialog", { canceled: true, filePaths: [] }), showSaveDialog: rec("showSaveDialog", { canceled: true }), showMessageBox: rec("showMessageBox", { response: 0, checkboxChecked: false }), showErrorBox: rec("showErrorBox") };
export const shell = { openExternal: rec("openExternal"), openPath: rec("openPath", ""), showItemInFolder: rec("showItemInFolder"), trashItem: rec("trashItem") };
let clip = ""; export const clipboard = { writeText: (t) => { clip = t; }, readText: () => clip, clear: () => { clip = ""; } };
export const safeStorage = { isEncryptionAvailable: () => true, encryptString: (s) => Buffer.from(`standin:${s}`), decryptString: (b) => { const s = b.toString(); if (!s.startsWith("standin:")) throw new Error("Error while decrypting the ciphertext"); return s.slice(8); } };
export const nativeTheme = new (class extends EventEmitter { _s = "system"; shouldUseDarkColors = false; get themeSource() { return this._s; } set themeSource(v) { this._s = v; this.shouldUseDarkColors = v === "dark"; for (const w of windows.values()) void w.webContents.ready.then(() => cdp.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: v === "dark" ? "dark" : "light" }] }, w.webContents.sid)); this.emit("updated"); } })();
export const screen = { getPrimaryDisplay: () => ({ workArea: { x: 0, y: 0, width: 1920, height: 1080 }, workAreaSize: { width: 1920, height: 1080 }, scaleFactor: 1 }), getAllDisplays: () => [screen.getPrimaryDisplay()], getDisplayMatching: () => screen.getPrimaryDisplay() };
export const powerMonitor = new EventEmitter(), globalShortcut = { register: () => true, unregisterAll() {} }, autoUpdater = new EventEmitter();
export const session = { defaultSession: { setPermissionRequestHandler() {}, setPermissionCheckHandler() {}, webRequest: { onHeadersReceived() {}, onBeforeRequest() {} }, protocol: null, on() {} }, fromPartition: () => session.defaultSession };
export const protocol = { registerSchemesAsPrivileged: (l) => { if (app.isReady()) throw new Error("protocol.registerSchemesAsPrivileged should be called before app is ready"); for (const x of l) schemes.set(x.scheme, x.privileges); }, handle: (s, f) => { if (handlers.has(s)) throw new Error("already handled"); handlers.set(s, f); }, unhandle: (s) => handlers.delete(s), isProtocolHandled: (s) => handlers.has(s) };
session.defaultSession.protocol = protocol;
export const net = { fetch: async (u, o) => (String(u).startsWith("file:") ? new Response(await readFile(fileURLToPath(String(u)))) : fetch(u, o)) };
export class Notification extends EventEmitter { static isSupported() { return true; } show() { log.push({ name: "Notification", args: [] }); this.emit("show"); } }
export const utilityProcess = { fork(file, args = [], opts = {}) {
  const c = fork(fileURLToPath(new URL("./utility.mjs", import.meta.url)), [file, ...args], { serialization: "advanced", stdio: opts.stdio ?? "inherit", env: opts.env ?? process.env, execArgv: opts.execArgv ?? [] });
  const u = Object.assign(new EventEmitter(), { pid: c.pid, postMessage: (m) => c.send(m), kill: () => c.kill(), stdout: c.stdout, stderr: c.stderr });
  c.on("message", (m) => u.emit("message", m)); c.on("spawn", () => u.emit("spawn")); c.on("exit", (code, sig) => u.emit("exit", code ?? (sig ? 1 : 0))); return u; } };
export default { app, BrowserWindow, ipcMain, dialog, shell, Menu, MenuItem, nativeTheme, protocol, session, clipboard, safeStorage, screen, net, utilityProcess, webContents, Notification, standin };

const chromiumFolder = () => join(userData, `chromium-${process.pid}`);
export function boot({ args }) {
  const e = args.find((a) => !a.startsWith("-")) ?? "."; appRoot = resolve(e.endsWith(".js") ? "." : e);
  userData = args.find((a) => a.startsWith("--user-data-dir="))?.slice(16); if (!userData) { userData = mkdtempSync(join(tmpdir(), "standin-")); ownUserData = true; } mkdirSync(userData, { recursive: true });
  chrome = spawn(process.env.STANDIN_CHROMIUM ?? "/usr/bin/chromium", ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-popup-blocking", "--disable-dev-shm-usage", "--force-color-profile=srgb", "--no-startup-window", "--remote-debugging-port=0", "--remote-debugging-pipe", `--user-data-dir=${chromiumFolder()}`], { stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"] });
  let text = ""; let go; const gate = new Promise((r) => { go = r; });
  globalThis.__playwright_run = () => go(); // Playwright's electron.launch calls this once it is attached
  if (!args.includes("--remote-debugging-port=0")) go();
  chrome.stderr.on("data", async (d) => {
    if (cdp || text === null) return; text += d; const m = /^DevTools listening on (ws:\/\/\S+)/m.exec(text); if (!m) return; text = null;
    process.stderr.write(`${m[0]}\n`); cdp = await Cdp.open(m[1]);
    await cdp.send("Target.setDiscoverTargets", { discover: true });
    cdp.on(":Target.targetInfoChanged", ({ targetInfo: t }) => { if (t.openerId && denied.has(t.url)) { denied.delete(t.url); void cdp.send("Target.closeTarget", { targetId: t.targetId }).catch(() => {}); } });
    cdp.on(":Target.targetDestroyed", ({ targetId }) => webContents.fromDevToolsTargetId(targetId)?.win.destroy());
    await gate; app._markReady();
  });
  chrome.on("exit", () => { if (!quitting) { console.error("stand-in: Chromium exited"); app.exit(1); } });
  for (const s of ["SIGTERM", "SIGINT"]) process.on(s, () => app.quit());
  process.on("exit", () => chrome.kill("SIGKILL"));
}

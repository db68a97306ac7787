/**
 * One spec, three faces: the web host in Chromium, the desktop app on the stand-in for Electron (`test/standin`), and on
 * Electron itself where its binary is there. Each test gets an app of its own with an empty config folder.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { findElectronBinary } from "../../build/electron-binary.ts";
import { test as base, _electron, type ElectronApplication, type Page } from "@playwright/test";

export { expect } from "@playwright/test";
export const CHROMIUM = process.env["COPPICE_CHROMIUM"] ?? "/usr/bin/chromium";
const ROOT = resolve(import.meta.dirname, "../..");
const SHOTS = join(ROOT, "out", "shots");

export interface E2eOptions {
  face: "web" | "standin" | "electron";
}

/** A started Coppice. */
export interface App {
  readonly page: Page;
  /** Null on the web host. */
  readonly electron: ElectronApplication | null;
  /** Ends the program as a user would (SIGTERM, Quit) and waits; returns its exit code, null when unknown. */
  quit(): Promise<number | null>;
  /** Ends the program as a power cut would; the window goes with it. */
  kill(): Promise<void>;
}

interface Fixtures {
  /** Temporary, gone after the test. */
  folder: string;
  /** Starts Coppice; a second call in one test starts it again with the same config folder. */
  startApp: (args?: readonly string[]) => Promise<App>;
  /** A Coppice that was just opened for the first time. */
  app: App;
  page: Page;
  /** Keeps a picture under out/shots/<face>/. */
  shoot: (name: string) => Promise<void>;
}

export const test = base.extend<Fixtures, E2eOptions>({
  face: ["web", { option: true, scope: "worker" }],
  folder: async ({ browserName: _browser }, use) => {
    const folder = mkdtempSync(join(tmpdir(), "coppice-e2e-"));
    await use(folder);
    rmSync(folder, { recursive: true, force: true });
  },
  startApp: async ({ face, folder, playwright, viewport, launchOptions }, use) => {
    test.skip(face === "electron" && findElectronBinary() === null, "Electron's binary is not there");
    const ends: (() => Promise<unknown>)[] = [];
    await use(async (args = []) => {
      const env = { ...process.env, COPPICE_CONFIG_DIR: join(folder, "config"), COPPICE_ACTOR: "e2e" } as Record<string, string>;
      if (face === "web") {
        const host = await startWebHost(env, args);
        const browser = await playwright.chromium.launch(launchOptions);
        const page = await browser.newPage({ viewport });
        await page.goto(host.link);
        const quit = async () => {
          const code = await endProcess(host.process);
          await browser.close();
          return code;
        };
        const kill = async () => {
          await killProcess(host.process);
          await browser.close();
        };
        ends.push(quit);
        return { page, electron: null, quit, kill };
      }
      const executablePath = face === "standin" ? join(ROOT, "test/standin/electron") : (findElectronBinary() ?? "");
      const electron = await _electron.launch({ executablePath, args: [ROOT, ...args], env, acceptDownloads: true });
      const page = await electron.firstWindow();
      const quit = async () => {
        const program = electron.process();
        await electron.close();
        return program.exitCode;
      };
      let killed = false;
      const kill = async () => {
        killed = true;
        await killProcess(electron.process());
      };
      ends.push(() => (killed ? Promise.resolve(null) : quit().catch(() => null)));
      return { page, electron, quit, kill };
    });
    for (const end of ends) await end();
  },
  app: async ({ startApp }, use) => use(await startApp()),
  page: async ({ app }, use) => use(app.page),
  shoot: async ({ face, page }, use) => {
    await use(async (name) => {
      mkdirSync(join(SHOTS, face), { recursive: true });
      await page.screenshot({ path: join(SHOTS, face, `${name}.png`) });
    });
  },
});

async function startWebHost(env: Record<string, string>, args: readonly string[]): Promise<{ link: string; process: ChildProcess }> {
  const program = spawn(process.execPath, [join(ROOT, "out/main/web.js"), ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
  const link = await new Promise<string>((settle, fail) => {
    program.stdout.on("data", (chunk: Buffer) => {
      const found = /http:\S+/.exec(chunk.toString());
      if (found) settle(found[0]);
    });
    program.once("exit", (code) => fail(new Error(`the web host ended with code ${code} before it printed its link`)));
  });
  return { link, process: program };
}

async function endProcess(program: ChildProcess): Promise<number | null> {
  if (program.exitCode !== null || program.signalCode !== null) return program.exitCode;
  const ended = new Promise<number | null>((settle) => program.once("exit", (code) => settle(code)));
  program.kill("SIGTERM");
  return await ended;
}

async function killProcess(program: ChildProcess): Promise<void> {
  const ended = new Promise<void>((settle) => program.once("exit", () => settle()));
  program.kill("SIGKILL");
  await ended;
}

/** Makes a store with the library, in a process of its own. `script` is the body of an async function of `store`. */
export async function makeStore(path: string, script: string): Promise<void> {
  await useLibrary("createStore", path, script);
}

/** The same with a store that exists: what another program does while the app has it open. */
export async function useStore(path: string, script: string): Promise<void> {
  await useLibrary("openStore", path, script);
}

/** What the library says about a store that the app has open: `expression` of `store`, as JSON carries it. */
export async function askStore<T>(path: string, expression: string): Promise<T> {
  return JSON.parse(await useLibrary("openStore", path, `console.log(JSON.stringify(await ${expression}));`)) as T;
}

/** Answers what the script printed. */
async function useLibrary(open: "createStore" | "openStore", path: string, script: string): Promise<string> {
  const code = `import { ${open} } from ${JSON.stringify(join(ROOT, "out/main/lib.js"))};
const store = await ${open}(${JSON.stringify(path)}, { actor: "e2e" });
${script}
await store.close();`;
  const program = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  program.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const exit = await new Promise<number | null>((settle) => program.once("close", settle));
  if (exit !== 0) throw new Error(`${open} of ${path} and its script ended with code ${exit}`);
  return output;
}

/** Puts a store on the list of recent ones, before the app starts. */
export function listAsRecent(folder: string, store: string): void {
  mkdirSync(join(folder, "config"), { recursive: true });
  writeFileSync(
    join(folder, "config", "settings.json"),
    JSON.stringify({ recent: [{ path: store, openedAt: Date.now(), databases: null, branches: null }] }),
  );
}

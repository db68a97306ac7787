/**
 * The contract, implemented for one user: validation first, then the requests about the program itself here, everything
 * else in the engine worker. The desktop app and the web host differ in the `Face` that they give it.
 */
import { homedir } from "node:os";
import { CONTRACT_VERSION } from "#shared/contract-version.ts";
import type { HostEvent, RequestInput, RequestName, RequestOutput } from "#shared/contract.ts";
import type { Result } from "#shared/result.ts";
import type { StoreView } from "#shared/views.ts";
import { toErrorView } from "#engine/io/errors.ts";
import type { EngineRequestName } from "./engine-protocol.ts";
import { EngineClient } from "./engine-client.ts";
import { programName } from "./program.ts";
import type { Settings, Theme } from "./settings.ts";
import { parseRequest } from "#engine/parse-request.ts";

/** What only the program around the host can do. */
export interface Face {
  readonly kind: "electron" | "web";
  /** Null when the user changed their mind. */
  chooseFile(title: string): Promise<string | null>;
  chooseFolder(title: string): Promise<string | null>;
  chooseSaveFile(title: string, suggested: string): Promise<string | null>;
  reveal(path: string): Promise<void>;
  themeChanged(theme: Theme): void;
}

type AppRequestName = Extract<RequestName, `app.${string}`>;
type AppHandlers = { readonly [K in AppRequestName]: (input: RequestInput<K>) => Promise<RequestOutput<K>> };

export class Host {
  readonly #face: Face;
  readonly #settings: Settings;
  readonly #engine: EngineClient;
  readonly #listeners = new Set<(event: HostEvent) => void>();
  /** A file given from outside before the screens were there. */
  #startWith: string | null = null;
  #greeted = false;

  constructor(face: Face, settings: Settings, workerFile?: string) {
    this.#face = face;
    this.#settings = settings;
    this.#engine = new EngineClient((event) => this.#emit(event), workerFile);
  }

  /** Answers any request from outside, however wrong; never rejects. */
  async request(name: unknown, input: unknown): Promise<Result<unknown>> {
    try {
      const request = parseRequest(name, input);
      if (isAppRequest(request.name)) {
        const handler = this.#app[request.name] as (input: unknown) => Promise<unknown>;
        return { ok: true, result: await handler(request.input) };
      }
      return await this.#ask(request.name as EngineRequestName, request.input);
    } catch (error) {
      return { ok: false, error: toErrorView(error) };
    }
  }

  onEvent(listener: (event: HostEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A command of the application menu. */
  sendCommand(command: string): void {
    this.#emit({ type: "command", command });
  }

  /** A file opened with the app: kept until the screens have said hello. */
  openFile(path: string): void {
    if (this.#greeted) this.#emit({ type: "open-file", path });
    else this.#startWith = path;
  }

  get runningJobs(): number {
    return this.#engine.runningJobs().length;
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  async #ask(name: EngineRequestName, input: unknown): Promise<Result<unknown>> {
    const answer = await this.#engine.request(name, input);
    // The demo is offered on the first screen anyway.
    if (answer.ok && (name === "store.open" || name === "store.create")) this.#settings.rememberStore(answer.result as StoreView);
    return answer;
  }

  async #currentStore(): Promise<StoreView | null> {
    if (this.#engine.storePath === null) return null;
    const answer = await this.#engine.request("store.status", {});
    return answer.ok ? (answer.result as StoreView) : null;
  }

  #emit(event: HostEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  readonly #app: AppHandlers = {
    "app.hello": async () => {
      const startWith = this.#startWith;
      this.#startWith = null;
      this.#greeted = true;
      return {
        contractVersion: CONTRACT_VERSION,
        program: programName(),
        platform: process.platform,
        host: this.#face.kind,
        home: homedir(),
        recent: this.#settings.recent(),
        store: await this.#currentStore(),
        startWith,
      };
    },
    "app.chooseFile": ({ title }) => this.#face.chooseFile(title),
    "app.chooseFolder": ({ title }) => this.#face.chooseFolder(title),
    "app.chooseSaveFile": ({ title, suggested }) => this.#face.chooseSaveFile(title, suggested),
    "app.reveal": async ({ path }) => {
      await this.#face.reveal(path);
      return null;
    },
    "app.settings": async () => this.#settings.look,
    "app.saveSettings": async (look) => {
      this.#settings.saveLook(look);
      this.#face.themeChanged(look.theme);
      return null;
    },
    "app.forgetRecent": async ({ path }) => {
      this.#settings.forgetStore(path);
      return this.#settings.recent();
    },
  };
}

function isAppRequest(name: RequestName): name is AppRequestName {
  return name.startsWith("app.");
}

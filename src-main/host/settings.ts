/**
 * The user's settings: one JSON file in the config folder. Reads are tolerant field by field, so that an older or newer
 * Coppice, or a hand, cannot lock anybody out; a file that is no JSON at all is set aside, not overwritten. Writes are
 * atomic; of two programs that write at once, the later one wins.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import type { RecentStore, StoreView } from "#shared/views.ts";
import { EngineError } from "#engine/io/errors.ts";

const RECENT_MAX = 12;

const recentSchema = v.object({
  path: v.string(),
  openedAt: v.number(),
  databases: v.fallback(v.nullable(v.number()), null),
  branches: v.fallback(v.nullable(v.number()), null),
});
const windowSchema = v.object({ x: v.number(), y: v.number(), width: v.number(), height: v.number(), maximized: v.boolean() });
const settingsSchema = v.object({
  theme: v.fallback(v.picklist(["system", "light", "dark"]), "system"),
  layout: v.fallback(v.string(), ""),
  recent: v.fallback(v.array(v.fallback(v.nullable(recentSchema), null)), []),
  window: v.fallback(v.nullable(windowSchema), null),
});

export type WindowState = v.InferOutput<typeof windowSchema>;
export type Theme = "system" | "light" | "dark";
type Stored = v.InferOutput<typeof settingsSchema>;

export class Settings {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get look(): { theme: Theme; layout: string } {
    const { theme, layout } = this.#read();
    return { theme, layout };
  }

  saveLook(look: { readonly theme: Theme; readonly layout: string }): void {
    this.#write({ ...this.#read(), ...look });
  }

  get window(): WindowState | null {
    return this.#read().window;
  }

  saveWindow(window: WindowState): void {
    this.#write({ ...this.#read(), window });
  }

  /** Last opened first. `exists` is looked up anew each time. */
  recent(): RecentStore[] {
    return recentOf(this.#read()).map((entry) => Object.assign({}, entry, { exists: existsSync(join(entry.path, "catalog.db")) }));
  }

  rememberStore(store: StoreView): void {
    const stored = this.#read();
    const entry = { path: store.path, openedAt: Date.now(), databases: store.databases, branches: store.branches };
    this.#write({ ...stored, recent: [entry, ...recentOf(stored).filter((other) => other.path !== store.path)].slice(0, RECENT_MAX) });
  }

  forgetStore(path: string): void {
    const stored = this.#read();
    this.#write({ ...stored, recent: recentOf(stored).filter((entry) => entry.path !== path) });
  }

  get #file(): string {
    return join(this.#folder, "settings.json");
  }

  #read(): Stored {
    const value = existsSync(this.#file) ? parseJson(readFileSync(this.#file, "utf8")) : {};
    const parsed = v.safeParse(settingsSchema, value);
    if (parsed.success) return parsed.output;
    renameSync(this.#file, `${this.#file}.unreadable`);
    return v.parse(settingsSchema, {});
  }

  #write(stored: Stored): void {
    const unfinished = `${this.#file}.${process.pid}.new`;
    try {
      mkdirSync(this.#folder, { recursive: true });
      const file = openSync(unfinished, "w", 0o600);
      try {
        writeSync(file, JSON.stringify(stored, null, 2));
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(unfinished, this.#file);
    } catch (error) {
      throw new EngineError("io-failed", `Settings could not be written to ${this.#file}`, {
        cause: error,
        untouched: "The settings on disk are as they were.",
        details: { path: this.#file },
      });
    }
  }
}

function recentOf(stored: Stored): v.InferOutput<typeof recentSchema>[] {
  return stored.recent.filter((entry) => entry !== null);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

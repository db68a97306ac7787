/** The only place that loads the addon. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { EngineError } from "./errors.ts";
import { createFallback } from "./native-fallback.ts";
import type { Native } from "./native.ts";
import { toEngineError } from "./os-error.ts";

const nodeRequire = createRequire(import.meta.url);
const ADDON = join("native", "build", "Release", "coppice_native.node");
/** Raised with every change of what the addon exports, in native/src/addon.cc too: an old build is not used. */
const ADDON_VERSION = 2;
/** Sources and bundles stand two or three folders below the project. */
const FOLDERS_UP_MAX = 4;

/** What native/src/addon.cc exports. */
interface Addon {
  readonly version: number;
  readonly hasRangeLocks: boolean;
  readonly threads: number;
  readonly kernel: string;
  hashPages(pages: Uint8Array, pageSize: number): Uint8Array;
  foldHashes(hashes: Uint8Array, firstPageNumber: number): Uint8Array;
  cloneFile(fromFile: number, toFile: number): boolean;
  lockRange(file: number, start: number, length: number, exclusive: boolean): boolean;
  unlockRange(file: number, start: number, length: number): void;
  isSoleOpener(file: number): boolean;
  willRead(file: number, start: number, length: number): void;
}

let loaded: Native | null = null;

/** Once a thread. `COPPICE_NATIVE=off` asks for the slower paths. Never throws. */
export function loadNative(): Native {
  loaded ??= load();
  return loaded;
}

function load(): Native {
  const addon = process.env["COPPICE_NATIVE"] === "off" ? "switched off by COPPICE_NATIVE" : loadAddon();
  return typeof addon === "string" ? createFallback(addon) : wrapAddon(addon);
}

/** The addon, or why there is none. */
function loadAddon(): Addon | string {
  const path = findAddon();
  if (path === null) return "not built; `npm run native` builds it";
  try {
    const addon = nodeRequire(path) as Addon;
    return addon.version === ADDON_VERSION ? addon : "built from other sources; `npm run native` builds it anew";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function findAddon(): string | null {
  let folder = import.meta.dirname;
  for (let up = 0; up < FOLDERS_UP_MAX; up += 1) {
    const path = join(folder, ADDON);
    if (existsSync(path)) return path;
    folder = dirname(folder);
  }
  return null;
}

function wrapAddon(addon: Addon): Native {
  const locks = addon.hasRangeLocks;
  return {
    kind: "addon",
    problem: null,
    hasRangeLocks: locks,
    facilities: () => [
      { name: "page hash", using: `addon, ${addon.kernel}, ${addon.threads === 1 ? "1 thread" : `${addon.threads} threads`}` },
      { name: "file clone", using: locks ? "reflink where the filesystem can, else copy" : "copy" },
      { name: "process locks", using: locks ? "open-file-description locks" : "SQLite locks" },
      { name: "read-ahead", using: locks ? "posix_fadvise" : "none" },
    ],
    hashPages: addon.hashPages,
    foldHashes: addon.foldHashes,
    cloneFile: (fromFile, toFile) => attempt("clone into", toFile, () => addon.cloneFile(fromFile, toFile)),
    lockRange: (file, start, length, mode) => {
      if (!locks) throw new EngineError("unsupported", "This system has no open-file-description locks");
      return attempt("lock", file, () => addon.lockRange(file, start, length, mode === "exclusive"));
    },
    unlockRange: (file, start, length) => attempt("unlock", file, () => addon.unlockRange(file, start, length)),
    isSoleOpener: addon.isSoleOpener,
    willRead: addon.willRead,
  };
}

function attempt<T>(operation: string, file: number, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw toEngineError(operation, `file ${file}`, error);
  }
}

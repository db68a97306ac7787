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
const ADDON_VERSION = 5;
/** Sources and bundles stand two or three folders below the project. */
const FOLDERS_UP_MAX = 4;

/** What native/src/addon.cc exports. */
interface Addon {
  readonly version: number;
  readonly hasRangeLocks: boolean;
  readonly hasExtents: boolean;
  readonly hasFileAdvice: boolean;
  /** The system call that clones files; empty where there is none. */
  readonly cloneCall: string;
  readonly threads: number;
  readonly kernel: string;
  readonly hasDecoder: boolean;
  readonly hasEncoder: boolean;
  decodeFrames(
    stored: Uint8Array,
    frameBytes: Uint32Array,
    frameRawBytes: number,
    pageSize: number,
    pages: Uint8Array,
    hashes: Uint8Array,
  ): Promise<boolean>;
  encodeFrame(pages: Uint8Array, dictionary: Uint8Array, level: number): Promise<Uint8Array | null>;
  hashPages(pages: Uint8Array, pageSize: number): Uint8Array;
  foldHashes(hashes: Uint8Array, firstPageNumber: number): Uint8Array;
  hashFilePages(file: number, firstPageNumber: number, count: number, pageSize: number): Uint8Array;
  differingPages(file: number, firstPageNumber: number, count: number, pageSize: number, expectedLow: Uint8Array): Uint32Array;
  compareFilePages(file: number, otherFile: number, firstPageNumber: number, count: number, pageSize: number): Uint32Array;
  cloneFile(fromFile: number, toFile: number): boolean;
  cloneToPath(fromFile: number, path: string): boolean;
  cloneRange(fromFile: number, fromStart: number, toFile: number, toStart: number, length: number): boolean;
  extents(file: number, start: number, length: number, sync: boolean): Float64Array | null;
  extentCount(file: number): number | null;
  filesystemType(file: number): number;
  lockRange(file: number, start: number, length: number, exclusive: boolean): boolean;
  unlockRange(file: number, start: number, length: number): void;
  isSoleOpener(file: number): boolean;
  cachedBytes(file: number, start: number, length: number): number | null;
  willRead(file: number, start: number, length: number): void;
  wontRead(file: number, start: number, length: number): void;
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
    facilities: () => listFacilities(addon),
    hashPages: addon.hashPages,
    decodeFrames: addon.hasDecoder
      ? ({ stored, frameBytes, frameRawBytes, pageSize }, pages, hashes) =>
          addon.decodeFrames(stored, frameBytes, frameRawBytes, pageSize, pages, hashes)
      : null,
    encodeFrame: addon.hasEncoder ? addon.encodeFrame : null,
    foldHashes: addon.foldHashes,
    hashFilePages: (file, first, count, pageSize) => attempt("read", file, () => addon.hashFilePages(file, first, count, pageSize)),
    differingPages: (file, first, count, pageSize, expected) =>
      attempt("read", file, () => addon.differingPages(file, first, count, pageSize, expected)),
    compareFilePages: (file, other, first, count, pageSize) =>
      attempt("compare", file, () => addon.compareFilePages(file, other, first, count, pageSize)),
    cloneFile: (fromFile, toFile) => attempt("clone into", toFile, () => addon.cloneFile(fromFile, toFile)),
    cloneToPath: (fromFile, path) => attempt("clone to", path, () => addon.cloneToPath(fromFile, path)),
    cloneRange: (fromFile, fromStart, toFile, toStart, length) =>
      attempt("clone into", toFile, () => addon.cloneRange(fromFile, fromStart, toFile, toStart, length)),
    extents: (file, start, length, sync) => attempt("read the extents of", file, () => addon.extents(file, start, length, sync)),
    extentCount: (file) => attempt("count the extents of", file, () => addon.extentCount(file)),
    filesystemType: (file) => attempt("find the filesystem of", file, () => addon.filesystemType(file)),
    lockRange: (file, start, length, mode) => {
      if (!locks) throw new EngineError("unsupported", "This system has no open-file-description locks");
      return attempt("lock", file, () => addon.lockRange(file, start, length, mode === "exclusive"));
    },
    unlockRange: (file, start, length) => attempt("unlock", file, () => addon.unlockRange(file, start, length)),
    isSoleOpener: addon.isSoleOpener,
    cachedBytes: addon.cachedBytes,
    willRead: addon.willRead,
    wontRead: addon.wontRead,
  };
}

function listFacilities(addon: Addon): { name: string; using: string }[] {
  const threads = addon.threads === 1 ? "1 thread" : `${addon.threads} threads`;
  const clones = addon.cloneCall === "" ? "copy" : `reflink (${addon.cloneCall}) where the filesystem can, else copy`;
  return [
    { name: "page hash", using: `addon, ${addon.kernel}, ${threads}` },
    { name: "page comparison", using: `addon, ${threads}` },
    { name: "frame decoding", using: addon.hasDecoder ? "addon, on several threads" : "zlib, on several threads" },
    { name: "frame encoding", using: addon.hasEncoder ? "addon, on several threads" : "zlib, 1 thread" },
    { name: "file clone", using: clones },
    { name: "range clone", using: addon.hasExtents ? "reflink (FICLONERANGE) where the filesystem can, else none" : "none" },
    { name: "file extents", using: addon.hasExtents ? "FIEMAP" : "none" },
    { name: "process locks", using: addon.hasRangeLocks ? "open-file-description locks" : "SQLite locks" },
    { name: "read-ahead", using: addon.hasFileAdvice ? "posix_fadvise" : "none" },
  ];
}

function attempt<T>(operation: string, object: number | string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw toEngineError(operation, typeof object === "number" ? `file ${object}` : object, error);
  }
}

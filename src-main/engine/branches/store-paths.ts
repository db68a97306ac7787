import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { EngineError } from "../io/errors.ts";

/** Where things are inside a store's folder. See docs/ARCHITECTURE.md, "A store on disk". */
export class StorePaths {
  readonly root: string;
  constructor(root: string) {
    this.root = root;
  }
  get catalog(): string {
    return join(this.root, "catalog.db");
  }
  get catalogLock(): string {
    return join(this.root, "catalog.lock");
  }
  get writersLock(): string {
    return join(this.root, "writers.lock");
  }
  get segments(): string {
    return join(this.root, "segments");
  }
  get checkouts(): string {
    return join(this.root, "checkouts");
  }
  get readonlyFiles(): string {
    return join(this.root, "readonly");
  }
  /** What was put aside and is never deleted by us. */
  get kept(): string {
    return join(this.root, "kept");
  }
  /** What can be made again from the rest. */
  get cache(): string {
    return join(this.root, "cache");
  }
  /** Clones of checkouts by which their changes are found: `checkouts/shadow.ts`. */
  get shadows(): string {
    return join(this.cache, "shadows");
  }
  /** Counts of what changed between versions: `diff/change-cache.ts`. */
  get changeCounts(): string {
    return join(this.cache, "changes");
  }
  get temporary(): string {
    return join(this.root, "tmp");
  }
  /** Files that wait to become checkouts: `checkouts/ready-files.ts`. */
  get readyFiles(): string {
    return join(this.cache, "ready");
  }
  get settings(): string {
    return join(this.root, "settings.json");
  }
  checkoutFolder(database: string): string {
    return join(this.checkouts, database);
  }
  /** Branch folders (`fix/refunds`) become folders. */
  checkout(database: string, branch: string): string {
    return join(this.checkouts, database, `${branch}.db`);
  }
  readonlyFile(database: string, version: number): string {
    return join(this.readonlyFiles, database, `v${version}.db`);
  }
}

/** The folder that a store spec names: a path or `file://` URL. Throws `bad-store-spec`. */
export function locateStore(spec: string): string {
  if (spec.length === 0) throw new EngineError("bad-store-spec", "The store's path is empty");
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(spec)?.[1]?.toLowerCase();
  if (scheme === undefined) return resolve(spec);
  if (scheme === "s3")
    throw new EngineError("bad-store-spec", `Bucket stores (${spec}) are not part of this version`, { hint: "Use a local folder" });
  if (scheme !== "file")
    throw new EngineError("bad-store-spec", `"${scheme}://" is no kind of store`, { hint: "Use a path or file:///path" });
  try {
    return fileURLToPath(spec);
  } catch (error) {
    throw new EngineError("bad-store-spec", `"${spec}" is no file URL of this machine`, { cause: error });
  }
}

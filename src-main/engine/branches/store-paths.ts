import { join } from "node:path";

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
  get temporary(): string {
    return join(this.root, "tmp");
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

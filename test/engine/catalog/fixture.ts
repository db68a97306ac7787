/** A catalog in a folder of its own, removed after the test. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Catalog, type CatalogPorts } from "#engine/catalog/catalog.ts";
import type { BranchRecord, DatabaseRecord, OperationRecord } from "#engine/catalog/records.ts";
import type { EngineError } from "#engine/io/errors.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { Drafts, START } from "./drafts.ts";

export const PORTS: CatalogPorts = { disk: nodeDisk, native: loadNative() };
export const STORE_UID = Buffer.alloc(16, 0x5e);

/** In memory where the system has such a folder: no rule here depends on the disk's speed, and other tests wait for it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "coppice-catalog-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function emptyCatalog(folder = temporaryFolder()): Catalog {
  const path = join(folder, "catalog.db");
  Catalog.create(path, PORTS, { uid: STORE_UID, at: START });
  return reopen(path);
}

export function reopen(path: string): Catalog {
  const catalog = Catalog.open(path, PORTS);
  onTestFinished(() => catalog.close());
  return catalog;
}

export interface Shop {
  readonly catalog: Catalog;
  readonly drafts: Drafts;
  readonly shop: DatabaseRecord;
  /** As it is now. */
  branch(name: string): BranchRecord;
  fork(from: string, ...names: string[]): Promise<OperationRecord>;
  checkpoint(branch: string, name?: string): Promise<OperationRecord>;
}

/** A catalog with a database `shop`: `main` stands on v1. */
export async function shopCatalog(catalog = emptyCatalog()): Promise<Shop> {
  const drafts = new Drafts();
  await catalog.commit(drafts.create("shop"));
  const shop = present(catalog.databases.byName("shop"));
  const branch = (name: string): BranchRecord => present(catalog.branches.byName(shop.id, name));
  return {
    catalog,
    drafts,
    shop,
    branch,
    fork: (from, ...names) => catalog.commit(drafts.fork(branch(from), names)),
    checkpoint: (name, checkpoint) => catalog.commit(drafts.checkpoint(branch(name), checkpoint)),
  };
}

export function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error("expected something, found nothing");
  return value;
}

/** The error that `work` ends with. */
export async function failure(work: () => unknown): Promise<EngineError> {
  try {
    await work();
  } catch (error) {
    return error as EngineError;
  }
  throw new Error("expected a failure, found success");
}

/** Everything the catalog holds, table by table, as text that two catalogs can be compared by. */
export function dumpCatalog(catalog: Catalog): string {
  const tables = catalog.connection.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  );
  return tables
    .flatMap(({ name }) => [name, ...catalog.connection.all<Record<string, unknown>>(`SELECT * FROM ${name} ORDER BY 1, 2`).map(textOfRow)])
    .join("\n");
}

function textOfRow(row: Record<string, unknown>): string {
  return JSON.stringify(Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value)));
}

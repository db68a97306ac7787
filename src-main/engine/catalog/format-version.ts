/**
 * Which format a catalog has. A newer one than this program knows is refused as a whole: reading half of it would show
 * half a truth. An older one is brought forward, one step after the other, and its file as it was is kept beside it.
 */
import type { UnixMs } from "#shared/ids.ts";
import type { Disk } from "../io/disk.ts";
import { EngineError } from "../io/errors.ts";
import { corruptCatalog, type Connection } from "./connection.ts";
import { APPLICATION_ID, FORMAT_VERSION } from "./schema.ts";

export interface StoreIdentity {
  /** 16 bytes. */
  readonly uid: Uint8Array;
  readonly formatVersion: number;
  readonly createdAt: UnixMs;
}

/** Brings a catalog from format `from` to `from + 1`; runs inside the transaction that also records the format. */
export interface Migration {
  readonly from: number;
  migrate(catalog: Connection): void;
}

/** What a program knows. A parameter, so that the way from format to format is tested before there are two. */
export interface KnownFormats {
  readonly format: number;
  readonly migrations: readonly Migration[];
}

export const KNOWN_FORMATS: KnownFormats = { format: FORMAT_VERSION, migrations: [] };

/** Throws `store-corrupt` for anything that is no catalog, `store-newer` for one of a later program. */
export function readIdentity(catalog: Connection, path: string, known: KnownFormats = KNOWN_FORMATS): StoreIdentity {
  if (catalog.pragma("application_id") !== APPLICATION_ID) throw corruptCatalog(path, "another kind of SQLite database");
  const meta = catalog.get<{ format: number; uid: Uint8Array; created_at: number }>("SELECT format, uid, created_at FROM meta");
  if (!meta || !Number.isInteger(meta.format) || meta.format < 1) throw corruptCatalog(path, "a catalog without a format version");
  if (meta.format > known.format) {
    throw new EngineError("store-newer", `The store ${path} has format ${meta.format}; this program knows formats up to ${known.format}`, {
      details: { path, expected: `format ${known.format} or older`, found: `format ${meta.format}` },
      untouched: "Nothing was changed.",
      hint: "Open it with a newer Coppice.",
    });
  }
  return { uid: meta.uid, formatVersion: meta.format, createdAt: meta.created_at };
}

/** Brings an older catalog to the format that is known. The caller holds the catalog's lock. */
export function migrateCatalog(catalog: Connection, disk: Disk, known: KnownFormats = KNOWN_FORMATS): void {
  const { formatVersion } = readIdentity(catalog, catalog.path, known);
  if (formatVersion === known.format) return;
  const kept = `${catalog.path}.format-${formatVersion}`;
  disk.remove(kept);
  catalog.run("VACUUM INTO ?", kept);
  catalog.run("BEGIN IMMEDIATE");
  try {
    for (let format = formatVersion; format < known.format; format += 1) {
      const step = known.migrations.find((migration) => migration.from === format);
      if (!step)
        throw new EngineError("unsupported", `The catalog ${catalog.path} has format ${format}, which this program cannot bring forward`);
      step.migrate(catalog);
      catalog.run("UPDATE meta SET format = ?", format + 1);
    }
    catalog.run("COMMIT");
  } finally {
    if (catalog.inTransaction) catalog.run("ROLLBACK");
  }
}

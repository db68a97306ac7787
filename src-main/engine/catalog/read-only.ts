/**
 * A catalog on a disk that cannot be written. SQLite reads a WAL database there only when its `-wal` and `-shm` files
 * exist; where they do not, nobody can be writing either, so a copy in a temporary folder shows the same.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemRandomness } from "../io/clock.ts";
import type { Disk } from "../io/disk.ts";
import { EngineError } from "../io/errors.ts";
import { Connection, type ConnectionPorts } from "./connection.ts";

export interface ReadOnlyCatalog {
  /** Where the catalog is, whatever file is read. */
  readonly path: string;
  readonly connection: Connection;
  /** Removes the copy, after the connection is closed. */
  readonly discard: () => void;
}

export function openReadOnly(path: string, ports: ConnectionPorts): ReadOnlyCatalog {
  try {
    const connection = new Connection(path, ports, { readOnly: true });
    try {
      connection.get("SELECT 1 FROM sqlite_schema");
      return { path, connection, discard: () => {} };
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    if (!(error instanceof EngineError) || (error.code !== "permission-denied" && error.code !== "store-read-only")) throw error;
    return openCopy(path, ports);
  }
}

function openCopy(path: string, ports: ConnectionPorts): ReadOnlyCatalog {
  const { disk } = ports;
  const folder = join(tmpdir(), `coppice-catalog-${Buffer.from(systemRandomness.bytes(8)).toString("hex")}`);
  disk.makeDirectory(folder);
  const discard = (): void => disk.removeTree(folder);
  try {
    const copy = join(folder, "catalog.db");
    copyWhole(disk, path, copy);
    if (disk.stat(`${path}-wal`)) copyWhole(disk, `${path}-wal`, `${copy}-wal`);
    return { path, connection: new Connection(copy, ports, { readOnly: true }), discard };
  } catch (error) {
    discard();
    throw error;
  }
}

function copyWhole(disk: Disk, from: string, to: string): void {
  const file = disk.open(to, "wx+");
  try {
    disk.write(file, disk.readWhole(from), 0);
  } finally {
    disk.close(file);
  }
}

/** What the machine offers, and what of it may go wrong with a store: `coppice doctor` and the settings screen. */
import { existsSync, readFileSync } from "node:fs";
import { release } from "node:os";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { formatTarget } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import type { DoctorView } from "#shared/views.ts";
import { inspectFilesystem, isBlockSharing, type FilesystemReport } from "../io/filesystem.ts";
import { findHolders } from "../io/holders.ts";
import { loadNative } from "../io/load-native.ts";
import type { Native } from "../io/native.ts";
import { nodeDisk } from "../io/node-disk.ts";
import type { Store } from "../store-api.ts";

/** Checkouts that are looked at one by one when any of a page's checkouts is in use. */
const CHECKOUTS_MAX = 256;

/** Looks at the machine, and at the store when there is one. Changes nothing but two small files that it removes. */
export async function diagnose(store: Store | null): Promise<DoctorView> {
  const native = loadNative();
  const filesystem = store ? inspectFilesystem(store.path, { disk: nodeDisk, native }) : null;
  const writable = store === null || isWritable(store.path);
  return {
    program: readProgramVersion(),
    node: process.version,
    sqlite: readSqliteVersion(),
    addon: native.kind === "addon" ? "loaded" : "missing",
    addonProblem: native.problem,
    platform: `${process.platform} ${process.arch}`,
    store:
      store && filesystem
        ? { path: store.path, filesystem: filesystem.type, reflink: filesystem.reflink, network: filesystem.network, writable }
        : null,
    facilities: [...native.facilities(), ...(filesystem ? [{ name: "change detection", using: changeDetection(native, filesystem) }] : [])],
    holders: store ? await findCheckoutHolders(store) : [],
    problems: [
      ...(native.kind === "addon" ? [] : ["The addon is not loaded: slower paths are used. Build it with npm run native."]),
      ...(native.hasRangeLocks ? [] : ["There are no locks that survive other programs' closes here: one Coppice at a time works safest."]),
      ...(filesystem ? judgeFilesystem(filesystem) : []),
      ...(writable ? [] : ["The store cannot be written: it can be looked at, not changed."]),
    ],
  };
}

/** How changed pages are found in this store when neither a fingerprint nor a WAL tells. */
function changeDetection(native: Native, { type, reflink }: FilesystemReport): string {
  if (reflink && isBlockSharing(type, release())) return `extents (${type} shares blocks), else page hashes`;
  return `page hashes${native.kind === "addon" ? "" : ", in JavaScript"}`;
}

function judgeFilesystem(filesystem: FilesystemReport): string[] {
  return [
    ...(filesystem.network ? [`The store is on a network filesystem (${filesystem.type}): SQLite's locks cannot be trusted there.`] : []),
    ...(filesystem.syncedBy ? [`${filesystem.syncedBy} copies this folder while it is written: move the store out of it.`] : []),
  ];
}

async function findCheckoutHolders(store: Store): Promise<DoctorView["holders"]> {
  const found: DoctorView["holders"][number][] = [];
  for (const database of await store.databases({})) {
    const { branches } = await store.branches({ database: database.name, limit: LIMITS.pageRowsMax });
    const checkouts = branches.filter((branch) => branch.checkout.fileBytes > 0).slice(0, CHECKOUTS_MAX);
    // One look at all processes for all files; one a file only when somebody has any of them.
    if (findHolders(checkouts.map((branch) => branch.checkout.path)).length === 0) continue;
    for (const branch of checkouts) {
      const holders = findHolders([branch.checkout.path]);
      if (holders.length > 0) found.push({ target: formatTarget({ database: database.name, branch: branch.name }), holders });
    }
  }
  return found;
}

function isWritable(folder: string): boolean {
  const probe = join(folder, "tmp", `doctor-${process.pid}`);
  try {
    nodeDisk.close(nodeDisk.open(probe, "w+"));
    return nodeDisk.remove(probe);
  } catch {
    // Why it cannot be written is what the first operation will say.
    return false;
  }
}

function readSqliteVersion(): string {
  const connection = new Database(":memory:");
  try {
    return String(connection.prepare("select sqlite_version()").pluck().get());
  } finally {
    connection.close();
  }
}

/** From the package that this file belongs to, as source or in a bundle, whose own package.json has no name. */
function readProgramVersion(): string {
  for (let folder = import.meta.dirname; dirname(folder) !== folder; folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (!existsSync(file)) continue;
    const { name, version } = JSON.parse(readFileSync(file, "utf8")) as { name?: string; version?: string };
    if (name !== undefined) return `${name} ${version}`;
  }
  return "coppice";
}

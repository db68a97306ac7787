import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** One line an entry of a folder and all below it: name, kind, inode, mode, mtime, contents. Access times are left out. */
export function snapshotFolder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => describe(join(folder, name), name));
}

function describe(path: string, name: string): string {
  const stat = lstatSync(path, { bigint: true });
  const facts = `${name} inode ${stat.ino} mode ${stat.mode.toString(8)} mtime ${stat.mtimeNs}`;
  if (stat.isSymbolicLink()) return `${facts} -> ${readlinkSync(path)}`;
  if (!stat.isFile()) return facts;
  return `${facts} ${stat.size} bytes ${createHash("sha256").update(readFileSync(path)).digest("hex")}`;
}

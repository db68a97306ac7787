/**
 * The files of shadows: `<store>/cache/shadows/<device>-<inode>.shadow`, and beside it `.known`, which says what it holds.
 * They are named after the checkout's file, not after its path: a file that is moved keeps its shadow, one that is put in
 * its place has none. Removing any of them at any time costs a scan and nothing else.
 *
 *   known   "1", the fingerprint of the checkout when the shadow was brought up to it, the identity of the shadow's own
 *           file (inode, size, mtime, ctime in base 36), the loose pages ("-" or numbers and ranges in base 36), "end"
 */
import { join } from "node:path";
import type { Disk, FileStat } from "../io/disk.ts";

const VERSION = "1";
const SHADOW = ".shadow";
const KNOWN = ".known";

export interface ShadowPaths {
  readonly shadow: string;
  readonly known: string;
}

export interface ShadowRecord {
  readonly fingerprint: string;
  /** `shadowIdentity` of the shadow's file. */
  readonly identity: string;
  /** Pages that the checkout, as fingerprinted, has from elsewhere: from its WAL, or from a patch. Ascending. */
  readonly loose: Uint32Array;
}

export function shadowPaths(folder: string, checkout: Pick<FileStat, "device" | "inode">): ShadowPaths {
  const name = join(folder, `${checkout.device.toString(36)}-${checkout.inode.toString(36)}`);
  return { shadow: name + SHADOW, known: name + KNOWN };
}

/** The record that goes first, so that a shadow without one is one that nobody trusts. */
export function removeShadow(disk: Disk, paths: ShadowPaths): void {
  disk.remove(paths.known);
  disk.remove(paths.shadow);
}

/** Removes the shadows of files that are none of `checkouts`; returns how many, and what they took on the disk. */
export function removeOrphanShadows(disk: Disk, folder: string, checkouts: Iterable<string>): { removed: number; bytes: number } {
  const names = disk.list(folder);
  if (names.length === 0) return { removed: 0, bytes: 0 };
  const wanted = new Set<string>();
  for (const path of checkouts) {
    const stat = disk.stat(path);
    if (stat) for (const file of Object.values<string>({ ...shadowPaths(folder, stat) })) wanted.add(file);
  }
  let [removed, bytes] = [0, 0];
  for (const name of names) {
    const path = join(folder, name);
    if (wanted.has(path)) continue;
    const size = disk.stat(path)?.size ?? 0;
    if (!disk.remove(path) || !path.endsWith(SHADOW)) continue;
    removed += 1;
    bytes += size;
  }
  return { removed, bytes };
}

export function shadowIdentity(stat: FileStat): string {
  return [stat.inode, stat.size, stat.mtimeNs, stat.ctimeNs].map((value) => value.toString(36)).join(".");
}

export function writeRecord(disk: Disk, path: string, record: ShadowRecord): void {
  const text = [VERSION, record.fingerprint, record.identity, formatPages(record.loose), "end", ""].join("\n");
  const file = disk.open(path, "w+");
  try {
    disk.write(file, Buffer.from(text), 0);
  } finally {
    disk.close(file);
  }
}

/** Null when there is none, or none that is whole. */
export function readRecord(disk: Disk, path: string): ShadowRecord | null {
  if (disk.stat(path) === null) return null;
  const text = Buffer.from(disk.readWhole(path)).toString("latin1");
  const [version, fingerprint, identity, pages, end, ...rest] = text.split("\n");
  if (version !== VERSION || !fingerprint || !identity || !pages || end !== "end" || rest.length !== 1 || rest[0] !== "") return null;
  const loose = parsePages(pages);
  return loose && { fingerprint, identity, loose };
}

/** Runs of neighbours as "first-last". */
function formatPages(pages: Uint32Array): string {
  if (pages.length === 0) return "-";
  const runs: string[] = [];
  for (let from = 0; from < pages.length;) {
    let to = from;
    while (to + 1 < pages.length && pages[to + 1] === (pages[to] ?? 0) + 1) to += 1;
    const [first, last] = [pages[from] ?? 0, pages[to] ?? 0];
    runs.push(first === last ? first.toString(36) : `${first.toString(36)}-${last.toString(36)}`);
    from = to + 1;
  }
  return runs.join(",");
}

function parsePages(text: string): Uint32Array | null {
  if (text === "-") return new Uint32Array(0);
  const pages: number[] = [];
  for (const run of text.split(",")) {
    const match = /^([0-9a-z]{1,7})(?:-([0-9a-z]{1,7}))?$/.exec(run);
    if (!match) return null;
    const first = parseInt(match[1] ?? "", 36);
    const last = match[2] === undefined ? first : parseInt(match[2], 36);
    if (first <= (pages.at(-1) ?? 0) || last < first || last - first > PAGES_PER_RUN_MAX) return null;
    for (let page = first; page <= last; page += 1) pages.push(page);
  }
  return Uint32Array.from(pages);
}

/** More are never written; a damaged record must not fill the memory. */
const PAGES_PER_RUN_MAX = 1_000_000;

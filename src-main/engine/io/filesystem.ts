/** What kind of place a folder is, for `doctor`: does it clone files, and do locks and renames there mean what they say. */
import { readFileSync, statfsSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { release } from "node:os";
import { join } from "node:path";
import { LIMITS } from "#shared/limits.ts";
import type { Disk } from "./disk.ts";
import type { Native } from "./native.ts";

export interface FilesystemReport {
  /** As the system calls it, e.g. "ext4", "fuse.sshfs"; "unknown" where it does not say. */
  readonly type: string;
  /** Copies of files share their blocks; tried, not looked up. */
  readonly reflink: boolean;
  /** SQLite's locks cannot be trusted on a filesystem of another machine. */
  readonly network: boolean;
  /** A program that copies the folder elsewhere while it is written, by its name; null when it looks like none. */
  readonly syncedBy: string | null;
}

/** Filesystems whose lists of extents are exact once synced, and that write shared blocks elsewhere. */
const BLOCK_SHARING_TYPES: readonly string[] = ["xfs", "btrfs"];
/** Older kernels are untried here; btrfs's answers about extents were rewritten shortly before. */
const BLOCK_SHARING_KERNEL = { major: 6, minor: 1 };

/** By `f_type` of statfs, where there is no table of mounts. */
const TYPES_BY_MAGIC: ReadonlyMap<number, string> = new Map([
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x01021994, "tmpfs"],
  [0x794c7630, "overlay"],
  [0x2fc12fc1, "zfs"],
  [0xf2f52010, "f2fs"],
  [0xca451a4e, "bcachefs"],
  [0x2011bab0, "exfat"],
  [0x4d44, "vfat"],
  [0x65735546, "fuse"],
  [0x6969, "nfs"],
  [0xff534d42, "cifs"],
  [0xfe534d42, "smb3"],
  [0x00c36400, "ceph"],
  [0x01021997, "9p"],
]);

const NETWORK_TYPE =
  /^(?:nfs4?|cifs|smb\d?|smbfs|ceph|9p|afs|glusterfs|lustre|davfs|fuse\.(?:sshfs|glusterfs|ceph|rclone|s3fs|davfs2?|gcsfuse))$/;

const SYNC_FOLDERS: readonly (readonly [name: string, path: RegExp])[] = [
  ["Dropbox", /^Dropbox(?: \(.*\))?$/],
  ["OneDrive", /^OneDrive(?: - .*)?$/],
  ["iCloud Drive", /^(?:iCloud ?Drive|com~apple~CloudDocs)$/],
  ["Google Drive", /^(?:Google ?Drive|GoogleDrive-.*)$/],
  ["Nextcloud", /^(?:Nextcloud|ownCloud)$/i],
  ["Syncthing", /^Syncthing$/i],
];

/** Filesystems on which every block belongs to one file. */
const NEVER_SHARING_TYPES: readonly string[] = ["ext2", "ext3", "ext4", "tmpfs", "f2fs", "vfat", "exfat"];

/** False where two files cannot have a block in common, as far as the type of the filesystem tells. Touches no file. */
export function mayShareBlocks(folder: string, disk: Disk): boolean {
  const path = disk.realPath(folder);
  return !NEVER_SHARING_TYPES.includes(findMountType(path, readMounts()) ?? readMagicType(path) ?? "");
}

/** `folder` exists. Makes and removes two small files in it; where it may not be written, nothing can be cloned. */
export function inspectFilesystem(folder: string, ports: { readonly disk: Disk; readonly native: Native }): FilesystemReport {
  const path = ports.disk.realPath(folder);
  const type = findMountType(path, readMounts()) ?? readMagicType(path) ?? "unknown";
  return { type, reflink: tryClone(path, ports), network: NETWORK_TYPE.test(type), syncedBy: findSyncProgram(path) };
}

/**
 * True when the blocks of an open file of `device` tell what was written to it since it was cloned: `native.extents` can be
 * relied on. `COPPICE_NO_FIEMAP=1` says no.
 */
export function sharesBlocks(native: Native, file: number, device: bigint): boolean {
  let type = typesByDevice.get(device);
  if (type === undefined) typesByDevice.set(device, (type = native.filesystemType(file)));
  return type !== 0 && isBlockSharing(TYPES_BY_MAGIC.get(type) ?? "", release());
}

/**
 * Whether a clone of an open file is better than a copy of its bytes. A clone costs 5 to 20 µs for each of the file's
 * pieces, and once more when it goes, and is in as many; a copy is whole again. And the pages of a copy are in memory,
 * where those of a clone must be read from the disk: for a small file that counts for more.
 */
export function isWorthCloning(native: Native, file: number, bytes: number): boolean {
  return bytes > LIMITS.warmCopyBytesMax && (native.extentCount(file) ?? 0) <= bytes / LIMITS.clonedPieceBytesMin;
}

/** Asking costs up to a millisecond. A device that is mounted anew as something else only loses its shadows. */
const typesByDevice = new Map<bigint, number>();

/** `type`: as `findMountType` names it; `kernel`: as `uname -r` does. */
export function isBlockSharing(type: string, kernel: string): boolean {
  if (process.env["COPPICE_NO_FIEMAP"] === "1" || !BLOCK_SHARING_TYPES.includes(type)) return false;
  const [major = 0, minor = 0] = kernel.split(/[.-]/, 2).map(Number);
  return major > BLOCK_SHARING_KERNEL.major || (major === BLOCK_SHARING_KERNEL.major && minor >= BLOCK_SHARING_KERNEL.minor);
}

/** The type of the innermost mount that holds `path`, given the text of /proc/mounts; null when it names none. */
export function findMountType(path: string, mounts: string): string | null {
  let found: { point: string; type: string } | null = null;
  for (const line of mounts.split("\n")) {
    const [, escaped, type] = line.split(" ");
    if (escaped === undefined || type === undefined) continue;
    const point = escaped.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    const holds = path === point || path.startsWith(point.endsWith("/") ? point : `${point}/`);
    // Of two mounts at one point, the later one is on top.
    if (holds && point.length >= (found?.point.length ?? 0)) found = { point, type };
  }
  return found?.type ?? null;
}

/** The program that watches over one of the folders above, by the names such folders have. */
export function findSyncProgram(path: string): string | null {
  const folders = path.split(/[\\/]/);
  return SYNC_FOLDERS.find(([, pattern]) => folders.some((folder) => pattern.test(folder)))?.[0] ?? null;
}

function readMounts(): string {
  try {
    return readFileSync("/proc/self/mounts", "utf8");
  } catch {
    return "";
  }
}

function readMagicType(path: string): string | null {
  try {
    return TYPES_BY_MAGIC.get(statfsSync(path).type) ?? null;
  } catch {
    return null;
  }
}

function tryClone(folder: string, { disk, native }: { readonly disk: Disk; readonly native: Native }): boolean {
  const [from, to] = [0, 1].map((which) => join(folder, `.clone-probe-${randomUUID()}-${which}`)) as [string, string];
  try {
    const source = disk.open(from, "wx+");
    try {
      disk.write(source, new Uint8Array(4096).fill(1), 0);
      const target = disk.open(to, "wx+");
      try {
        return native.cloneFile(source, target);
      } finally {
        disk.close(target);
        disk.remove(to);
      }
    } finally {
      disk.close(source);
      disk.remove(from);
    }
  } catch {
    return false;
  }
}

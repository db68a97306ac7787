/** Filesystems that share blocks, mounted from files: as root on Linux, with xfsprogs or btrfs-progs installed. */
import { spawnSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { makeTemporaryFolder } from "./temporary-folder.ts";

export type LoopFilesystem = "xfs" | "btrfs" | "ext4";

const FORMATS: Readonly<Record<LoopFilesystem, readonly string[]>> = {
  xfs: ["mkfs.xfs", "-q", "-m", "reflink=1"],
  btrfs: ["mkfs.btrfs", "-q"],
  ext4: ["mkfs.ext4", "-q"],
};

/**
 * A folder on a fresh filesystem of `megabytes`, unmounted when the running test ends; or why there is none. Throws
 * instead when `COPPICE_REQUIRE` names "filesystems".
 */
export function mountLoopFilesystem(kind: LoopFilesystem, megabytes: number): { readonly folder: string } | { readonly missing: string } {
  const place = makeTemporaryFolder();
  const image = join(place, "image");
  const folder = join(place, "mounted");
  mkdirSync(folder);
  writeFileSync(image, "");
  truncateSync(image, megabytes * 1024 * 1024);
  const steps = [
    [...FORMATS[kind], image],
    ["mount", "-o", "loop", image, folder],
  ];
  for (const [program = "", ...input] of steps) {
    const { status, stderr, error } = spawnSync(program, input, { encoding: "utf8" });
    if (status === 0) continue;
    const missing = `${program}: ${error?.message ?? stderr.trim()}`;
    if ((process.env["COPPICE_REQUIRE"] ?? "").split(",").includes("filesystems")) throw new Error(missing);
    return { missing };
  }
  onTestFinished(() => {
    spawnSync("umount", ["-l", folder]);
  });
  return { folder };
}

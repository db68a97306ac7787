import { readdirSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readBootId } from "#engine/io/boot.ts";
import { findMountType, findSyncProgram, inspectFilesystem } from "#engine/io/filesystem.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk as disk } from "#engine/io/node-disk.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";

test("FILESYSTEM-1: a folder's filesystem is named, and what clones it is tried without leaving anything", () => {
  const folder = makeTemporaryFolder();
  const report = inspectFilesystem(folder, { disk, native: loadNative() });
  expect(report).toMatchObject({
    type: expect.stringMatching(platform() === "linux" ? /^(?!unknown)[a-z0-9.]+$/ : /./) as string,
    network: false,
    syncedBy: null,
  });
  expect(readdirSync(folder)).toEqual([]);
});

test("FILESYSTEM-2: the innermost mount counts, the later one when two stand at one point", () => {
  const mounts =
    "/dev/a / ext4 rw 0 0\nhost:/x /srv nfs4 rw 0 0\nme@host: /home/me/far\\040away fuse.sshfs rw 0 0\n/dev/b /srv/local xfs rw 0 0\n/dev/c /srv/local btrfs rw 0 0\nbroken\n";
  expect(findMountType("/tmp/store", mounts)).toBe("ext4");
  expect(findMountType("/srv/store", mounts)).toBe("nfs4");
  expect(findMountType("/srv", mounts)).toBe("nfs4");
  expect(findMountType("/srvstore", mounts)).toBe("ext4");
  expect(findMountType("/srv/local/store", mounts)).toBe("btrfs");
  expect(findMountType("/home/me/far away/store", mounts)).toBe("fuse.sshfs");
  expect(findMountType("/tmp", "")).toBeNull();
});

test("FILESYSTEM-3: folders that another program copies elsewhere are known by their names", () => {
  expect(findSyncProgram("/home/me/Dropbox/data/store")).toBe("Dropbox");
  expect(findSyncProgram("C:\\Users\\me\\OneDrive - Company\\store")).toBe("OneDrive");
  expect(findSyncProgram("/Users/me/Library/Mobile Documents/com~apple~CloudDocs/store")).toBe("iCloud Drive");
  expect(findSyncProgram("/Users/me/Library/CloudStorage/GoogleDrive-me@example.org/store")).toBe("Google Drive");
  expect(findSyncProgram("/home/me/my-dropbox-notes/OneDriver/store")).toBeNull();
});

test("FILESYSTEM-4: where nothing can be written, nothing is cloned", () => {
  expect(inspectFilesystem("/proc", { disk, native: loadNative() })).toMatchObject({ reflink: false });
  expect(() => inspectFilesystem(join(makeTemporaryFolder(), "missing"), { disk, native: loadNative() })).toThrow(
    expect.objectContaining({ code: "file-not-found" }),
  );
});

test("FILESYSTEM-5: the boot has one name as long as it lasts", () => {
  expect(readBootId()).toMatch(/\S{8,}/);
  expect(readBootId()).toBe(readBootId());
});

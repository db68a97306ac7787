import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EngineError } from "#engine/io/errors.ts";
import { inspectFilesystem } from "#engine/io/filesystem.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk as disk } from "#engine/io/node-disk.ts";
import { mountLoopFilesystem } from "../../support/loop-filesystem.ts";

const native = loadNative();
const CLONES = native.kind === "addon";

test.for([
  ["xfs", CLONES],
  ["btrfs", CLONES],
  ["ext4", false],
] as const)("CLONE-1: on %s, clones share their blocks: %s", ([kind, isShared], { skip }) => {
  const place = mountLoopFilesystem(kind, 320);
  if ("missing" in place) return skip(place.missing);
  const from = join(place.folder, "from");
  writeFileSync(from, Buffer.alloc(8 * 2 ** 20, "some text"));
  const free = disk.freeBytes(place.folder);
  expect(disk.clone(from, join(place.folder, "to"))).toBe(isShared);
  expect(free - disk.freeBytes(place.folder)).toBeLessThan(4 * 2 ** 20);
  if (isShared) expect(readFileSync(join(place.folder, "to")).equals(readFileSync(from))).toBe(true);
  expect(inspectFilesystem(place.folder, { disk, native })).toMatchObject({ type: kind, reflink: isShared, network: false });
  expect(disk.list(place.folder).filter((name) => name !== "lost+found")).toEqual(isShared ? ["from", "to"] : ["from"]);
});

test("CLONE-2: a copy that does not fit is a full disk, and leaves nothing behind", async ({ skip }) => {
  const place = mountLoopFilesystem("ext4", 16);
  if ("missing" in place) return skip(place.missing);
  const from = join(place.folder, "from");
  writeFileSync(from, Buffer.alloc(9 * 2 ** 20, "some text"));
  await expect(disk.copy(from, join(place.folder, "to"))).rejects.toMatchObject({ code: "disk-full" } satisfies Partial<EngineError>);
  expect(disk.stat(join(place.folder, "to"))).toBeNull();
});

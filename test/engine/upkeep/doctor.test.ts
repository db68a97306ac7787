import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { spawn } from "node:child_process";
import { release, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isBlockSharing } from "#engine/io/filesystem.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { createStore, type Store } from "#engine/store.ts";
import { diagnose } from "#engine/upkeep/doctor.ts";
import { mountLoopFilesystem } from "../../support/loop-filesystem.ts";

let folder = "";
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "coppice-doctor-"));
  store = await createStore(join(folder, "store"));
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

test("DOCTOR-1: the machine is described with and without a store, and nothing is left in the store", async () => {
  const machine = await diagnose(null);
  expect(machine).toMatchObject({ node: process.version, sqlite: expect.stringMatching(/^3\.\d+/), store: null, holders: [] });
  expect(machine.program).toMatch(/^coppice \d+\.\d+\.\d+$/);
  const before = readdirSync(store.path, { recursive: true });
  const view = await diagnose(store);
  expect(view.store).toMatchObject({ path: store.path, writable: true, network: false });
  expect(view.store?.filesystem).not.toBe("");
  expect(readdirSync(store.path, { recursive: true })).toEqual(before);
});

test.runIf(process.platform === "linux")("DOCTOR-2: programs that have checkouts open are named with what they have open", async () => {
  await store.create({ database: "shop" });
  await store.fork({ database: "shop", branch: "main", newBranch: "quiet" });
  await store.checkout({ database: "shop", branch: "quiet" });
  const { path } = await store.checkout({ database: "shop", branch: "main" });
  expect((await diagnose(store)).holders).toEqual([]);
  const reader = spawn(process.execPath, [
    "-e",
    `require("fs").openSync(process.argv[1]); console.log("open"); setInterval(() => {}, 1000)`,
    path,
  ]);
  await new Promise((resolve) => reader.stdout.once("data", resolve));
  const { holders } = await diagnose(store);
  reader.kill("SIGKILL");
  expect(holders).toMatchObject([{ target: "shop@main", holders: [{ pid: reader.pid }] }]);
});

test.for([
  ["xfs", "extents (xfs shares blocks), else page hashes"],
  ["btrfs", "extents (btrfs shares blocks), else page hashes"],
  ["ext4", "page hashes"],
] as const)("DOCTOR-3: on %s, changed pages are found by %s", async ([kind, using], { skip }) => {
  if (loadNative().kind !== "addon" || (kind !== "ext4" && !isBlockSharing(kind, release()))) return skip("no addon, or an old kernel");
  const place = mountLoopFilesystem(kind, 320);
  if ("missing" in place) return skip(place.missing);
  const other = await createStore(join(place.folder, "store"));
  const facility = async () => (await diagnose(other)).facilities.find(({ name }) => name === "change detection");
  expect(await facility()).toEqual({ name: "change detection", using });
  process.env["COPPICE_NO_FIEMAP"] = "1";
  expect(await facility()).toEqual({ name: "change detection", using: "page hashes" });
  delete process.env["COPPICE_NO_FIEMAP"];
  await other.close();
});

import { join } from "node:path";
import { expect, test } from "vitest";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { FaultyDisk } from "../../support/faulty-disk.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";

test("FAULT-1: the chosen call fails, once or from there on, and a failed write may have written a part", () => {
  const path = join(makeTemporaryFolder(), "file");
  const faults = new FaultyDisk(nodeDisk);
  const { disk } = faults;
  const file = disk.open(path, "wx+");

  faults.fail({ on: "write", from: 2, times: 1, code: "disk-full" });
  disk.write(file, new Uint8Array(10).fill(1), 0);
  expect(() => disk.write(file, new Uint8Array(10).fill(2), 10)).toThrow(expect.objectContaining({ code: "disk-full" }));
  expect(disk.statFile(file).size).toBe(15);
  disk.write(file, new Uint8Array(10).fill(3), 10);

  faults.fail({ on: "space", from: 1, code: "disk-full" });
  for (let round = 0; round < 3; round += 1) expect(() => disk.write(file, new Uint8Array(4), 0)).toThrow("write");
  expect(() => disk.open(`${path}-new`, "wx+")).toThrow("open");
  disk.sync(file);
  disk.rename(path, `${path}-moved`);

  faults.fail(null);
  disk.close(file);
  expect(faults.counts.get("write")).toBe(6);
  expect(faults.counts.get("change")).toBe(10);
});

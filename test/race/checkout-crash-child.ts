/**
 * Replaces a checkout and is killed on the way: at a fault point (COPPICE_FAULT) or in the middle of the n-th write.
 * Arguments: place, patch | swap | place, number of the write to die in (0 = none).
 */
import { readFileSync } from "node:fs";
import { DirectCheckoutFiles } from "#engine/checkouts/direct-checkout-files.ts";
import type { Disk } from "#engine/io/disk.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";

const [folder = "", act, dieInWrite] = process.argv.slice(2);
const path = `${folder}/checkouts/main.db`;
let writes = 0;
const disk: Disk = {
  ...nodeDisk,
  write: (file, buffer, position) => {
    writes += 1;
    if (writes === Number(dieInWrite)) {
      nodeDisk.write(file, buffer.subarray(0, Math.ceil(buffer.length / 2)), position);
      process.kill(process.pid, "SIGKILL");
    }
    nodeDisk.write(file, buffer, position);
  },
};
const files = new DirectCheckoutFiles({ disk, native: loadNative(), temporary: `${folder}/tmp` });
if (act === "place") await files.place(`${folder}/finished.db`, path);
else {
  const held = await files.hold(path, "exclusive", 1000);
  if (act === "swap") await held.swap(`${folder}/finished.db`);
  else await held.patch(readPatch());
  await held.release();
}

function readPatch() {
  const { numbers, pageSize, pageCount } = JSON.parse(readFileSync(`${folder}/patch.json`, "utf8")) as {
    numbers: number[];
    pageSize: number;
    pageCount: number;
  };
  const bytes = new Uint8Array(readFileSync(`${folder}/patch.pages`));
  return {
    pageSize,
    pageCount,
    batches: (async function* () {
      yield { numbers: Uint32Array.from(numbers), bytes };
    })(),
  };
}

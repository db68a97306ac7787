import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { DemoWork } from "#engine/demo/build-demo.ts";
import { EngineError } from "#engine/io/errors.ts";
import type { Store } from "#engine/store-api.ts";
import { configFolder } from "./config-folder.ts";
import type { EngineEntry } from "./engine-entry.ts";
import { isOtherAlive } from "./processes.ts";

const UNFINISHED = /^demo\.coppice\.(\d+)\.new$/;

/** Opens the demo store; makes it first when it is not there. Built aside and renamed: half a demo is never opened. */
export async function openDemoStore(entry: Pick<EngineEntry, "createStore" | "openStore" | "fillDemo">, work: DemoWork): Promise<Store> {
  const folder = configFolder();
  const place = join(folder, "demo.coppice");
  if (existsSync(place)) return await entry.openStore(place, {});
  makeFolder(folder);
  removeUnfinished(folder);
  const unfinished = join(folder, `demo.coppice.${process.pid}.new`);
  try {
    const store = await entry.createStore(unfinished, {});
    try {
      await entry.fillDemo(store, work);
    } finally {
      await store.close();
    }
    // Another Coppice may have finished the same demo meanwhile: then that one is opened.
    if (!existsSync(place)) renameSync(unfinished, place);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return await entry.openStore(place, {});
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new EngineError("io-failed", `The demo could not be made: there is no folder ${folder}, and it cannot be created`, {
      cause: error,
      hint: "Name a folder that can be written to in COPPICE_CONFIG_DIR, or open a file or a store instead.",
      untouched: "Nothing was changed.",
      details: { path: folder },
    });
  }
}

/** Leftovers of programs that were killed while building. */
function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = UNFINISHED.exec(name)?.[1];
    if (pid !== undefined && !isOtherAlive(Number(pid))) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

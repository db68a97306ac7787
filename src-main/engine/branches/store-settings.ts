/**
 * What a user has set for one store, in `settings.json` beside the catalog: every program that works on the store goes by
 * it. Reading is tolerant: what is missing or no JSON is as if nothing was set. Writing replaces the file as a whole.
 */
import * as v from "valibot";
import { LIMITS } from "#shared/limits.ts";
import type { Disk } from "../io/disk.ts";
import type { StorePaths } from "./store-paths.ts";

const schema = v.object({
  /** Bytes of ready files; null for the default. */
  readyBudget: v.fallback(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(LIMITS.readyBudgetMax))), null),
});

export type StoreSettings = v.InferOutput<typeof schema>;

export function readStoreSettings(disk: Disk, paths: StorePaths): StoreSettings {
  const parsed = v.safeParse(schema, disk.stat(paths.settings) === null ? {} : parseJson(disk.readWhole(paths.settings)));
  return parsed.success ? parsed.output : v.parse(schema, {});
}

/** Errors: `disk-full`, `permission-denied`, `store-read-only`; the settings are as they were then. */
export function writeStoreSettings(disk: Disk, paths: StorePaths, settings: StoreSettings): void {
  const unfinished = `${paths.settings}.${process.pid}.new`;
  try {
    const file = disk.open(unfinished, "w+");
    try {
      disk.write(file, Buffer.from(`${JSON.stringify(settings, null, 2)}\n`), 0);
      disk.sync(file);
    } finally {
      disk.close(file);
    }
    disk.rename(unfinished, paths.settings);
    disk.syncDirectory(paths.root);
  } catch (error) {
    disk.remove(unfinished);
    throw error;
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return {};
  }
}

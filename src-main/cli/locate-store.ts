import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { EngineError } from "#engine/io/errors.ts";

/** The folder that `init` makes, and that is looked for upwards. */
export const STORE_FOLDER = ".coppice";

/** The store's spec: as given, else `COPPICE_STORE`, else the nearest `.coppice` upwards; null when there is none. */
export function findStoreSpec(given: string | undefined, workingFolder: string = process.cwd()): string | null {
  const named = given ?? (process.env["COPPICE_STORE"] || undefined);
  if (named !== undefined) return named;
  for (let folder = resolve(workingFolder); ; folder = dirname(folder)) {
    const candidate = join(folder, STORE_FOLDER);
    // A store that lost its catalog is still the one that is meant.
    if (existsSync(join(candidate, "catalog.db")) || existsSync(join(candidate, "segments"))) return candidate;
    if (dirname(folder) === folder) return null;
  }
}

/** Throws `store-not-found` where `findStoreSpec` finds none. */
export function requireStoreSpec(given: string | undefined): string {
  const spec = findStoreSpec(given);
  if (spec !== null) return spec;
  throw new EngineError("store-not-found", `There is no store in ${process.cwd()} or above it`, {
    hint: "Make one with `coppice init`, or name one with --store or COPPICE_STORE",
  });
}

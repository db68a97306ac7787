import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The folder with package.json: two levels up from `src-main/host` as from `out/main`. */
export const PACKAGE_FOLDER = join(import.meta.dirname, "..", "..");

/** Built screens. */
export const RENDERER_FOLDER = join(PACKAGE_FOLDER, "out", "renderer");

/** "coppice 0.1.0". */
export function programName(): string {
  const { name, version } = JSON.parse(readFileSync(join(PACKAGE_FOLDER, "package.json"), "utf8")) as { name: string; version: string };
  return `${name} ${version}`;
}

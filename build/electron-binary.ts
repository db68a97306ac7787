import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Electron's program in node_modules; null when it was never downloaded (its package comes without). */
export function findElectronBinary(): string | null {
  const folder = join(import.meta.dirname, "..", "node_modules", "electron");
  const pathFile = join(folder, "path.txt");
  const binary = existsSync(pathFile) ? join(folder, "dist", readFileSync(pathFile, "utf8").trim()) : null;
  return binary && existsSync(binary) ? binary : null;
}

import { homedir } from "node:os";
import { join } from "node:path";

/** Where settings and the demo store live: `COPPICE_CONFIG_DIR`, else the system's place for such files. */
export function configFolder(): string {
  const chosen = process.env["COPPICE_CONFIG_DIR"];
  if (chosen) return chosen;
  if (process.platform === "darwin") return join(homedir(), "Library", "Application Support", "Coppice");
  if (process.platform === "win32") return join(process.env["APPDATA"] ?? join(homedir(), "AppData", "Roaming"), "Coppice");
  return join(process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "coppice");
}

/** Builds `out/` when it is missing or older than the sources. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { writeLibraryTypes } from "./library-types.ts";
import { ROOT, run, runTool } from "./run.ts";

const SOURCES = ["src-shared", "src-main", "src-renderer", "electron.vite.config.ts", "package.json", "package-lock.json"];
const STAMP = join(ROOT, "out", "bundles.sha256");
const PROOF = ["out/main/web.js", "out/main/electron.js", "out/preload/bridge.cjs", "out/renderer/index.html", "out/library"];

/** The addon (skipped with a message where there is no compiler), the bundles and the library's types; false when the app cannot run. */
export async function buildWhatIsMissing(): Promise<boolean> {
  const native = await run(process.execPath, [join(ROOT, "build/build-native.ts")]);
  if (native !== 0) return false;
  const sources = hashSources();
  if (PROOF.every((path) => existsSync(join(ROOT, path))) && existsSync(STAMP) && readFileSync(STAMP, "utf8") === sources) return true;
  console.log("Building the app (10 s) …");
  const built = await runTool("electron-vite/bin/electron-vite.js", ["build", "--logLevel", "warn"]);
  if (built !== 0) return false;
  mkdirSync(join(ROOT, "out"), { recursive: true });
  // The app runs without the library's types: a mistake in them is shown, and met again at the next start.
  if (await writeLibraryTypes()) writeFileSync(STAMP, sources);
  return true;
}

/** By content: a fresh clone and a switched branch have times that mean nothing. */
function hashSources(): string {
  const hash = createHash("sha256");
  for (const path of SOURCES.flatMap((source) => listFiles(join(ROOT, source))))
    hash.update(`${path}\0`).update(readFileSync(path)).update("\0");
  return hash.digest("hex");
}

function listFiles(path: string): string[] {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .toSorted()
    .flatMap((name) => listFiles(join(path, name)));
}

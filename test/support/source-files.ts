import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

export const ROOT = join(import.meta.dirname, "..", "..");

export interface SourceFile {
  /** From the project's root, with "/". */
  readonly path: string;
  readonly text: string;
}

/** Text files under a folder of the project whose names match, sorted by path. */
export function readSources(folder: string, name: RegExp): SourceFile[] {
  return list(join(ROOT, folder))
    .filter((path) => name.test(path))
    .map((path) => ({ path: relative(ROOT, path).replaceAll("\\", "/"), text: readFileSync(path, "utf8") }));
}

function list(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return statSync(path, { throwIfNoEntry: false }) ? [path] : [];
  return readdirSync(path)
    .toSorted()
    .flatMap((name) => list(join(path, name)));
}

/** The modules that a file names in its imports, as written. */
export function importsOf({ text }: SourceFile): string[] {
  return [...text.matchAll(/(?:^|\n)\s*(?:import|export)\s[^;]*?from\s*"([^"]+)"|import\s*\(\s*"([^"]+)"|(?:^|\n)import\s*"([^"]+)"/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? "",
  );
}

/**
 * The library's types for other packages. What `tsc` writes refers to `#shared/…` and to files that end in `.ts`, which
 * only we can follow; the copies in `out/library` refer to each other. They are those that the entry reaches.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { ROOT, runTool } from "./run.ts";

const ENTRY = "src-main/engine/store.ts";
const TARGET = join(ROOT, "out/library");
const OUR_SPECIFIER = /(?<=\bfrom "|\bimport\(")((?:#shared|#engine|\.\.?)\/[^"]+)(?=")/g;

/** Writes `out/library`; false when the engine's types do not compile. */
export async function writeLibraryTypes(): Promise<boolean> {
  if ((await runTool("typescript/bin/tsc", ["-b", "build/tsconfig.engine.json"])) !== 0) return false;
  rmSync(TARGET, { recursive: true, force: true });
  const sources = new Set([ENTRY]);
  for (const source of sources) {
    const types = readFileSync(writtenFor(source), "utf8").replace(OUR_SPECIFIER, (specifier: string) => {
      const used = sourceOf(specifier, source);
      sources.add(used);
      return toOther(source, used);
    });
    const copy = join(TARGET, declarationOf(source));
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, types);
  }
  return true;
}

/** Where `tsc -b` puts the types of a source, by the project that it belongs to. */
function writtenFor(source: string): string {
  return join(ROOT, "out/types", source.startsWith("src-shared/") ? "shared" : "engine", declarationOf(source));
}

function declarationOf(source: string): string {
  return source.replace(/\.ts$/, ".d.ts");
}

/** The file a specifier means, from the project's root. */
function sourceOf(specifier: string, user: string): string {
  if (specifier.startsWith("#shared/")) return specifier.replace("#shared", "src-shared");
  if (specifier.startsWith("#engine/")) return specifier.replace("#engine", "src-main/engine");
  return posix.join(posix.dirname(user), specifier);
}

function toOther(user: string, used: string): string {
  const path = posix.relative(posix.dirname(user), used).replace(/\.ts$/, ".js");
  return path.startsWith(".") ? path : `./${path}`;
}

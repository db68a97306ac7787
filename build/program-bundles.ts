/**
 * How the programs of `src-main` are bundled, for the sake of a cold start. A command that makes one commit used to take
 * four times as long as an empty Node, nearly all of it to find, link and compile modules. Four things made it less:
 *
 * - **CommonJS.** An ES module that imports one of Node's own unfolds all that this exports, with the streams, workers
 *   and consoles behind it, and each file of it is found and linked by itself. A `require` does neither.
 * - **Deferred imports.** What Node brings is loaded when it is first used: a fork hashes nothing, but node:crypto, made
 *   ready for it, took longer than the fork.
 * - **Few files.** Modules that are always loaded together stand in one file.
 * - **Nothing that nobody reads**: comments and spaces go. Names stay, because stacks show them.
 */
import type { Plugin, Rolldown } from "vite";

/** As the bundler writes an import of a module of Node's: the name, and the line that makes up a default export. */
const IMPORT = /^let (\w+) = require\("(node:[\w/]+)"\);\n(\1 = [\w.]+\(\1(?:, 1)?\);\n)?/gm;

/** `code` with each module of Node's behind a function that loads it. Lines stay where they are. */
export function deferImports(code: string): string {
  const imports = [...code.matchAll(IMPORT)].map(([, name = "", , second]) => ({ name, hasDefault: second !== undefined }));
  let deferred = code.replace(IMPORT, (_, name: string, module: string, second: string | undefined) => {
    const line = `let ${name}$loaded; const ${name}$load = () => (${name}$loaded ??= require("${module}"));\n`;
    return second === undefined ? line : `${line}\n`;
  });
  for (const { name, hasDefault } of imports) {
    // In parentheses, because `new load().Worker()` would make a new `load`.
    deferred = deferred.replaceAll(new RegExp(String.raw`\b${name}\.(default\b)?`, "g"), (_, isDefault?: string) =>
      isDefault === undefined || !hasDefault ? `(${name}$load()).${isDefault ?? ""}` : `(${name}$load())`,
    );
    if (new RegExp(String.raw`\b${name}\b(?!\$)`).test(deferred)) throw new Error(`${name} is used in a way that cannot be deferred`);
  }
  return deferred;
}

export function programBundles(): Plugin {
  return {
    name: "program-bundles",
    renderChunk: (code) => ({ code: deferImports(code), map: null }),
    generateBundle() {
      // The package around it says that files are ES modules.
      this.emitFile({ type: "asset", fileName: "package.json", source: `${JSON.stringify({ type: "commonjs" })}\n` });
    },
  };
}

/** The entries whose modules decide what stands together, by absolute path. */
export interface Entries {
  /** Programs that show screens and leave the engine to a worker. */
  readonly hosts: readonly string[];
  /** The engine, as the library and the command line have it. */
  readonly engine: string;
  /** Children that need a part of the engine. */
  readonly children: readonly string[];
  /** What the command line adds to the engine. */
  readonly commands: string;
}

type ModuleInfo = (id: string) => { readonly importedIds: readonly string[] } | null;

/**
 * Puts what is loaded together into one file: what hosts and the engine share, what the engine and its children share, the
 * rest of the engine, the rest of the command line. What is imported on demand is in none of them.
 */
export function groupModules(entries: Entries): Rolldown.CodeSplittingOptions {
  const reached = new Map<string, ReadonlySet<string>>();
  const nameOf = (id: string, info: ModuleInfo): string | null => {
    const isIn = (entry: string) => remembered(reached, entry, () => followImports(entry, info)).has(id);
    const inEngine = isIn(entries.engine);
    if (!inEngine && !isIn(entries.commands)) return null;
    if (entries.hosts.some(isIn)) return "base";
    if (!inEngine) return "commands";
    return entries.children.some(isIn) ? "files" : "engine";
  };
  const groups = ["base", "files", "engine", "commands"].map((name, index) => ({
    name: (id: string, context: { getModuleInfo: ModuleInfo }) =>
      nameOf(id, (each) => context.getModuleInfo(each)) === name ? name : null,
    // A group takes along what its modules import, unless one of higher priority has it.
    priority: 10 - index,
  }));
  return { groups };
}

/** `entry` and everything that it loads at once. */
function followImports(entry: string, info: ModuleInfo): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [entry];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    open.push(...(info(id)?.importedIds ?? []));
  }
  return found;
}

function remembered<T>(known: Map<string, T>, key: string, make: () => T): T {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

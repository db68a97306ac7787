/** Rules of the source tree that neither the compiler nor the linter can say. */
import { posix } from "node:path";
import { expect, test } from "vitest";
import { ERROR_CODES } from "#shared/error-codes.ts";
import { importsOf, readSources, type SourceFile } from "../support/source-files.ts";

const SOURCES = ["src-shared", "src-main", "src-renderer", "bench"].flatMap((folder) => readSources(folder, /\.tsx?$/));
const TESTS = readSources("test", /\.(test|spec)\.tsx?$/);
const OURS = [
  ...SOURCES,
  ...readSources("test", /\.(tsx?|mjs)$/),
  ...readSources("build", /\.ts$/),
  ...readSources("native/src", /\.(cc|h)$/),
];
const TIDY = "test/tidy/tidy.test.ts";

/** Where an import of ours leads, from the project's root; null for packages. */
function target(file: SourceFile, name: string): string | null {
  if (name.startsWith("#shared/")) return name.replace("#shared", "src-shared");
  if (name.startsWith("#engine/")) return name.replace("#engine", "src-main/engine");
  if (name.startsWith("#bench/")) return name.replace("#bench", "bench");
  if (name.startsWith("#host/")) return name.replace("#host", "src-main/host");
  return name.startsWith(".") ? posix.join(posix.dirname(file.path), name) : null;
}

function layerOf(path: string): string | undefined {
  return /^src-main\/engine\/([^/]+)\//.exec(path)?.[1];
}

/** The part of the program that a file belongs to. */
function folderOf(path: string): string {
  return /^(?:src-main\/)?([^/]+)\//.exec(path)?.[1] ?? "";
}

function codesWithout(files: readonly SourceFile[]): string[] {
  return Object.keys(ERROR_CODES).filter((code) => !files.some((file) => file.text.includes(`"${code}"`)));
}

test("TIDY-1: inside the engine, imports go one way", () => {
  const order = ["io", "format", "objects", "segments", "catalog", "transfer", "checkouts", "branches", "diff", "query", "upkeep", "demo"];
  // The shapes of records are the catalog's interface, and what a store can do is the engine's.
  const interfaces = new Set(["src-main/engine/catalog/records.ts", "src-main/engine/store-api.ts"]);
  const wrong: string[] = [];
  for (const file of SOURCES) {
    const layer = layerOf(file.path);
    if (layer === undefined) continue;
    for (const path of importsOf(file).map((name) => target(file, name))) {
      if (path === null || interfaces.has(path) || path.startsWith("src-shared/")) continue;
      const other = layerOf(path);
      if (other === undefined || order.indexOf(other) > order.indexOf(layer)) wrong.push(`${file.path} imports ${path}`);
    }
    expect(order, file.path).toContain(layer);
  }
  expect(wrong).toEqual([]);
});

test("TIDY-11: benchmarks stand between engine and host, and the engine knows nothing of them", () => {
  const below: Readonly<Record<string, readonly string[]>> = {
    "src-shared": ["src-shared"],
    engine: ["src-shared", "engine"],
    bench: ["src-shared", "engine", "bench"],
    host: ["src-shared", "engine", "bench", "host"],
    "src-renderer": ["src-shared", "src-renderer"],
  };
  // The entry of `npm run bench` is the command line's.
  const files = SOURCES.filter(({ path }) => path !== "bench/run.ts");
  const wrong = files.flatMap((file) =>
    importsOf(file).flatMap((name) => {
      const path = target(file, name);
      const allowed = below[folderOf(file.path)];
      return path !== null && allowed && !allowed.includes(folderOf(path)) ? [`${file.path} imports ${path}`] : [];
    }),
  );
  expect(wrong).toEqual([]);
});

test("TIDY-2: no file is longer than 500 lines", () => {
  expect(OURS.filter((file) => file.text.split("\n").length > 501).map((file) => file.path)).toEqual([]);
});

test("TIDY-3: no barrels", () => {
  expect(SOURCES.filter((file) => /^export \* from/m.test(file.text) || /\/index\.tsx?$/.test(file.path)).map((file) => file.path)).toEqual(
    [],
  );
});

test("TIDY-4: one file touches ipcMain", () => {
  expect(SOURCES.filter((file) => /import \{[^}]*\bipcMain\b/.test(file.text)).map((file) => file.path)).toEqual([
    "src-main/electron/ipc.ts",
  ]);
});

test("TIDY-5: every source file is part of a program", () => {
  const config = readSources("electron.vite.config.ts", /./)[0]?.text ?? "";
  const entries = [...config.matchAll(/"((?:src-main|bench)\/[^"]+\.ts)"/g)].map((match) => match[1] ?? "");
  const byPath = new Map(SOURCES.map((file) => [file.path, file]));
  const reached = new Set<string>();
  const visit = (path: string) => {
    const file = byPath.get(path);
    if (!file || reached.has(path)) return;
    reached.add(path);
    for (const name of importsOf(file)) {
      const next = target(file, name);
      if (next !== null) visit(next);
    }
  };
  for (const entry of [
    ...entries,
    "src-renderer/main.tsx",
    "bench/run.ts",
    "bench/diff/figures.ts",
    "bench/usage/figures.ts",
    "bench/query/figures.ts",
  ])
    visit(entry);
  expect(SOURCES.map((file) => file.path).filter((path) => !reached.has(path) && !path.endsWith(".d.ts"))).toEqual([]);
});

test("TIDY-6: every rule has a test that begins with it, and every such test a rule", () => {
  const rules = [...readSources("docs/SPEC.md", /./), ...readSources("docs/spec", /\.md$/)].flatMap(({ text }) =>
    [...text.matchAll(/^\s*- \*\*([A-Z]+-\d+)\*\*/gm)].map((match) => match[1] ?? ""),
  );
  const tested = TESTS.flatMap(({ text }) => [...text.matchAll(/["'`]([A-Z]+-\d+)[:, ]/g)].map((match) => match[1] ?? ""));
  const [ruleSet, testSet] = [new Set(rules), new Set(tested)];
  expect({
    untested: [...ruleSet].filter((rule) => !testSet.has(rule)),
    unwritten: [...testSet].filter((rule) => !ruleSet.has(rule)),
    twice: [...ruleSet].filter((rule) => rules.filter((other) => other === rule).length > 1),
  }).toEqual({ untested: [], unwritten: [], twice: [] });
});

test("TIDY-7: every error code can occur and is expected by a test", () => {
  const code = SOURCES.filter((file) => file.path.startsWith("src-main/") || file.path === "src-renderer/api/web-transport.ts");
  const tests = readSources("test", /\.tsx?$/).filter((file) => file.path !== TIDY);
  expect({ unused: codesWithout(code), untested: codesWithout(tests) }).toEqual({ unused: [], untested: [] });
});

test("TIDY-8: nothing unfinished, and no path of one machine, is left in the project", () => {
  const words = /\b(TODO|FIXME|HACK|XXX)\b|not implemented|(?<!\w)\/work\/(?:main|shared)\b|\.\.\/shared\/(?:design|reference)/i;
  const texts = [...OURS, ...readSources("docs", /\.md$/), ...readSources(".ci", /./)].filter((file) => file.path !== TIDY);
  expect(texts.flatMap((file) => (words.test(file.text) ? [`${file.path}: ${words.exec(file.text)?.[0]}`] : []))).toEqual([]);
});

test("TIDY-9: the lock file names no servers", () => {
  expect(/"resolved"/.exec(readSources("package-lock.json", /./)[0]?.text ?? "")?.[0]).toBeUndefined();
});

test("TIDY-10: what the app needs when it runs, and nothing else, is a dependency", () => {
  const manifest = JSON.parse(readSources("package.json", /./)[0]?.text ?? "{}") as {
    dependencies: Record<string, string>;
    allowScripts: Record<string, boolean>;
  };
  expect(Object.keys(manifest.dependencies)).toEqual(["better-sqlite3"]);
  expect([...new Set(Object.values(manifest.allowScripts))]).toEqual([false]);
});

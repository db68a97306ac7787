import { resolve } from "node:path";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "electron-vite";
import { groupModules, programBundles } from "./build/program-bundles.ts";

const at = (path: string) => resolve(import.meta.dirname, path);

/** Every program of ours, by the name of its bundle. */
const PROGRAMS = {
  electron: "src-main/electron/main.ts",
  web: "src-main/web/main.ts",
  cli: "src-main/cli/main.ts",
  "engine-worker": "src-main/host/engine-worker.ts",
  keeper: "src-main/engine/checkouts/keeper.ts",
  "query-child": "src-main/engine/query/query-child.ts",
  "bench-child": "src-main/host/bench-child.ts",
  "branchbench-sql": "bench/branchbench/branchbench-sql.ts",
  "micro-sql": "bench/micro/micro-sql.ts",
  "memory-child": "bench/goals/memory-child.ts",
  lib: "src-main/engine/store.ts",
};

const ENTRIES = {
  hosts: [at(PROGRAMS.electron), at(PROGRAMS.web)],
  engine: at(PROGRAMS.lib),
  children: [at(PROGRAMS.keeper), at(PROGRAMS["query-child"])],
  commands: at("src-main/cli/program.ts"),
};

export default defineConfig({
  main: {
    plugins: [programBundles()],
    build: {
      sourcemap: true,
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(PROGRAMS).map(([name, path]) => [name, at(path)])),
        // pg asks for its native client only when told to.
        external: [/\.node$/, "pg-native"],
        // The library is what its entry exports, whatever else stands in the same file.
        preserveEntrySignatures: "strict",
        output: {
          format: "cjs",
          // Flat, because workers and children are looked for beside the file that starts them.
          entryFileNames: "[name].js",
          chunkFileNames: "[name]-[hash].js",
          minify: { compress: { keepNames: { function: true, class: true } }, mangle: { keepNames: true }, codegen: true },
          codeSplitting: groupModules(ENTRIES),
        },
      },
    },
  },
  preload: {
    build: {
      sourcemap: true,
      externalizeDeps: false,
      // A sandboxed preload must be one CommonJS file.
      rolldownOptions: { input: { bridge: at("src-main/preload/bridge.ts") }, output: { format: "cjs", entryFileNames: "[name].cjs" } },
    },
  },
  renderer: {
    root: at("src-renderer"),
    plugins: [react(), tailwindcss()],
    server: { host: "127.0.0.1", port: 5273, strictPort: true },
    build: {
      sourcemap: true,
      minify: true,
      // The pages' CSP allows no data: URLs for fonts.
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 1_500,
      rolldownOptions: { input: { index: at("src-renderer/index.html") }, checks: { bundlerTimings: false } },
    },
  },
});

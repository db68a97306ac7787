/**
 * The figures that Coppice has to reach, each next to a limit that is measured in the same run on the same disk.
 *
 *   npm run bench [-- [SUITE…] [--dir FOLDER]]     FOLDER: on the disk to measure; default: the system's temporary folder
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, release, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { inspectFilesystem } from "#engine/io/filesystem.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { checkoutSuite, rollbackSuite } from "./suites/checkout.ts";
import { crashSuite } from "./suites/crash.ts";
import { forkSuite } from "./suites/fork.ts";
import { growthSuite } from "./suites/growth.ts";
import { importSuite } from "./suites/import.ts";
import { cliSuite, listSuite } from "./suites/program.ts";
import { Bench, type Suite } from "./support.ts";

const SUITES: readonly Suite[] = [forkSuite, growthSuite, listSuite, cliSuite, checkoutSuite, rollbackSuite, importSuite, crashSuite];

const { values, positionals } = parseArgs({ allowPositionals: true, options: { dir: { type: "string" } } });
const unknown = positionals.filter((name) => !SUITES.some((suite) => suite.name === name));
if (unknown.length > 0) {
  console.error(`There is no suite ${unknown.join(", ")}. Suites: ${SUITES.map((suite) => suite.name).join(", ")}`);
  process.exit(2);
}
const bench = new Bench(mkdtempSync(join(values.dir ?? tmpdir(), "coppice-bench-")));
const native = loadNative();
const { type } = inspectFilesystem(bench.folder, { disk: nodeDisk, native });
console.log(
  `${new Date().toISOString()}  Node ${process.version}, Linux ${release()}, ${cpus().length} × ${cpus()[0]?.model ?? "?"}, ${type}, native code: ${native.kind}`,
);
try {
  for (const suite of SUITES) {
    if (positionals.length > 0 && !positionals.includes(suite.name)) continue;
    console.log(`\n${suite.name}: ${suite.about}   [load ${loadavg()[0]?.toFixed(1)}]`);
    await suite.run(bench);
  }
} finally {
  rmSync(bench.folder, { recursive: true, force: true });
}
if (bench.missed.length > 0) console.log(`\n${bench.missed.length} missed:\n  ${bench.missed.join("\n  ")}`);

/** Memory of an import: a process of its own imports, and tells the most it ever held. */
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import type { Suite } from "../support.ts";

const MEGABYTES = 4096;
/** What is shipped, when it was built: run from source, Node's type stripper alone takes 40 MB. */
const BUNDLE = join(import.meta.dirname, "../../out/main/lib.js");
const ENGINE = existsSync(BUNDLE) ? BUNDLE : join(import.meta.dirname, "../../src-main/engine/store.ts");

export const importSuite: Suite = {
  name: "import",
  about: "import of 4 GB: the most memory that the engine's process and its helper ever hold; time against cp of the file",
  async run(bench) {
    bench.say(`  (with ${relative(process.cwd(), ENGINE)})`);
    const source = bench.database(MEGABYTES);
    const copyStart = performance.now();
    spawnSync("cp", [source, bench.path("copy.db")], { stdio: "inherit" });
    const copyMs = performance.now() - copyStart;
    spawnSync("rm", [bench.path("copy.db")]);
    const child = spawnSync(process.execPath, [join(import.meta.dirname, "import-child.mjs"), ENGINE, bench.path("import"), source], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    const found = JSON.parse(child.stdout) as { engineMB: number; helperMB: number; ms: number; storedBytes: number };
    bench.figure("import, 4 GB: most memory of the engine's process", found.engineMB, "MB", { most: 200 });
    bench.figure("import, 4 GB: most memory of its helper", found.helperMB, "MB", { most: 200 });
    bench.figure("import, 4 GB: time", found.ms / 1000, "s");
    bench.figure("import, 4 GB: time against cp of the file", found.ms / copyMs, "×");
    bench.figure("import, 4 GB: stored against imported", found.storedBytes / statSync(source).size, "×");
    spawnSync("rm", ["-r", bench.path("import")]);
  },
};

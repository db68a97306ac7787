/** What the counters of `work.test.ts` cannot see: the calls that SQLite makes itself. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeNotes, temporaryFolder } from "../support/stores.ts";

const hasStrace = process.platform === "linux" && spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;
const FORKS = 20;

test.runIf(hasStrace)("WORK-1: a fork is one fdatasync, SQLite's own ones counted; nothing is created", () => {
  const folder = temporaryFolder();
  const source = makeNotes(join(folder, "notes.db"));
  const script = join(folder, "forks.ts");
  writeFileSync(
    script,
    `import { existsSync } from "node:fs";
     import { createStore } from ${JSON.stringify(join(import.meta.dirname, "../../src-main/engine/store.ts"))};
     const store = await createStore(process.argv[2], { actor: "anna", ownProcess: true });
     await store.create({ database: "shop", from: process.argv[3] });
     const fork = (name: string) => store.fork({ database: "shop", branch: "main", newBranch: name });
     for (let warm = 0; warm < 5; warm += 1) await fork("warm-" + warm);
     existsSync("/begin-of-the-forks");
     for (let count = 0; count < ${FORKS}; count += 1) await fork("f-" + count);
     existsSync("/end-of-the-forks");
     await store.close();`,
  );
  const log = join(folder, "calls");
  const traced = "trace=fsync,fdatasync,access,faccessat,faccessat2,openat,creat,rename,renameat,renameat2,ftruncate";
  const { status, stderr } = spawnSync("strace", ["-f", "-e", traced, "-o", log, process.execPath, script, join(folder, "store"), source], {
    encoding: "utf8",
  });
  expect(`${status} ${stderr.replace(/strace: .*\n/g, "")}`).toBe("0 ");
  const lines = readFileSync(log, "utf8").split("\n");
  const between = lines.slice(
    lines.findIndex((line) => line.includes("begin-of-the-forks")) + 1,
    lines.findIndex((line) => line.includes("end-of-the-forks")),
  );
  const count = (call: RegExp) => between.filter((line) => call.test(line)).length;
  expect(count(/ f(?:data)?sync\(/)).toBe(FORKS);
  expect(count(/ (?:creat|rename\w*|ftruncate)\(|O_CREAT/)).toBe(0);
});

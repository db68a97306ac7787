import { once } from "node:events";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { loadNative } from "#engine/io/load-native.ts";
import { startScript } from "../../support/run-script.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";

const ROOT = join(import.meta.dirname, "../../..");

const url = JSON.stringify(new URL("../../../src-main/engine/io/load-native.ts", import.meta.url).href);
const PRINT = `
  import { loadNative } from ${url};
  const native = loadNative();
  const page = new Uint8Array(4096).fill(7);
  const text = JSON.stringify({ kind: native.kind, problem: native.problem, hash: Buffer.from(native.hashPages(page, 4096)).toString("hex"), facilities: native.facilities().map(({ name }) => name) });
`;

test("NATIVE-7: where the addon is asked for, it is loaded", ({ skip }) => {
  if (!(process.env["COPPICE_REQUIRE"] ?? "").split(",").includes("addon")) skip();
  expect(loadNative()).toMatchObject({ kind: "addon", problem: null });
});

test("NATIVE-8: switched off, the fallback says why and gives the same hashes", async () => {
  const outputs = [];
  for (const environment of [{}, { COPPICE_NATIVE: "off" }]) {
    const script = startScript(`${PRINT} console.log(text);`, environment);
    outputs.push(JSON.parse(await script.nextLine()) as { kind: string; problem: string; hash: string; facilities: string[] });
    expect(await script.end()).toBe(0);
  }
  expect(outputs[1]).toMatchObject({ kind: "fallback", problem: expect.stringContaining("COPPICE_NATIVE") as string });
  expect(outputs[1]?.hash).toBe(outputs[0]?.hash);
  expect(outputs[1]?.facilities).toEqual(outputs[0]?.facilities);
});

test("NATIVE-9: several workers use it at once, and come and go", async () => {
  const source = `data:text/javascript,${encodeURIComponent(`${PRINT} import { parentPort } from "node:worker_threads"; const large = new Uint8Array(16 * 2 ** 20); for (let n = 0; n < 2; n += 1) native.hashPages(large, 4096); parentPort.postMessage(text);`)}`;
  const own = Buffer.from(loadNative().hashPages(new Uint8Array(4096).fill(7), 4096)).toString("hex");
  for (let round = 0; round < 2; round += 1) {
    const workers = Array.from({ length: 2 }, () => new Worker(new URL(source)));
    for (const [text] of (await Promise.all(workers.map((worker) => once(worker, "message")))) as [string][]) {
      expect(JSON.parse(text)).toMatchObject({ kind: loadNative().kind, hash: own });
    }
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
});

test("NATIVE-8: an addon that is missing, broken or of other sources is not used", async () => {
  const folder = makeTemporaryFolder();
  const project = join(folder, "project");
  cpSync(join(ROOT, "src-main/engine/io"), join(project, "src-main/engine/io"), { recursive: true });
  cpSync(join(ROOT, "src-shared"), join(project, "src-shared"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(project, "package.json"));
  const release = join(project, "native/build/Release");
  mkdirSync(release, { recursive: true });
  const script = `
    import { loadNative } from ${JSON.stringify(pathToFileURL(join(project, "src-main/engine/io/load-native.ts")).href)};
    const native = loadNative();
    console.log(native.kind + ": " + native.problem + ": " + native.hashPages(new Uint8Array(512), 512).length);
  `;
  const load = async (): Promise<string> => startScript(script).nextLine();
  expect(await load()).toBe("fallback: not built; `npm run native` builds it: 16");
  writeFileSync(join(release, "coppice_native.node"), "no library");
  expect(await load()).toMatch(/^fallback: .*coppice_native\.node.*: 16$/);
});

/**
 * Imports one file into a new store with the engine in the given module, and prints what it took, as JSON. Plain
 * JavaScript: Node's type stripper alone would take 40 MB of what is measured.
 */
import { readdirSync, readFileSync } from "node:fs";

const [engine = "", spec = "", source = ""] = process.argv.slice(2);
const { createStore } = await import(engine);
const store = await createStore(spec, { actor: "bench" });
const start = performance.now();
const { storedBytes } = await store.create({ database: "big", from: source });
const ms = performance.now() - start;
const helpers = readdirSync(`/proc/${process.pid}/task`).flatMap((thread) => childrenOf(`/proc/${process.pid}/task/${thread}/children`));
const helperMB = Math.max(0, ...helpers.map(peakMB));
console.log(JSON.stringify({ engineMB: peakMB(process.pid), helperMB, ms, storedBytes }));
await store.close();

function childrenOf(path) {
  return readFileSync(path, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

/** The kernel's own high-water mark of what the process had in memory, in MiB. */
function peakMB(pid) {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/**
 * A process of its own that imports a file into a new store, or makes a branch's file, or opens a store and looks at its
 * list, and says what it took, as JSON. Arguments: import SPEC SOURCE, or checkout SPEC, or look SPEC.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createStore, openStore, type Store } from "#engine/store.ts";

const [what = "", spec = "", source = ""] = process.argv.slice(2);
const database = "shop";
const ROWS = 200;

async function work(store: Store): Promise<number> {
  if (what === "import") return (await store.create({ database, from: source })).storedBytes;
  if (what === "checkout") await store.checkout({ database, branch: "main" });
  else await store.branches({ database, limit: ROWS });
  return 0;
}

async function main(): Promise<void> {
  const store = await (what === "import" ? createStore : openStore)(spec, { actor: "bench" });
  try {
    const start = performance.now();
    const storedBytes = await work(store);
    const ms = performance.now() - start;
    const helpers = childrenOf(process.pid).map(peakBytes);
    console.log(JSON.stringify({ engineBytes: peakBytes(process.pid), helperBytes: Math.max(0, ...helpers), ms, storedBytes }));
  } finally {
    await store.close();
  }
}

/** Children of any thread of a process. */
function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number),
  );
}

/** The kernel's own high-water mark of what a process had in memory. */
function peakBytes(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}

void main();

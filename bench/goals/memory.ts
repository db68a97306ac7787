/** What a process of its own took for one piece of work. */
import { ownEntry } from "#engine/io/own-entry.ts";
import { describeBuilt, findBuilt, runNode } from "../common/child.ts";
import type { Bench } from "../suite.ts";

export interface Taken {
  /** Most that each ever had in memory. */
  readonly engineBytes: number;
  readonly helperBytes: number;
  readonly ms: number;
  readonly storedBytes: number;
}

/** `look` opens the store and reads its first page of branches. The built program is preferred, and the run says which it was. */
export async function runMemoryChild(bench: Bench, what: "import" | "checkout" | "look", store: string, source = ""): Promise<Taken> {
  const built = findBuilt("memory-child.js");
  bench.fact("memory measured of", built ? describeBuilt(built) : "the source: Node's type stripper alone takes about 40 MB");
  const output = await runNode(bench, [built ?? ownEntry(import.meta.dirname, "memory-child"), what, store, source]);
  return JSON.parse(output) as Taken;
}

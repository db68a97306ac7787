import { setImmediate as nextTurn } from "node:timers/promises";
import { EngineError } from "../io/errors.ts";
import type { Work } from "../segments/page-source.ts";

/** Work that also names what it is doing. */
export type PhasedWork = Work & { readonly phase?: ((name: string) => void) | undefined };

/** Lets the event loop turn, then throws `cancelled` when somebody asked for that. */
export async function breathe(work: Work): Promise<void> {
  await nextTurn();
  await work.giveWay?.();
  if (work.signal?.aborted) throw new EngineError("cancelled", "Cancelled", { untouched: "Nothing was changed." });
}

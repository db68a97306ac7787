/**
 * Which segments of a chain are merged. Counting versions along the chain from its base, a segment of level n ends at
 * every multiple of fan-in to the n and covers the `fanIn` segments of level n - 1 before it. Where a chain is counted
 * from is a matter of its ancestors alone, so all that descend from a version share its merged segments, and every
 * process that looks finds the same ones missing. No range reaches over a base.
 */
import { BASE_LEVEL } from "../catalog/records.ts";
import type { VersionNumber } from "#shared/ids.ts";

/** One segment of a chain, without its bytes. */
export interface ChainLink {
  readonly to: VersionNumber;
  readonly level: number;
  /** Null for a base. */
  readonly from: VersionNumber | null;
}

/** A segment to be made of others. */
export interface PlannedMerge {
  readonly to: VersionNumber;
  readonly from: VersionNumber;
  readonly level: number;
  /** Oldest first. They may be planned merges themselves, which come earlier in the plan. */
  readonly covers: readonly ChainLink[];
}

/** Merges that a chain lacks, in the order in which they can be made. `chain`: newest first, the highest levels. */
export function planMerges(chain: readonly ChainLink[], fanIn: number): PlannedMerge[] {
  const merges: PlannedMerge[] = [];
  /** Oldest first; `run` says how many at the end are of one level. */
  const stack: { readonly link: ChainLink; readonly run: number }[] = [];
  const push = (link: ChainLink): void => {
    const last = stack.at(-1);
    stack.push({ link, run: last?.link.level === link.level ? last.run + 1 : 1 });
  };
  for (const link of chain.toReversed()) {
    if (link.from === null) {
      stack.length = 0;
      continue;
    }
    push(link);
    for (let top = stack.at(-1); top && top.run >= fanIn && top.link.level + 1 < BASE_LEVEL; top = stack.at(-1)) {
      const covers = stack.splice(-fanIn).map((each) => each.link);
      const from = covers[0]?.from ?? null;
      if (from === null) break;
      const merged = { to: top.link.to, from, level: top.link.level + 1 };
      merges.push({ ...merged, covers });
      push(merged);
    }
  }
  return merges;
}

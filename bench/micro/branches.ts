/** The store that a microbenchmark begins with: so many branches in one of three shapes. */
import { Random } from "#shared/bench-random.ts";
import type { Store } from "#engine/store.ts";

export const DATABASE = "orders";
export const ROOT = "main";

/** `spine`: each branch forks the one before. `fan-out`: all fork the root. `bushy`: each forks a random one. */
export const SHAPES = ["spine", "fan-out", "bushy"] as const;
export type Shape = (typeof SHAPES)[number];

export interface BranchPlan {
  readonly count: number;
  readonly shape: Shape;
  readonly seed: number;
}

/** Names of the branches, the root first: `count` in all. `change` makes a version on a branch that was just forked. */
export async function makeBranches(
  store: Store,
  { count, shape, seed }: BranchPlan,
  { change, pause }: { readonly change: ((branch: string) => Promise<void>) | null; readonly pause: (made: number) => Promise<void> },
): Promise<string[]> {
  const random = new Random(seed, count);
  const names = [ROOT];
  while (names.length < count) {
    const parent = names[parentOf(shape, names.length, random)] ?? ROOT;
    const branch = `b${names.length}`;
    await store.fork({ database: DATABASE, branch: parent, newBranch: branch });
    await change?.(branch);
    names.push(branch);
    await pause(names.length);
  }
  return names;
}

/** First, middle and last of those there are, without repetition. */
export function firstMiddleLast(
  names: readonly string[],
): readonly { readonly place: "first" | "middle" | "last"; readonly branch: string }[] {
  return [
    { place: "first", branch: names[0] ?? ROOT },
    { place: "middle", branch: names[Math.floor(names.length / 2)] ?? ROOT },
    { place: "last", branch: names.at(-1) ?? ROOT },
  ];
}

function parentOf(shape: Shape, made: number, random: Random): number {
  if (shape === "spine") return made - 1;
  return shape === "fan-out" ? 0 : random.below(made);
}

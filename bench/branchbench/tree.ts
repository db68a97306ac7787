/**
 * The tree of branches that a run grows, and the rule by which a worker picks the branch to fork from. A node is a parent
 * only once its own step is finished; only live children count against its fan-out, so a pruned child frees its place.
 */
import type { Random } from "#shared/bench-random.ts";
import type { Parameters } from "./parameters.ts";

/**
 * `peer`: the worker's current node if it may have another child, else a random one that may, else the root all the same
 * (a fallback, counted). After a prune the current node is the pruned branch's parent.
 * `harness`: any node that may have another child, the root included, nodes of the deepest level too (so that children may
 * lie one level deeper); when there is none, the step is skipped.
 */
export type ParentRule = "peer" | "harness";

export interface Node {
  readonly branch: string;
  readonly depth: number;
  readonly parent: Node | null;
  liveChildren: number;
  /** Its step is running; its step is done, so that it can be a parent; its branch is gone. */
  state: "running" | "finished" | "pruned";
}

export class Tree {
  readonly root: Node;
  readonly #nodes: Node[];
  readonly #parameters: Parameters;
  readonly #rule: ParentRule;
  readonly #current = new Map<number, Node>();
  /** Steps that overfilled the root because no node could have another child. */
  fallbacks = 0;
  /** Steps that the harness's rule left out for the same reason. */
  skipped = 0;
  peakLive = 0;
  maxDepth = 0;
  #live = 0;

  constructor(root: string, parameters: Parameters, rule: ParentRule) {
    this.root = { branch: root, depth: 0, parent: null, liveChildren: 0, state: "finished" };
    this.#nodes = [this.root];
    this.#parameters = parameters;
    this.#rule = rule;
  }

  /** A new node for a worker's next step, its place under its parent taken; null when the step is to be skipped. */
  grow(worker: number, branch: string, random: Random): Node | null {
    const parent = this.#pickParent(worker, random);
    if (parent === null) {
      this.skipped += 1;
      return null;
    }
    parent.liveChildren += 1;
    const node: Node = { branch, depth: parent.depth + 1, parent, liveChildren: 0, state: "running" };
    this.#nodes.push(node);
    this.#live += 1;
    this.peakLive = Math.max(this.peakLive, this.#live);
    this.maxDepth = Math.max(this.maxDepth, node.depth);
    return node;
  }

  /** The step is done and its branch stays. */
  keep(worker: number, node: Node): void {
    node.state = "finished";
    this.#current.set(worker, node);
  }

  /** The branch is gone: pruned, or its step failed before it existed. */
  prune(worker: number, node: Node): void {
    node.state = "pruned";
    this.#live -= 1;
    if (node.parent === null) return;
    node.parent.liveChildren -= 1;
    this.#current.set(worker, node.parent);
  }

  /** Finished nodes with a live branch, the root first. */
  liveNodes(): Node[] {
    return this.#nodes.filter((node) => node.state === "finished");
  }

  liveLeaves(): Node[] {
    return this.liveNodes().filter((node) => node !== this.root && node.liveChildren === 0);
  }

  /** Live branches, those of running steps included and the root left out. */
  get live(): number {
    return this.#live;
  }

  #pickParent(worker: number, random: Random): Node | null {
    const current = this.#current.get(worker) ?? this.root;
    if (this.#rule === "peer" && this.#mayHaveChild(current)) return current;
    const able = this.#nodes.filter((node) => this.#mayHaveChild(node));
    const picked = able[random.below(able.length)];
    if (picked) return picked;
    if (this.#rule === "harness") return null;
    this.fallbacks += 1;
    return this.root;
  }

  #mayHaveChild(node: Node): boolean {
    const { rootFanout, innerFanout, depth } = this.#parameters;
    if (node.state !== "finished") return false;
    const isShallowEnough = this.#rule === "peer" ? node.depth < depth : node.depth <= depth;
    return isShallowEnough && node.liveChildren < (node === this.root ? rootFanout : innerFanout);
  }
}

/** Which refs operations moved, to tell whether one stands in another's way. */
import type { BranchId, DatabaseId } from "#shared/ids.ts";
import type { Move, OperationRecord } from "./records.ts";

const ALL = "all";

/**
 * A growing set of refs. A branch's state stands for all its refs (nothing of a branch moves while it is in the trash),
 * a database's state for all that is in the database.
 */
export class TouchedRefs {
  readonly #branches = new Map<BranchId, Set<string>>();
  readonly #newBranches: { readonly first: number; readonly count: number }[] = [];
  readonly #databases = new Map<DatabaseId, Set<string>>();

  add(operation: OperationRecord): void {
    if (operation.newBranches) this.#newBranches.push(operation.newBranches);
    if (operation.newDatabase !== null) keysOf(this.#databases, operation.newDatabase).add(ALL);
    for (const move of operation.moves) {
      if ("branch" in move) keysOf(this.#branches, move.branch).add(refKey(move));
      else keysOf(this.#databases, move.database).add(refKey(move));
    }
  }

  meets(operation: OperationRecord): boolean {
    const { database, newBranches, newDatabase, moves } = operation;
    if (database !== null && this.#databases.get(database)?.has(ALL)) return true;
    if (newDatabase !== null && this.#databases.has(newDatabase)) return true;
    if (newBranches && this.#meetsNew(newBranches)) return true;
    return moves.some((move) => ("branch" in move ? this.#meetsBranch(move.branch, refKey(move)) : this.#meetsDatabase(move)));
  }

  #meetsNew({ first, count }: { readonly first: number; readonly count: number }): boolean {
    for (const branch of this.#branches.keys()) if (branch >= first && branch < first + count) return true;
    return this.#newBranches.some((range) => range.first < first + count && first < range.first + range.count);
  }

  #meetsBranch(branch: BranchId, key: string): boolean {
    const keys = this.#branches.get(branch);
    if (keys && (key === ALL || keys.has(key) || keys.has(ALL))) return true;
    return this.#newBranches.some(({ first, count }) => branch >= first && branch < first + count);
  }

  #meetsDatabase(move: Extract<Move, { readonly database: DatabaseId }>): boolean {
    const keys = this.#databases.get(move.database);
    return keys !== undefined && (refKey(move) === ALL || keys.has(refKey(move)));
  }
}

function keysOf<K>(map: Map<K, Set<string>>, key: K): Set<string> {
  let keys = map.get(key);
  if (!keys) map.set(key, (keys = new Set()));
  return keys;
}

function refKey(move: Move): string {
  if (move.ref === "branch-state" || move.ref === "database-state") return ALL;
  return move.ref === "checkpoint" ? `checkpoint ${move.name}` : move.ref;
}

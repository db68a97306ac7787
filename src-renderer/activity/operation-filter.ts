/** Filtering of the operation log: text and kind are matched here, database and actor by the store. */
import type { OperationKind, OperationView } from "#shared/views.ts";

export interface OperationFilter {
  readonly text: string;
  readonly group: OperationGroup | "all";
  readonly database: string | null;
  readonly actor: string | null;
}

/** Kinds as people look for them. */
export type OperationGroup = "create" | "save" | "move" | "delete" | "settings" | "undo";

const GROUPS: Readonly<Record<OperationKind, OperationGroup>> = {
  "create-database": "create",
  fork: "create",
  restore: "create",
  "restore-database": "create",
  checkpoint: "save",
  autosave: "save",
  rollback: "move",
  promote: "move",
  "drop-database": "delete",
  destroy: "delete",
  expire: "delete",
  purge: "delete",
  "delete-checkpoint": "delete",
  rename: "settings",
  "rename-database": "settings",
  "rename-checkpoint": "settings",
  protect: "settings",
  unprotect: "settings",
  touch: "settings",
  "set-meta": "settings",
  undo: "undo",
  redo: "undo",
};

export const GROUP_WORDS: readonly { readonly group: OperationGroup; readonly word: string }[] = [
  { group: "create", word: "Created" },
  { group: "save", word: "Saved" },
  { group: "move", word: "Moved" },
  { group: "delete", word: "Deleted" },
  { group: "settings", word: "Changed" },
  { group: "undo", word: "Undo" },
];

export function operationGroup(kind: OperationKind): OperationGroup {
  return GROUPS[kind];
}

/** Every word of `text` must occur in the summary, the names, the actor or the number. */
export function matchesOperation(operation: OperationView, filter: OperationFilter): boolean {
  if (filter.group !== "all" && operationGroup(operation.kind) !== filter.group) return false;
  if (filter.database !== null && operation.database !== filter.database) return false;
  if (filter.actor !== null && operation.actor !== filter.actor) return false;
  const words = filter.text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word.length > 0);
  if (words.length === 0) return true;
  const haystack =
    `${operation.summary} ${operation.kind} ${operation.database} ${operation.branch ?? ""} ${operation.actor} #${operation.id}`.toLowerCase();
  return words.every((word) => haystack.includes(word));
}

export function isFiltering(filter: OperationFilter): boolean {
  return filter.text.trim() !== "" || filter.group !== "all" || filter.database !== null || filter.actor !== null;
}

/** How many of `operations` each group would keep, the other conditions being as they are. */
export function countGroups(operations: readonly OperationView[], filter: OperationFilter): ReadonlyMap<OperationGroup | "all", number> {
  const counts = new Map<OperationGroup | "all", number>([["all", 0]]);
  for (const operation of operations) {
    if (!matchesOperation(operation, { ...filter, group: "all" })) continue;
    const group = operationGroup(operation.kind);
    counts.set("all", (counts.get("all") ?? 0) + 1);
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  return counts;
}

/** Actors in order of first appearance, for the actor menu. */
export function listActors(operations: readonly OperationView[]): string[] {
  return [...new Set(operations.map((operation) => operation.actor))];
}

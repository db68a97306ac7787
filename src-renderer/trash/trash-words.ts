import type { TrashView } from "#shared/views.ts";

const REASONS: Readonly<Record<TrashView["reason"], string>> = {
  destroy: "Deleted",
  drop: "Database dropped",
  expire: "Expired",
  undo: "Undone",
};

export function reasonWord(reason: TrashView["reason"]): string {
  return REASONS[reason];
}

/** One entry of the trash, unique among branches and databases. */
export function trashKey(entry: TrashView): string {
  return `${entry.kind}-${entry.id}`;
}

/** "attempt-1" of a database, or the database itself. */
export function trashPlace(entry: TrashView): string {
  return entry.kind === "branch" ? `${entry.database}@${entry.name}` : entry.name;
}

/** Every word of `text` must occur in the place, the actor or the reason. */
export function matchesTrash(entry: TrashView, text: string): boolean {
  const haystack = `${trashPlace(entry)} ${entry.kind} ${entry.actor} ${reasonWord(entry.reason)}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => haystack.includes(word));
}

/** A name to restore under when the old one is taken: "x-restored", "x-restored-2", … */
export function proposeRestoreName(name: string, taken: ReadonlySet<string>): string {
  const base = `${name}-restored`;
  if (!taken.has(base)) return base;
  for (let n = 2; ; n += 1) if (!taken.has(`${base}-${n}`)) return `${base}-${n}`;
}

import {
  ArrowUpRight,
  Bookmark,
  BookmarkX,
  Clock,
  Database,
  GitFork,
  Lock,
  LockOpen,
  PencilLine,
  Redo2,
  RotateCcw,
  Save,
  Tag,
  Trash2,
  Undo2,
  type LucideIcon,
} from "lucide-react";
import type { OperationKind } from "#shared/views.ts";

export const OPERATION_ICONS: Readonly<Record<OperationKind, LucideIcon>> = {
  "create-database": Database,
  "drop-database": Trash2,
  "restore-database": Database,
  "rename-database": PencilLine,
  fork: GitFork,
  checkpoint: Bookmark,
  autosave: Save,
  rollback: RotateCcw,
  promote: ArrowUpRight,
  destroy: Trash2,
  restore: Undo2,
  rename: PencilLine,
  protect: Lock,
  unprotect: LockOpen,
  touch: Clock,
  "set-meta": Tag,
  "rename-checkpoint": PencilLine,
  "delete-checkpoint": BookmarkX,
  expire: Clock,
  purge: Trash2,
  undo: Undo2,
  redo: Redo2,
};

/** Kinds that the screens call by another word than the log. */
const OWN_WORDS: { readonly [K in OperationKind]?: string } = { destroy: "Delete", touch: "Extend", "set-meta": "Set metadata" };

/** "create-database" → "Create database". */
export function operationWord(kind: OperationKind): string {
  const words = kind.replaceAll("-", " ");
  return OWN_WORDS[kind] ?? `${words[0]?.toUpperCase()}${words.slice(1)}`;
}

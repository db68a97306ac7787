/** Sides of a comparison in words. */
import type { DiffSideInput, DiffSideView } from "#shared/diff-views.ts";
import type { BranchView } from "#shared/views.ts";

export function sideName(side: DiffSideInput): string {
  return side.kind === "file" ? (side.path.split("/").at(-1) ?? side.path) : side.branch;
}

/** What comes behind the name: "@ seed", "@ head", ", with unsaved changes". */
export function sidePlace(side: DiffSideInput): string {
  if (side.kind === "file") return "file";
  if (side.kind === "unsaved") return "@ head, with unsaved changes";
  return `@ ${side.at ?? "head"}`;
}

export function sideText(side: DiffSideInput): string {
  return side.kind === "file" ? side.path : `${side.branch} ${sidePlace(side)}`;
}

/** Short form for headings of columns. */
export function sideLabel(side: DiffSideInput | null, view: DiffSideView | null): string {
  if (!side) return "";
  return view?.version == null ? sideText(side) : `${sideText(side)} (v${view.version})`;
}

/** What a branch changed since it was forked; for a branch without a parent there is no such pair. */
export function changesOfBranch(branch: BranchView): { readonly left: DiffSideInput; readonly right: DiffSideInput } | null {
  const { forkedFrom, database, name } = branch;
  if (!forkedFrom) return null;
  const left = { kind: "state", database, branch: forkedFrom.branch ?? name, at: `v${forkedFrom.version}` } as const;
  return { left, right: currentState(branch) };
}

/** The branch as its file has it. */
export function currentState(branch: BranchView): DiffSideInput {
  const on = { database: branch.database, branch: branch.name };
  const isUnsaved = branch.checkout.state === "unsaved" || branch.checkout.state === "conflict";
  return isUnsaved ? { kind: "unsaved", ...on } : { kind: "state", ...on };
}

/** What the file holds beyond the version that it was made from. */
export function unsavedChanges(branch: BranchView): { readonly left: DiffSideInput; readonly right: DiffSideInput } {
  const on = { database: branch.database, branch: branch.name };
  const base = branch.checkout.base ?? branch.head;
  return { left: { kind: "state", ...on, at: `v${base}` }, right: { kind: "unsaved", ...on } };
}

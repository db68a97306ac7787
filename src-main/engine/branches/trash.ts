/** Destroy, drop, restore, and TTL expiry: refs go to the trash and come back; bytes leave with a purge (upkeep/gc.ts). */
import type { RequestInput } from "#shared/contract.ts";
import type { BranchId, DatabaseId, UnixMs } from "#shared/ids.ts";
import type { OperationKind, TrashView, VerbResult } from "#shared/views.ts";
import type { BranchRecord, Move } from "../catalog/records.ts";
import { EngineError } from "../io/errors.ts";
import { verbResult } from "./branch-views.ts";
import { FilePlan } from "./file-plan.ts";
import { commit } from "./operation.ts";
import { newVersion, type Parts } from "./parts.ts";
import { findBranch, findDatabase, guardProtected } from "./resolve.ts";
import { unsavedWork, type HeldFile } from "./working-file.ts";

/** Names that a refusal lists. */
const NAMES_SHOWN_MAX = 5;

/** The branch goes to the trash; children keep what they have. Errors: `protected`, `checkout-busy`, `branch-not-found`. */
export async function destroy(parts: Parts, input: RequestInput<"branch.destroy">): Promise<VerbResult> {
  const place = findBranch(parts, input.database, input.branch);
  guardProtected(place, "destroy", input.force);
  const moves: Move[] = [{ ref: "branch-state", branch: place.branch.id, before: "live", after: "trashed" }];
  const plan = await FilePlan.prepare(parts, place.database, moves);
  try {
    const { versions, facts } = plan.draft;
    const operation = await commit(parts, "destroy", place, { moves, versions, facts });
    const { warnings } = await plan.carryOut(operation);
    return { ...verbResult(parts, operation, null), warnings };
  } finally {
    await plan.release();
  }
}

/** A whole database goes to the trash. Refused while one of its branches is protected, unless forced. */
export async function drop(parts: Parts, input: RequestInput<"database.drop">): Promise<VerbResult> {
  const database = findDatabase(parts, input.database);
  const guarded = parts.catalog.branches.protectedNames(database.id, NAMES_SHOWN_MAX);
  if (guarded.length > 0 && !input.force)
    throw new EngineError("protected", `Database "${database.name}" has protected branches: ${guarded.join(", ")}`, {
      hint: "Unprotect them first, or force it",
      untouched: `"${database.name}" is unchanged.`,
    });
  const moves: Move[] = [{ ref: "database-state", database: database.id, before: "live", after: "trashed" }];
  const plan = await FilePlan.prepare(parts, database, moves);
  try {
    const { versions, facts } = plan.draft;
    const operation = await commit(parts, "drop-database", { database }, { moves, versions, facts });
    const { warnings } = await plan.carryOut(operation);
    return { ...verbResult(parts, operation, null), warnings };
  } finally {
    await plan.release();
  }
}

/** Brings back what `trash` lists. Errors: `name-taken` (choose `as`), `branch-not-found`, `database-not-found`. */
export async function restore(parts: Parts, input: RequestInput<"branch.restore">): Promise<VerbResult> {
  return input.kind === "branch"
    ? restoreBranch(parts, input.id as BranchId, input.as)
    : restoreDatabase(parts, input.id as DatabaseId, input.as);
}

async function restoreBranch(parts: Parts, id: BranchId, as: string | undefined): Promise<VerbResult> {
  const branch = parts.catalog.branches.byId(id);
  const database = branch && parts.catalog.databases.byId(branch.database);
  if (!branch || branch.state !== "trashed" || !database) throw new EngineError("branch-not-found", `The trash holds no branch ${id}`);
  if (database.state === "trashed")
    throw new EngineError("database-not-found", `The database "${database.name}" of this branch is in the trash: restore it first`);
  const name = as ?? branch.name;
  if (parts.catalog.branches.byName(database.id, name))
    throw new EngineError("name-taken", `Database "${database.name}" has a live branch "${name}"`, {
      hint: "Restore it under another name",
      untouched: "Nothing was changed.",
      details: { name },
    });
  const rename: Move[] = name === branch.name ? [] : [{ ref: "branch-name", branch: id, before: branch.name, after: name }];
  const state: Move = { ref: "branch-state", branch: id, before: "trashed", after: "live" };
  const plan = await FilePlan.prepare(parts, database, [state]);
  const operation = await commit(parts, "restore", { database, branch }, { moves: [...rename, state] });
  const { warnings } = await plan.carryOut(operation);
  return { ...verbResult(parts, operation, { database, branch }), warnings };
}

async function restoreDatabase(parts: Parts, id: DatabaseId, as: string | undefined): Promise<VerbResult> {
  const database = parts.catalog.databases.byId(id);
  if (!database || database.state !== "trashed") throw new EngineError("database-not-found", `The trash holds no database ${id}`);
  const name = as ?? database.name;
  if (parts.catalog.databases.byName(name))
    throw new EngineError("name-taken", `There is a live database "${name}"`, {
      hint: "Restore it under another name",
      untouched: "Nothing was changed.",
      details: { name },
    });
  const rename: Move[] = name === database.name ? [] : [{ ref: "database-name", database: id, before: database.name, after: name }];
  const operation = await commit(
    parts,
    "restore-database",
    { database },
    { moves: [...rename, { ref: "database-state", database: id, before: "trashed", after: "live" }] },
  );
  return verbResult(parts, operation, null);
}

/** A change of its file restarts the clock, as an operation does. */
function wasUsed(parts: Parts, branch: BranchRecord, at: UnixMs): boolean {
  const fact = parts.catalog.fact(branch.id);
  const database = parts.catalog.databases.byId(branch.database);
  if (!fact || !database || branch.ttlMs === null) return false;
  const path = parts.paths.checkout(database.name, branch.name);
  const changedAt = Math.max(...["", "-wal"].map((ending) => Number((parts.disk.stat(path + ending)?.mtimeNs ?? 0n) / 1_000_000n)));
  if (changedAt + branch.ttlMs <= at) return false;
  parts.catalog.setFact(branch.id, fact, Math.min(changedAt, at));
  return true;
}

/** Unsaved work of a trashed branch whose file is still there becomes a version, before the file is removed. */
export async function saveTrashedWork(parts: Parts, file: HeldFile): Promise<void> {
  const { place } = file;
  const version = await unsavedWork(parts, file, file.fact.content, { kind: "autosave", message: null, meta: {} });
  if (!version) return;
  const fact = { base: file.fact.base, content: newVersion(), fingerprint: await file.held.fingerprint() };
  await commit(parts, "autosave", place, { moves: [], versions: [version], facts: [{ branch: place.branch.id, fact }] });
}

/** What the trash holds, the newest first. */
export function listTrash({ catalog }: Parts): TrashView[] {
  return catalog.snapshot(() => {
    const trashing = catalog.operations.trashing();
    const names = new Map(catalog.databases.live().map(({ id, name }) => [id, name]));
    const databases = catalog.databases.trashed().map((database) => ({
      kind: "database" as const,
      id: database.id,
      database: database.name,
      name: database.name,
      head: database.lastVersion,
      ...howTrashed(database, trashing),
    }));
    const branches = catalog.branches.trashed().map((branch) => ({
      kind: "branch" as const,
      id: branch.id,
      database: names.get(branch.database) ?? "",
      name: branch.name,
      head: branch.head,
      ...howTrashed(branch, trashing),
    }));
    return [...databases, ...branches].toSorted((a, b) => b.trashedAt - a.trashedAt);
  });
}

const REASONS: Partial<Record<OperationKind, TrashView["reason"]>> = { destroy: "destroy", "drop-database": "drop", expire: "expire" };

function howTrashed(
  record: Pick<BranchRecord, "trashedBy" | "trashedAt" | "purgeAt">,
  trashing: ReturnType<Parts["catalog"]["operations"]["trashing"]>,
): Pick<TrashView, "trashedAt" | "actor" | "reason" | "purgeAt"> {
  const operation = record.trashedBy === null ? undefined : trashing.get(record.trashedBy);
  return {
    trashedAt: record.trashedAt ?? 0,
    actor: operation?.actor ?? "",
    reason: (operation && REASONS[operation.kind]) ?? "undo",
    purgeAt: record.purgeAt ?? 0,
  };
}

/**
 * Moves every branch whose TTL has run out to the trash: one operation a database. Needs no daemon: every process that
 * opens the store does it, judging by `at` (`upkeep/clock-guard.ts`). Files stay until the purge, which saves their unsaved work first.
 */
export async function reapExpired(parts: Parts, at: UnixMs): Promise<number> {
  const due = parts.catalog.branches.dueExpiries(at).filter((branch) => !branch.protected && !wasUsed(parts, branch, at));
  const byDatabase = Map.groupBy(due, (branch) => branch.database);
  for (const [id, branches] of byDatabase) {
    const database = parts.catalog.databases.byId(id);
    if (!database) continue;
    await commit(
      parts,
      "expire",
      { database },
      { moves: branches.map((branch) => ({ ref: "branch-state", branch: branch.id, before: "live", after: "trashed" }) as const) },
    );
  }
  return due.length;
}

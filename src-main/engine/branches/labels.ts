/** Verbs that move a label and no data: rename, protect, touch, metadata, and checkpoints' names. */
import type { RequestInput } from "#shared/contract.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Meta, VerbResult } from "#shared/views.ts";
import type { Move } from "../catalog/records.ts";
import { EngineError } from "../io/errors.ts";
import { verbResult } from "./branch-views.ts";
import { FilePlan } from "./file-plan.ts";
import { commit } from "./operation.ts";
import type { Parts } from "./parts.ts";
import { findBranch, findDatabase, guardProtected, placeName, type Place } from "./resolve.ts";

/** Throws `bad-argument` beyond the limits of metadata. */
export function checkMeta(meta: Meta | undefined): void {
  const entries = Object.entries(meta ?? {});
  if (entries.length > LIMITS.metaKeysMax)
    throw new EngineError("bad-argument", `Metadata has ${entries.length} keys, at most ${LIMITS.metaKeysMax} are allowed`);
  for (const [key, value] of entries) {
    if (key.length === 0 || Buffer.byteLength(key) > LIMITS.metaKeyBytesMax)
      throw new EngineError("bad-argument", `Metadata key "${key}" must have 1 to ${LIMITS.metaKeyBytesMax} bytes`);
    if (Buffer.byteLength(value) > LIMITS.metaValueBytesMax)
      throw new EngineError(
        "bad-argument",
        `Metadata "${key}" has ${Buffer.byteLength(value)} bytes, at most ${LIMITS.metaValueBytesMax} are allowed`,
      );
  }
}

/** The file moves with the name, so it must not be in use. */
export async function rename(parts: Parts, input: RequestInput<"branch.rename">): Promise<VerbResult> {
  const place = findBranch(parts, input.database, input.branch);
  guardProtected(place, "rename", input.force);
  if (input.to === input.branch) return verbResult(parts, null, place);
  refuseTakenBranch(parts, place, input.to);
  return moveNames(parts, "rename", place, [{ ref: "branch-name", branch: place.branch.id, before: input.branch, after: input.to }]);
}

export async function renameDatabase(parts: Parts, input: RequestInput<"database.rename">): Promise<VerbResult> {
  const database = findDatabase(parts, input.database);
  if (input.to === input.database) return verbResult(parts, null, null);
  if (parts.catalog.databases.byName(input.to))
    throw new EngineError("name-taken", `There already is a database "${input.to}"`, {
      details: { name: input.to },
      untouched: "Nothing was changed.",
    });
  return moveNames(parts, "rename-database", { database }, [
    { ref: "database-name", database: database.id, before: input.database, after: input.to },
  ]);
}

async function moveNames(
  parts: Parts,
  kind: "rename" | "rename-database",
  about: Place | Pick<Place, "database">,
  moves: readonly Move[],
): Promise<VerbResult> {
  const plan = await FilePlan.prepare(parts, about.database, moves);
  try {
    const operation = await commit(parts, kind, about, { moves });
    const { warnings } = await plan.carryOut(operation);
    return { ...verbResult(parts, operation, "branch" in about ? about : null), warnings };
  } finally {
    await plan.release();
  }
}

export function refuseTakenBranch(parts: Parts, place: Pick<Place, "database">, name: string): void {
  if (!parts.catalog.branches.isTaken(place.database.id, name)) return;
  throw new EngineError("name-taken", `Database "${place.database.name}" already has a branch "${name}"`, {
    details: { name },
    untouched: "Nothing was changed.",
  });
}

export async function protect(parts: Parts, input: RequestInput<"branch.protect">): Promise<VerbResult> {
  const place = findBranch(parts, input.database, input.branch);
  if (place.branch.protected === input.protected) return verbResult(parts, null, place);
  const operation = await commit(parts, input.protected ? "protect" : "unprotect", place, {
    moves: [{ ref: "protected", branch: place.branch.id, before: place.branch.protected, after: input.protected }],
  });
  return verbResult(parts, operation, place);
}

/** Restarts the TTL's clock; sets or clears the TTL when one is given. */
export async function touch(parts: Parts, input: RequestInput<"branch.touch">): Promise<VerbResult> {
  const place = findBranch(parts, input.database, input.branch);
  guardProtected(place, "changing its TTL", input.force || input.ttlMs === undefined);
  const moves =
    input.ttlMs === undefined || input.ttlMs === place.branch.ttlMs
      ? []
      : [{ ref: "ttl", branch: place.branch.id, before: place.branch.ttlMs, after: input.ttlMs } as const];
  return verbResult(parts, await commit(parts, "touch", place, { moves }), place);
}

export async function setMeta(parts: Parts, input: RequestInput<"branch.setMeta">): Promise<VerbResult> {
  const place = findBranch(parts, input.database, input.branch);
  checkMeta(input.meta);
  const operation = await commit(parts, "set-meta", place, {
    moves: [{ ref: "meta", branch: place.branch.id, before: place.branch.meta, after: input.meta }],
  });
  return verbResult(parts, operation, place);
}

export async function renameCheckpoint(parts: Parts, input: RequestInput<"checkpoint.rename">): Promise<VerbResult> {
  const { place, version } = findOwnCheckpoint(parts, input);
  if (parts.catalog.checkpoints.own(place.branch.id, input.to))
    throw new EngineError("name-taken", `${placeName(place)} already has a checkpoint "${input.to}"`, {
      details: { name: input.to },
      untouched: "Nothing was changed.",
    });
  const branch = place.branch.id;
  const operation = await commit(parts, "rename-checkpoint", place, {
    moves: [
      { ref: "checkpoint", branch, name: input.name, before: version, after: null },
      { ref: "checkpoint", branch, name: input.to, before: null, after: version },
    ],
  });
  return verbResult(parts, operation, place);
}

/** Takes the name away; the version stays as long as anything refers to it. */
export async function deleteCheckpoint(parts: Parts, input: RequestInput<"checkpoint.delete">): Promise<VerbResult> {
  const { place, version } = findOwnCheckpoint(parts, input);
  const operation = await commit(parts, "delete-checkpoint", place, {
    moves: [{ ref: "checkpoint", branch: place.branch.id, name: input.name, before: version, after: null }],
  });
  return verbResult(parts, operation, place);
}

function findOwnCheckpoint(parts: Parts, input: { readonly database: string; readonly branch: string; readonly name: string }) {
  const place = findBranch(parts, input.database, input.branch);
  const checkpoint = parts.catalog.checkpoints.own(place.branch.id, input.name);
  if (!checkpoint)
    throw new EngineError("checkpoint-not-found", `${placeName(place)} has no checkpoint "${input.name}" of its own`, {
      hint: "Inherited checkpoints are changed on the branch that made them",
      details: { name: input.name },
    });
  return { place, version: checkpoint.version };
}

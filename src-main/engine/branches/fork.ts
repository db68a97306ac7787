import type { RequestInput } from "#shared/contract.ts";
import { LIMITS } from "#shared/limits.ts";
import { nameProblem, type BranchId, type VersionNumber } from "#shared/ids.ts";
import type { ForkResult } from "#shared/views.ts";
import type { NewVersion, OperationRecord, VersionRef } from "../catalog/records.ts";
import { EngineError } from "../io/errors.ts";
import { newBranchView, operationView, readNewBranch, viewOf } from "./branch-views.ts";
import { checkMeta, refuseTakenBranch } from "./labels.ts";
import { commit } from "./operation.ts";
import { newVersion, type Parts } from "./parts.ts";
import { findBranch, placeName, resolveAt, type Place } from "./resolve.ts";
import { unsavedWork, withFile, type HeldFile } from "./working-file.ts";

/**
 * New branches whose head is an existing version: one operation, no page, whatever the count. Errors: `name-taken`,
 * `checkpoint-not-found`, `version-not-found`, `bad-name`, …
 */
export async function fork(parts: Parts, input: RequestInput<"branch.fork">): Promise<ForkResult> {
  checkMeta(input.meta);
  const names = forkNames(input.newBranch, input.count);
  if (input.withUnsaved && input.at !== undefined)
    throw new EngineError("bad-argument", "Unsaved work belongs to the head: a fork from another point cannot take it along");
  // One read transaction for each burst of queries: on its own, each would take and give back a lock of the WAL.
  const { place, head, leavesWork, looks } = parts.catalog.snapshot(() => {
    const found = findBranch(parts, input.database, input.branch);
    for (const name of names) refuseTakenBranch(parts, found, name);
    const version = resolveAt(parts, found, input.at);
    return {
      place: found,
      head: version,
      leavesWork: input.at === undefined && hasUnsavedHint(parts, found),
      looks: readNewBranch(parts, found, version),
    };
  });
  if (input.withUnsaved) return withFile(parts, place, "write", undefined, (file) => forkUnsaved(parts, place, file, input, names));
  const warnings = leavesWork
    ? [`${placeName(place)} has unsaved work that is not in the fork: fork with unsaved work to take it along`]
    : [];
  const operation = await commitFork(parts, place, input, names, head, {});
  const first = operation.newBranches?.first;
  const [name] = names;
  const known = {
    database: place.database.name,
    branch: (id: BranchId) => (id === place.branch.id ? place.branch.name : (names[id - (first ?? 0)] ?? "")),
  };
  const about = { database: place.database.name, head, ttlMs: input.ttlMs ?? null, meta: input.meta ?? {}, ...looks };
  return {
    operation: operationView(parts, operation, known),
    branch: first === undefined || name === undefined ? null : newBranchView(parts, operation, { id: first, name, ...about }),
    warnings,
    branches: names,
  };
}

/** `NAME`, or `NAME-001 … NAME-N` padded so that they sort. */
function forkNames(name: string, count: number | undefined): string[] {
  if (count === undefined) return [name];
  const width = String(count).length;
  const names = Array.from({ length: count }, (_, index) => `${name}-${String(index + 1).padStart(width, "0")}`);
  const last = names.at(-1) ?? name;
  const problem = nameProblem("branch", last);
  if (problem) throw new EngineError("bad-name", `"${last}": ${problem} (limit ${LIMITS.nameCharsMax})`);
  return names;
}

function hasUnsavedHint(parts: Parts, place: Place): boolean {
  const fact = parts.catalog.fact(place.branch.id);
  if (!fact) return false;
  return (
    fact.content !== fact.base ||
    parts.files.check(parts.paths.checkout(place.database.name, place.branch.name), fact.fingerprint) === "unknown"
  );
}

/**
 * Saves the unsaved work as a version first. On a current checkout it becomes the branch's head as well; on a stale one
 * only the new branches have it ("fork what I have").
 */
async function forkUnsaved(
  parts: Parts,
  place: Place,
  file: HeldFile | null,
  input: RequestInput<"branch.fork">,
  names: string[],
): Promise<ForkResult> {
  const base = file?.fact.base ?? place.branch.head;
  const version = file ? await unsavedWork(parts, file, base, { kind: "checkpoint", message: null, meta: {} }) : null;
  if (!file || !version) return readFork(parts, place, names, await commitFork(parts, place, input, names, base, {}));
  const made = newVersion();
  const stale = base !== place.branch.head;
  const fact = { base: stale ? base : made, content: made, fingerprint: await file.held.fingerprint() };
  const operation = await commitFork(parts, place, input, names, made, {
    versions: [version],
    facts: [{ branch: place.branch.id, fact }],
    moves: stale ? [] : [{ ref: "head", branch: place.branch.id, before: base, after: made }],
  });
  return readFork(parts, place, names, operation);
}

function readFork(parts: Parts, place: Place, names: string[], operation: OperationRecord): ForkResult {
  const first = operation.newBranches?.first;
  return parts.catalog.snapshot(() => ({
    operation: operationView(parts, operation),
    branch: first === undefined ? null : viewOf(parts, place.database, first),
    warnings: [],
    branches: names,
  }));
}

interface WithUnsaved {
  readonly moves?: readonly {
    readonly ref: "head";
    readonly branch: Place["branch"]["id"];
    readonly before: VersionNumber;
    readonly after: VersionRef;
  }[];
  readonly versions?: readonly NewVersion[];
  readonly facts?: NonNullable<Parameters<typeof commit>[3]["facts"]>;
}

async function commitFork(
  parts: Parts,
  place: Place,
  input: RequestInput<"branch.fork">,
  names: string[],
  head: VersionRef,
  unsaved: WithUnsaved,
): Promise<OperationRecord> {
  const operation = await commit(parts, "fork", place, {
    moves: unsaved.moves ?? [],
    ...(unsaved.versions ? { versions: unsaved.versions } : {}),
    ...(unsaved.facts ? { facts: unsaved.facts } : {}),
    newBranches: { names, head, parent: place.branch.id, forkVersion: head, ttlMs: input.ttlMs ?? null, meta: input.meta ?? {} },
  });
  const version = typeof head === "number" ? head : operation.newVersions[head.new];
  if (version !== undefined) parts.pool.noteForked(place.database.id, version);
  return operation;
}

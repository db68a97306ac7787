import { parseAt, type VersionNumber } from "#shared/ids.ts";
import type { BranchRecord, DatabaseRecord } from "../catalog/records.ts";
import { EngineError } from "../io/errors.ts";
import { nearestNames } from "./nearest.ts";
import type { Parts } from "./parts.ts";

/** Branches whose names are compared with a mistyped one. */
const NAMES_CONSIDERED_MAX = 1_000;

export interface Place {
  readonly database: DatabaseRecord;
  readonly branch: BranchRecord;
}

/** Throws `database-not-found` with the nearest names. */
export function findDatabase(parts: Parts, name: string): DatabaseRecord {
  const database = parts.catalog.databases.byName(name);
  if (database) return database;
  const choices = nearestNames(
    name,
    parts.catalog.databases.live().map((each) => each.name),
  );
  throw new EngineError("database-not-found", `There is no database "${name}" in ${parts.paths.root}`, {
    hint: didYouMean(choices),
    details: { name, choices },
  });
}

/** Throws `database-not-found` or `branch-not-found` with the nearest names. */
export function findBranch(parts: Parts, databaseName: string, branchName: string): Place {
  const database = findDatabase(parts, databaseName);
  const branch = parts.catalog.branches.byName(database.id, branchName);
  if (branch) return { database, branch };
  const choices = nearestNames(branchName, parts.catalog.branches.names(database.id, "", NAMES_CONSIDERED_MAX));
  const trashed = parts.catalog.branches.trashed().some((each) => each.database === database.id && each.name === branchName);
  const hint = trashed ? "It is in the trash: restore brings it back" : didYouMean(choices);
  throw new EngineError("branch-not-found", `Database "${databaseName}" has no branch "${branchName}"`, {
    hint,
    details: { name: branchName, choices },
  });
}

/**
 * The version that `at` names as seen from a branch: a checkpoint (its own, then the nearest ancestor's), a version
 * number of the database, or the head as of a time. Left out: the head.
 */
export function resolveAt(parts: Parts, place: Place, at: string | undefined): VersionNumber {
  if (at === undefined) return place.branch.head;
  const { database, branch } = place;
  const parsed = parseAt(at);
  if (!parsed) throw new EngineError("bad-target", `"${at}" is no checkpoint name, version (v12) or time (2026-11-30T12:00:00Z)`);
  switch (parsed.kind) {
    case "head":
      return branch.head;
    case "version": {
      if (parts.catalog.versions.byNumber(database.id, parsed.number)) return parsed.number;
      throw new EngineError("version-not-found", `Database "${database.name}" has no version ${at}`, { details: { name: at } });
    }
    case "checkpoint": {
      const checkpoint = parts.catalog.checkpoints.find(branch, parsed.name);
      if (checkpoint) return checkpoint.version;
      const choices = nearestNames(
        parsed.name,
        parts.catalog.checkpoints.ofBranch(branch.id).map((each) => each.name),
      );
      const elsewhere = parts.catalog.checkpoints.named(database.id, parsed.name);
      const hint = elsewhere ? `${elsewhere.branch} has it at v${elsewhere.version}: name that version` : didYouMean(choices);
      throw new EngineError("checkpoint-not-found", `${database.name}@${branch.name} and its ancestors have no checkpoint "${at}"`, {
        hint,
        details: { name: at, choices },
      });
    }
    case "time": {
      const version = parts.catalog.versions.asOf(branch, parsed.at);
      if (version !== null) return version;
      throw new EngineError("version-not-found", `${database.name}@${branch.name} did not exist yet at ${at}`, { details: { name: at } });
    }
  }
}

export function placeName(place: Place): string {
  return `${place.database.name}@${place.branch.name}`;
}

/** Throws `protected` unless forced. */
export function guardProtected(place: Place, act: string, force: boolean | undefined): void {
  if (!place.branch.protected || force) return;
  throw new EngineError("protected", `${placeName(place)} is protected: ${act} refused`, {
    hint: "Unprotect it first, or force it",
    untouched: `${placeName(place)} is unchanged.`,
    details: { name: place.branch.name },
  });
}

function didYouMean(choices: readonly string[]): string | undefined {
  return choices.length > 0 ? `Did you mean ${choices.map((name) => `"${name}"`).join(" or ")}?` : undefined;
}

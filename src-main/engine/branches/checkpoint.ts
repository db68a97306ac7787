import type { RequestInput } from "#shared/contract.ts";
import type { VersionNumber } from "#shared/ids.ts";
import type { CheckpointResult } from "#shared/views.ts";
import { checkMeta } from "./labels.ts";
import { AUTOMATIC_CHECKPOINT, type Move, type NewVersion, type VersionRef } from "../catalog/records.ts";
import { EngineError } from "../io/errors.ts";
import { reach } from "../io/faults.ts";
import { commit, discardVersions } from "./operation.ts";
import { newVersion, type Parts } from "./parts.ts";
import { findBranch, placeName, type Place } from "./resolve.ts";
import { unsavedWork, withFile, type HeldFile } from "./working-file.ts";
import { currentView, operationView } from "./branch-views.ts";

/**
 * Makes a version of the checkout's unsaved work and names it; when nothing changed, the name is put on the head.
 * Errors: `name-taken`, `checkout-busy`, `checkout-stale`, `disk-full`, …
 */
export async function checkpoint(parts: Parts, input: RequestInput<"branch.checkpoint">): Promise<CheckpointResult> {
  const place = findBranch(parts, input.database, input.branch);
  checkMeta(input.meta);
  if (input.name !== undefined && !input.replace) refuseTakenName(parts, place, input.name);
  return withFile(parts, place, "write", input.waitMs, async (file) => {
    if (!file) return nameHead(parts, place, input);
    const label = { kind: "checkpoint", message: input.message ?? null, meta: input.meta ?? {} } as const;
    const stale = file.fact.base !== place.branch.head && input.resolve !== "put-mine-on-top";
    // What a stale file holds beyond its own version decides: nothing, and the name is the head's; else the user's choice.
    const unsaved = await unsavedWork(parts, file, stale ? file.fact.base : place.branch.head, label);
    reach("checkpoint:stored");
    if (!unsaved) return nameHead(parts, place, input);
    if (stale) {
      await discardVersions(parts, [unsaved]);
      throw staleError(place, file.fact.base);
    }
    return saveVersion(parts, file, input, unsaved);
  });
}

async function saveVersion(
  parts: Parts,
  file: HeldFile,
  input: RequestInput<"branch.checkpoint">,
  version: NewVersion,
): Promise<CheckpointResult> {
  const { place, held } = file;
  const made = newVersion();
  const fingerprint = await held.fingerprint();
  const operation = await commit(parts, "checkpoint", place, {
    moves: [{ ref: "head", branch: place.branch.id, before: place.branch.head, after: made }, ...nameMoves(parts, place, input, made)],
    versions: [version],
    facts: [{ branch: place.branch.id, fact: { base: made, content: made, fingerprint } }],
  });
  reach("checkpoint:committed");
  const number = operation.newVersions[0] ?? place.branch.head;
  return {
    operation: operationView(parts, operation),
    branch: currentView(parts, place),
    warnings: [],
    version: number,
    name: input.name ?? `auto-${number}`,
    changedPages: version.changedPages,
    storedBytes: version.segment.bytes,
  };
}

async function nameHead(parts: Parts, place: Place, input: RequestInput<"branch.checkpoint">): Promise<CheckpointResult> {
  const head = place.branch.head;
  const moves = nameMoves(parts, place, input, head);
  const warnings =
    input.message !== undefined || input.meta !== undefined
      ? [`Nothing changed since v${head}: the message and metadata given were not stored`]
      : [];
  const operation = moves.length > 0 ? await commit(parts, "checkpoint", place, { moves }) : null;
  return {
    operation: operation && operationView(parts, operation),
    branch: currentView(parts, place),
    warnings,
    version: head,
    name: input.name ?? `v${head}`,
    changedPages: 0,
    storedBytes: 0,
  };
}

function nameMoves(parts: Parts, place: Place, input: RequestInput<"branch.checkpoint">, after: VersionRef): Move[] {
  // Without a name, a new version gets an automatic one, and an unchanged head keeps what it has.
  if (input.name === undefined)
    return typeof after === "number"
      ? []
      : [{ ref: "checkpoint", branch: place.branch.id, name: AUTOMATIC_CHECKPOINT, before: null, after }];
  const before = parts.catalog.checkpoints.own(place.branch.id, input.name)?.version ?? null;
  return before === after ? [] : [{ ref: "checkpoint", branch: place.branch.id, name: input.name, before, after }];
}

function refuseTakenName(parts: Parts, place: Place, name: string): void {
  const taken = parts.catalog.checkpoints.own(place.branch.id, name);
  if (!taken) return;
  throw new EngineError("name-taken", `${placeName(place)} already has a checkpoint "${name}" at v${taken.version}`, {
    hint: "Choose another name, or replace it (this can be undone)",
    untouched: `${placeName(place)} and its file are unchanged.`,
    details: { name },
  });
}

export function staleError(place: Place, base: VersionNumber): EngineError {
  return new EngineError(
    "checkout-stale",
    `The file of ${placeName(place)} has unsaved work on top of v${base}, but the branch is now at v${place.branch.head}`,
    {
      hint: "Fork what you have (with unsaved work), take theirs (yours is kept as an autosave), or put yours on top",
      untouched: `${placeName(place)} and its file are unchanged.`,
      details: { choices: ["fork-what-i-have", "take-theirs", "put-mine-on-top"] },
    },
  );
}

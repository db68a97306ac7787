import type { OperationKind } from "#shared/views.ts";
import type { NewVersion, OperationDraft, OperationRecord } from "../catalog/records.ts";
import { EngineError } from "../io/errors.ts";
import { partName } from "../segments/segment-parts.ts";
import type { Parts } from "./parts.ts";
import type { Place } from "./resolve.ts";

/** Commits one operation of the caller, now. One that is refused leaves nothing of what was stored for it. */
export async function commit(
  parts: Parts,
  kind: OperationKind,
  about: Place | { readonly database: Place["database"] } | null,
  draft: Pick<OperationDraft, "moves"> & Partial<OperationDraft>,
): Promise<OperationRecord> {
  try {
    const record = await parts.catalog.commit({
      uid: parts.randomness.bytes(16),
      kind,
      at: parts.clock.now(),
      actor: parts.actor,
      database: about?.database.id ?? null,
      branch: about && "branch" in about ? about.branch.id : null,
      ...draft,
    });
    noteVersions(parts, record, draft.versions ?? []);
    return record;
  } catch (error) {
    const wasRefused = error instanceof EngineError && error.code !== "outcome-unknown";
    if (wasRefused) await discardVersions(parts, draft.versions ?? []);
    throw error;
  }
}

function noteVersions(parts: Parts, { database, newVersions }: OperationRecord, versions: readonly NewVersion[]): void {
  for (const [index, version] of newVersions.entries()) {
    const parent = versions[index]?.parent ?? null;
    const number = parent === null || typeof parent === "number" ? parent : (newVersions[parent.new] ?? null);
    if (database !== null) parts.noteVersion(database, version, number);
  }
}

/** Removes what was stored for versions that no operation brought. */
export async function discardVersions(parts: Parts, versions: readonly NewVersion[]): Promise<void> {
  for (const { segment } of versions) {
    if (segment.file === null) continue;
    for (let part = 0; part < segment.parts; part += 1) await parts.segments.objects.remove(partName(segment.file, part));
  }
}

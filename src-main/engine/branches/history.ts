import type { RequestInput } from "#shared/contract.ts";
import { LIMITS } from "#shared/limits.ts";
import type { HistoryRow, HistoryView } from "#shared/views.ts";
import type { VersionRecord } from "../catalog/records.ts";
import { branchView, versionView } from "./branch-views.ts";
import type { Parts } from "./parts.ts";
import { findBranch, type Place } from "./resolve.ts";

/**
 * The lineage of a branch's head, newest first, with the versions that it made and left: those a rollback left behind
 * ("ahead") and autosaves ("side"), each in the order of its number.
 */
export function history(parts: Parts, input: RequestInput<"branch.history">): HistoryView {
  const place = findBranch(parts, input.database, input.branch);
  const { catalog } = parts;
  const { database, branch } = place;
  const lineage = catalog.lineage(database.id, branch.head);
  const own = new Set(lineage.map((version) => version.number));
  const left = catalog.versionsOfBranch(branch).filter((version) => !own.has(version.number));
  const all = [...lineage, ...left].sort((a, b) => b.number - a.number);
  const offset = input.offset ?? 0;
  const page = all.slice(offset, offset + (input.limit ?? LIMITS.pageRowsMax));
  return { branch: branchView(parts, place), versions: page.map((version) => historyRow(parts, place, version, own.has(version.number))), total: all.length };
}

function historyRow(parts: Parts, { database, branch }: Place, version: VersionRecord, inLineage: boolean): HistoryRow {
  const aside = version.kind === "autosave" ? "side" : "ahead";
  const place = version.number === branch.head ? "head" : inLineage ? "ancestor" : aside;
  return {
    ...versionView(parts, database, version),
    branch: version.branch === null ? null : (parts.catalog.branch(version.branch)?.name ?? null),
    place,
    inherited: branch.forkVersion !== null && version.number <= branch.forkVersion,
  };
}

import type { RequestInput } from "#shared/contract.ts";
import { LIMITS } from "#shared/limits.ts";
import type { HistoryRow, HistoryView } from "#shared/views.ts";
import type { VersionRecord } from "../catalog/records.ts";
import { branchView, versionView } from "./branch-views.ts";
import type { Parts } from "./parts.ts";
import { findBranch, type Place } from "./resolve.ts";

/** Versions that one history holds; older ones are reached through a checkpoint or a fork of theirs. */
const HISTORY_VERSIONS_MAX = 100_000;

/**
 * The lineage of a branch's head, newest first, with the versions that it made and left: those a rollback left behind
 * ("ahead") and autosaves ("side"), each in the order of its number.
 */
export function history(parts: Parts, input: RequestInput<"branch.history">): HistoryView {
  const place = findBranch(parts, input.database, input.branch);
  const { catalog } = parts;
  const { database, branch } = place;
  const lineage = catalog.versions.lineage(database.id, branch.head, HISTORY_VERSIONS_MAX);
  const own = new Set(lineage.map((version) => version.number));
  const left = catalog.versions.madeBy(branch.id, null, HISTORY_VERSIONS_MAX).filter((version) => !own.has(version.number));
  const all = [...lineage, ...left].toSorted((a, b) => b.number - a.number);
  const offset = input.offset ?? 0;
  const page = all.slice(offset, offset + (input.limit ?? LIMITS.pageRowsMax));
  const heads = catalog.branches.headsByVersion(database.id);
  return {
    branch: branchView(parts, place),
    versions: page.map((version) => historyRow(parts, place, version, own.has(version.number), heads.get(version.number) ?? [])),
    total: all.length,
  };
}

function historyRow(
  parts: Parts,
  { database, branch }: Place,
  version: VersionRecord,
  inLineage: boolean,
  heads: readonly string[],
): HistoryRow {
  const aside = version.kind === "autosave" ? "side" : "ahead";
  const place = version.number === branch.head ? "head" : inLineage ? "ancestor" : aside;
  return {
    ...versionView(parts, database, version, heads),
    branch: version.branch === null ? null : (parts.catalog.branches.byId(version.branch)?.name ?? null),
    place,
    inherited: branch.forkVersion !== null && version.number <= branch.forkVersion,
  };
}

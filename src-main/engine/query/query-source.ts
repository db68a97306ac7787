/** Which file SQL reads, and how a branch's file is made ready to be written by it. */
import { assert } from "#shared/assert.ts";
import { formatTarget, type VersionNumber } from "#shared/ids.ts";
import type { DataSourceView } from "#shared/query-views.ts";
import { checkout, openVersion } from "../branches/checkout.ts";
import { commit } from "../branches/operation.ts";
import { newVersion, type Parts } from "../branches/parts.ts";
import { findBranch, resolveAt, type Place } from "../branches/resolve.ts";
import { unsavedWork, withFile } from "../branches/working-file.ts";
import type { Work } from "../segments/page-source.ts";

export interface StateInput {
  readonly database: string;
  readonly branch: string;
  readonly at?: string | undefined;
}

export interface QuerySource {
  readonly place: Place;
  readonly path: string;
  readonly view: DataSourceView;
}

/**
 * A branch with a file is read there, with its unsaved work; it is brought to the head first when it is stale, and
 * `checkout-stale` when that takes a decision. Without a file, and with `at`, a read-only file of the version is used.
 */
export async function readSource(parts: Parts, input: StateInput, work: Work): Promise<QuerySource> {
  const { database, branch, at } = input;
  const place = findBranch(parts, database, branch);
  const label = formatTarget(input) + (at === undefined ? "" : `@${at}`);
  if (at === undefined) {
    const path = parts.paths.checkout(database, branch);
    const fact = parts.catalog.fact(place.branch.id);
    if (fact && parts.files.check(path, null) !== "missing") {
      if (fact.base !== place.branch.head) await parts.writers.whilePublishing(() => checkout(parts, { database, branch }, work));
      return { place, path, view: { label, version: place.branch.head, kind: "file", isWritable: true } };
    }
  }
  const version = resolveAt(parts, place, at);
  const { path } = await openVersion(parts, { database, branch, at: `v${version}` }, work);
  return { place, path, view: { label, version, kind: "version", isWritable: at === undefined } };
}

export interface WritableFile {
  readonly path: string;
  /** The version that holds what the file holds now. */
  readonly before: VersionNumber;
}

/**
 * Makes the branch's file current and keeps what it holds: unsaved work becomes an autosave, which is one operation and
 * leaves the file and the head as they are. Errors: those of `checkout`.
 */
export async function prepareWriting(parts: Parts, place: Place, waitMs: number | undefined, work: Work): Promise<WritableFile> {
  const [database, branch] = [place.database.name, place.branch.name];
  return parts.writers.whilePublishing(async () => {
    const { path } = await checkout(parts, { database, branch, waitMs }, work);
    const before = await withFile(parts, findBranch(parts, database, branch), "write", waitMs, async (file) => {
      assert(file, "a branch that was checked out has a file");
      const { base, content } = file.fact;
      const unsaved = await unsavedWork(parts, file, content, { kind: "autosave", message: "before SQL", meta: {} });
      if (!unsaved) return content;
      const fact = { base, content: newVersion(), fingerprint: await file.held.fingerprint() };
      const { newVersions } = await commit(parts, "autosave", file.place, {
        moves: [],
        versions: [unsaved],
        facts: [{ branch: file.place.branch.id, fact }],
      });
      return newVersions[0] ?? content;
    });
    return { path, before };
  });
}

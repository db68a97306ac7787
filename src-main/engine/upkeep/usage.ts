import type { RequestInput } from "#shared/contract.ts";
import type { UsageRow, UsageView } from "#shared/views.ts";
import { findDatabase } from "../branches/resolve.ts";
import type { Parts } from "../branches/parts.ts";
import type { DatabaseRecord } from "../catalog/records.ts";
import { listCaches, treeUsage } from "./caches.ts";

/** What the store takes, by branch. `storedBytes` of a branch are those of the versions that it made. */
export function usage(parts: Parts, input: RequestInput<"store.usage">): UsageView {
  const databases = input.database === undefined ? parts.catalog.databases.live() : [findDatabase(parts, input.database)];
  const rows = databases.flatMap((database) => databaseRows(parts, database));
  const catalogBytes = ["", "-wal"].reduce((sum, ending) => sum + (parts.disk.stat(parts.paths.catalog + ending)?.size ?? 0), 0);
  return {
    database: input.database ?? null,
    rows,
    storedBytes: databases.reduce((sum, database) => sum + database.storedBytes, 0),
    catalogBytes,
    checkoutBytes: rows.reduce((sum, row) => sum + row.checkoutBytes, 0),
    temporaryBytes: treeUsage(parts, parts.paths.temporary).bytes,
    caches: listCaches(parts),
  };
}

function databaseRows(parts: Parts, database: DatabaseRecord): UsageRow[] {
  const { catalog } = parts;
  return catalog.branches.page(database.id, 0, catalog.branches.count(database.id)).map((branch) => {
    const head = catalog.versions.byNumber(database.id, branch.head);
    const sizes = catalog.fact(branch.id) && parts.files.sizes(parts.paths.checkout(database.name, branch.name));
    return {
      database: database.name,
      branch: branch.name,
      logicalBytes: (head?.pageSize ?? 0) * (head?.pageCount ?? 0),
      storedBytes: catalog.versions.storedBytesOfBranch(branch.id),
      checkoutBytes: sizes ? sizes.fileBytes + sizes.walBytes : 0,
    };
  });
}

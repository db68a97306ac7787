/** What is kept only to save time, and can be given up at any moment. */
import type { RequestInput } from "#shared/contract.ts";
import type { CacheUsage } from "#shared/usage-views.ts";
import type { CacheView } from "#shared/views.ts";
import type { Parts } from "../branches/parts.ts";

/**
 * Sets the budget of ready files, clears every cache, or just looks. Errors: those of writing the settings (`disk-full`,
 * `permission-denied`, `store-read-only`).
 */
export function manageCaches(parts: Parts, input: RequestInput<"store.cache">): CacheView {
  const before = sumBytes(listCaches(parts));
  if (input.budgetBytes !== undefined) parts.pool.setBudget(input.budgetBytes);
  if (input.clear) clearCaches(parts);
  const caches = listCaches(parts);
  const { bytes, isDefault } = parts.pool.budget();
  const { hits, misses } = parts.pool;
  return { budgetBytes: bytes, budgetIsDefault: isDefault, caches, freedBytes: Math.max(0, before - sumBytes(caches)), hits, misses };
}

/** Bytes as files have them; shadows share most of their blocks with the files of branches. */
function listCaches(parts: Parts): CacheUsage[] {
  const { paths } = parts;
  return [
    { name: "ready files", ...parts.pool.usage() },
    { name: "read-only files", ...treeUsage(parts, paths.readonlyFiles) },
    { name: "shadows", ...treeUsage(parts, paths.shadows) },
    { name: "change counts", ...treeUsage(parts, paths.changeCounts) },
  ];
}

/** Whoever has one of the files open keeps it; what is needed again is made again. */
function clearCaches(parts: Parts): void {
  parts.pool.clear();
  parts.disk.removeTree(parts.paths.readonlyFiles);
  parts.disk.removeTree(parts.paths.shadows);
  parts.disk.removeTree(parts.paths.changeCounts);
}

/** Files in a folder and in those below it. */
function treeUsage(parts: Pick<Parts, "disk">, folder: string): { readonly files: number; readonly bytes: number } {
  let files = 0;
  let bytes = 0;
  for (const name of parts.disk.list(folder)) {
    const path = `${folder}/${name}`;
    const stat = parts.disk.stat(path);
    const found = stat?.kind === "directory" ? treeUsage(parts, path) : { files: stat ? 1 : 0, bytes: stat?.size ?? 0 };
    files += found.files;
    bytes += found.bytes;
  }
  return { files, bytes };
}

function sumBytes(caches: readonly CacheUsage[]): number {
  return caches.reduce((sum, { bytes }) => sum + bytes, 0);
}

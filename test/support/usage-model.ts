/** Usage, told another way: by plain sets over the catalog's rows, by doing it to a copy, and by walking the folder. */
import { cpSync, existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { openStore, type Store, type StorePorts } from "#engine/store.ts";

/** Sizes and blocks of every file in a folder and below it. */
export function walkFolder(folder: string): { readonly files: number; readonly bytes: number; readonly allocated: number } {
  let [files, bytes, allocated] = [0, 0, 0];
  for (const name of existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : []) {
    const path = join(folder, name);
    if (lstatSync(path).isDirectory()) continue;
    const { size, blocks } = statSync(path);
    files += 1;
    bytes += size;
    allocated += blocks * 512;
  }
  return { files, bytes, allocated };
}

export function readCatalog<T>(path: string, read: (catalog: Database.Database) => T): T {
  const catalog = new Database(join(path, "catalog.db"), { readonly: true });
  try {
    return read(catalog);
  } finally {
    catalog.close();
  }
}

/** Bytes of all segments. */
export function segmentBytes(path: string): number {
  return readCatalog(path, (catalog) =>
    Number(catalog.prepare("SELECT coalesce(sum(coalesce(bytes, length(data))), 0) FROM segments").pluck().get()),
  );
}

/** Copies a store that nobody writes to, and acts on the copy. Its databases come alone: no file of a branch. */
export async function onCopy<T>(store: Store, to: string, ports: StorePorts, act: (copy: Store) => Promise<T>): Promise<T> {
  cpSync(store.path, to, {
    recursive: true,
    filter: (path) => !/\/(?:tmp|cache|readonly|checkouts)(?:\/|$)/.test(path.slice(store.path.length)),
  });
  const copy = await openStore(to, { actor: "copy", ownProcess: true }, ports);
  try {
    return await act(copy);
  } finally {
    await copy.close();
  }
}

/** What segments shrink by beyond what gc frees anyway, when branches are destroyed and purged: done to two copies. */
export async function freeByDoing(
  store: Store,
  folder: string,
  branches: readonly { readonly database: string; readonly branch: string }[],
  ports: StorePorts = {},
): Promise<number> {
  const kept = await onCopy(store, `${folder}-without`, ports, async (copy) => {
    await copy.gc({ dryRun: false });
    return segmentBytes(copy.path);
  });
  const left = await onCopy(store, `${folder}-with`, ports, async (copy) => {
    for (const { database, branch } of branches) await copy.destroy({ database, branch, force: true });
    const names = new Set(branches.map(({ database, branch }) => `${database}@${branch}`));
    const purge = (await copy.trash({})).flatMap(({ kind, id, database, name, actor }) =>
      kind === "branch" && actor === "copy" && names.has(`${database}@${name}`) ? [{ kind, id }] : [],
    );
    await copy.gc({ dryRun: false, purge });
    return segmentBytes(copy.path);
  });
  return kept - left;
}

interface VersionRow {
  readonly key: number;
  readonly parent: number | null;
  readonly bytes: number;
}

interface BranchRow {
  readonly id: number;
  readonly database: number;
  readonly head: number;
  readonly fork: number | null;
}

const BRANCHES = "SELECT b.id, b.database, b.head, b.fork_version AS fork FROM branches b JOIN databases d ON d.id = b.database";

/** Bytes that all refs of some branches stand on, by walking up from each of them. Left out: of all, the trash too. */
export function reachedBytes(path: string, only: "live" | "all" | { readonly database: string; readonly branch: string }): number {
  return readCatalog(path, (catalog) => {
    const rows = catalog
      .prepare(
        only === "all"
          ? `${BRANCHES} WHERE b.state < 2 AND d.state < 2`
          : `${BRANCHES} WHERE b.state = 0 AND d.state = 0 AND coalesce(d.name = ?, 1) AND coalesce(b.name = ?, 1)`,
      )
      .all(...(only === "all" ? [] : only === "live" ? [null, null] : [only.database, only.branch])) as BranchRow[];
    const versions = readVersions(catalog);
    const reached = new Set<number>();
    for (const row of rows)
      for (const ref of readRefs(catalog, row))
        for (let at: number | null = ref; at !== null;) {
          reached.add(at);
          const parent: number | null = versions.get(at)?.parent ?? null;
          at = parent === null ? null : row.database * 2 ** 28 + parent;
        }
    return [...reached].reduce((sum, key) => sum + (versions.get(key)?.bytes ?? 0), 0);
  });
}

function readVersions(catalog: Database.Database): Map<number, VersionRow> {
  const sql = `SELECT v.key, v.parent, (SELECT sum(coalesce(s.bytes, length(s.data))) FROM segments s WHERE s.key / 16 = v.key) AS bytes
    FROM versions v`;
  return new Map((catalog.prepare(sql).all() as VersionRow[]).map((row) => [row.key, row]));
}

function readRefs(catalog: Database.Database, { id, database, head, fork }: BranchRow): number[] {
  const first = database * 2 ** 28;
  const keys = (sql: string, ...values: number[]): number[] =>
    catalog
      .prepare(sql)
      .pluck()
      .all(...values) as number[];
  return [
    first + head,
    ...(fork === null ? [] : [first + fork]),
    ...keys("SELECT version FROM checkpoints WHERE branch = ?", id),
    ...keys("SELECT key FROM versions WHERE branch = ? AND kind >= 16", id),
    ...keys("SELECT base + ? FROM facts WHERE branch = ?", first, id),
    ...keys("SELECT content + ? FROM facts WHERE branch = ?", first, id),
  ];
}

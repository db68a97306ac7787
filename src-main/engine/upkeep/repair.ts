/**
 * A store whose catalog is lost or damaged gets a new one, made of what is still there and proves itself: segment files
 * give versions (`recover-segments.ts`), checkouts give names, branches and their newest content. Names of checkpoints,
 * history of operations, and versions whose segments were inside the catalog are lost with it.
 *
 * Nothing is deleted and no checkout is written: the old catalog and segments that fit nowhere go to `kept/`, and what
 * sets a checkout apart from the version it comes nearest to is unsaved work on that version's branch.
 */
import { dirname, join } from "node:path";
import { LIMITS } from "#shared/limits.ts";
import { nameProblem, type VersionNumber } from "#shared/ids.ts";
import type { RepairReport } from "#shared/views.ts";
import { create } from "../branches/create.ts";
import { fork } from "../branches/fork.ts";
import { commit } from "../branches/operation.ts";
import { newVersion, type Parts } from "../branches/parts.ts";
import { findBranch, findDatabase } from "../branches/resolve.ts";
import { BASE_LEVEL } from "../catalog/records.ts";
import { EngineError } from "../io/errors.ts";
import type { PhasedWork } from "../transfer/long-work.ts";
import { recoverSegments, type Recovered, type RecoveredState } from "./recover-segments.ts";

/** States that a checkout is compared with, newest first. */
const STATES_COMPARED_MAX = 64;

interface FoundFile {
  readonly branch: string;
  readonly path: string;
  /** Index of the state that most of its pages are in; null when there is none. */
  readonly nearest: number | null;
}

type Problems = { object: string; problem: string }[];
type Rebuilt = Pick<RepairReport, "databases" | "segmentsKept" | "problems">;

/** Fills the new, empty catalog of `parts`. */
export async function rebuild(parts: Parts, work: PhasedWork = {}): Promise<Rebuilt> {
  work.phase?.("Reading segments");
  const recovered = await recoverSegments(parts.segments, work);
  const problems: Problems = recovered.left.flatMap(({ name, problem }) =>
    problem === null ? [] : [{ object: `segments/${name}`, problem }],
  );
  for (const { name } of recovered.left) keepSegment(parts, name);
  work.phase?.("Looking at checkouts");
  const roots = rootsOf(recovered);
  const taken = new Set<number>();
  const databases: RepairReport["databases"][number][] = [];
  for (const name of checkoutFolders(parts, problems)) {
    const files = await findFiles(parts, recovered.states, name, problems);
    const root = files.map(({ nearest }) => (nearest === null ? null : (roots[nearest] ?? null))).find((each) => each !== null) ?? null;
    if (root !== null && !taken.has(root)) {
      taken.add(root);
      databases.push(await createFromStates(parts, recovered.states, roots, { name, root, files }));
    } else if (files.length > 0) databases.push(await createFromFiles(parts, name, files, work));
  }
  for (const [root, state] of recovered.states.entries()) {
    if (state.parent !== null || taken.has(root)) continue;
    databases.push(await createFromStates(parts, recovered.states, roots, { name: freeName(parts), root, files: [] }));
  }
  return { databases, segmentsKept: recovered.left.length, problems };
}

/** Of each state, the base it stands on. */
function rootsOf({ states }: Recovered): number[] {
  const roots: number[] = [];
  for (const [index, { parent }] of states.entries()) roots.push(parent === null ? index : (roots[parent] ?? index));
  return roots;
}

function keepSegment(parts: Parts, name: string): void {
  const kept = join(parts.paths.kept, "segments", name);
  parts.disk.makeDirectory(dirname(kept));
  parts.disk.rename(join(parts.paths.segments, name), kept);
}

function checkoutFolders(parts: Parts, problems: Problems): string[] {
  return parts.disk.list(parts.paths.checkouts).filter((name) => {
    const problem = nameProblem("database", name);
    if (problem !== null) problems.push({ object: `checkouts/${name}`, problem });
    return problem === null;
  });
}

/** Main first. */
async function findFiles(parts: Parts, states: readonly RecoveredState[], database: string, problems: Problems): Promise<FoundFile[]> {
  const files: FoundFile[] = [];
  for (const branch of branchNames(parts, parts.paths.checkoutFolder(database), "")) {
    const path = parts.paths.checkout(database, branch);
    const problem = nameProblem("branch", branch);
    try {
      if (problem !== null) throw new EngineError("bad-name", problem);
      files.push({ branch, path, nearest: await findNearest(parts, states, path) });
    } catch (error) {
      if (!(error instanceof EngineError) || error.code === "cancelled") throw error;
      problems.push({ object: path, problem: `${error.message}; the file was left as it is` });
    }
  }
  return files.toSorted((a, b) => Number(b.branch === "main") - Number(a.branch === "main"));
}

function branchNames(parts: Parts, folder: string, prefix: string): string[] {
  return parts.disk.list(folder).flatMap((name) => {
    if (parts.disk.stat(join(folder, name))?.kind === "directory") return branchNames(parts, join(folder, name), `${prefix}${name}/`);
    return name.endsWith(".db") ? [`${prefix}${name.slice(0, -3)}`] : [];
  });
}

/** The state that shares most pages with a checkout, if that is more than half of them. */
async function findNearest(parts: Parts, states: readonly RecoveredState[], path: string): Promise<number | null> {
  const held = await parts.files.hold(path, "write", LIMITS.checkoutBusyWaitMs);
  try {
    let nearest: { index: number; differing: number } | null = null;
    for (let index = states.length - 1; index >= Math.max(0, states.length - STATES_COMPARED_MAX); index -= 1) {
      const chain = states[index]?.chain;
      if (!chain) continue;
      const { pageSize, pageCount, candidates } = await held.changes({
        fingerprint: null,
        pageSize: chain.pageSize,
        pageHashes: () => Promise.resolve(chain.pageHashes()),
      });
      if (pageSize !== chain.pageSize || candidates > pageCount / 2 || candidates >= (nearest?.differing ?? Infinity)) continue;
      nearest = { index, differing: candidates };
      if (candidates === 0) break;
    }
    return nearest?.index ?? null;
  } finally {
    await held.release();
  }
}

async function createFromStates(
  parts: Parts,
  states: readonly RecoveredState[],
  roots: readonly number[],
  { name, root, files }: { readonly name: string; readonly root: number; readonly files: readonly FoundFile[] },
): Promise<RepairReport["databases"][number]> {
  const members = states.flatMap((_, index) => (roots[index] === root ? [index] : []));
  const numberOf = (index: number): VersionNumber => (members.indexOf(index) + 1) as VersionNumber;
  const main = files.find(({ branch }) => branch === "main")?.nearest ?? newest(states, members);
  await commit(parts, "create-database", null, {
    moves: [],
    newDatabase: { uid: parts.randomness.bytes(16), name, journal: "wal", source: null },
    versions: members.map((index) => versionOf(states[index], members)),
    newBranches: { names: ["main"], head: newVersion(members.indexOf(main)), parent: null, forkVersion: null, ttlMs: null, meta: {} },
  });
  for (const { branch, nearest } of files) await adoptBranch(parts, name, branch, nearest === null ? 1 : numberOf(nearest));
  const headed = new Set([main, ...files.map(({ nearest }) => nearest), ...members.map((index) => states[index]?.parent ?? null)]);
  for (const leaf of members.filter((index) => !headed.has(index))) {
    const number = numberOf(leaf);
    await fork(parts, { database: name, branch: "main", at: `v${number}`, newBranch: `recovered-v${number}` });
  }
  return describe(parts, name, files.length);
}

function newest(states: readonly RecoveredState[], members: readonly number[]): number {
  return members.reduce((best, index) => ((states[index]?.storedAt ?? 0) >= (states[best]?.storedAt ?? 0) ? index : best), members[0] ?? 0);
}

function versionOf(state: RecoveredState | undefined, members: readonly number[]) {
  if (!state) throw new EngineError("internal", "Repair: a state is missing");
  const { segment, parent, chain, checksum } = state;
  return {
    parent: parent === null ? null : newVersion(members.indexOf(parent)),
    kind: parent === null ? ("import" as const) : ("rescue" as const),
    branch: null,
    pageSize: chain.pageSize,
    pageCount: chain.pageCount,
    checksum,
    changedPages: segment.pages,
    message: `Recovered from a segment stored ${new Date(state.storedAt).toISOString()}`,
    meta: {},
    segment: { level: parent === null ? BASE_LEVEL : 0, bytes: segment.bytes, inline: null, file: segment.file, parts: segment.parts },
  };
}

/** No segment is left of this database: its first file becomes a base. */
async function createFromFiles(
  parts: Parts,
  name: string,
  files: readonly FoundFile[],
  work: PhasedWork,
): Promise<RepairReport["databases"][number]> {
  await create(parts, { database: name, from: files[0]?.path }, work);
  for (const { branch } of files) await adoptBranch(parts, name, branch, 1);
  return describe(parts, name, files.length);
}

/** The branch of a file that is there: what the file holds beyond the version is its unsaved work. */
async function adoptBranch(parts: Parts, database: string, branch: string, version: number): Promise<void> {
  if (branch !== "main") await fork(parts, { database, branch: "main", at: `v${version}`, newBranch: branch });
  const place = findBranch(parts, database, branch);
  parts.catalog.setFact(place.branch.id, { base: version as VersionNumber, content: version as VersionNumber, fingerprint: null });
}

function describe(parts: Parts, name: string, files: number): RepairReport["databases"][number] {
  const database = findDatabase(parts, name);
  return { name, versions: parts.catalog.versions.count(database.id), branches: parts.catalog.branches.count(database.id), files };
}

function freeName(parts: Parts): string {
  for (let number = 1; ; number += 1) if (!parts.catalog.databases.byName(`recovered-${number}`)) return `recovered-${number}`;
}

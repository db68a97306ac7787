/**
 * One query put to many states, in parallel. States that are one version are asked once. A branch's own file is read
 * where it is clean, or has unsaved work; other versions pass through one scratch file a process, neighbours after each
 * other, so that hardly anything is written between two of them.
 */
import { formatTarget, type VersionNumber } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { compileNamePattern } from "#shared/name-pattern.ts";
import type { AcrossResultView, AcrossTargetView, StatementView } from "#shared/query-views.ts";
import type { BranchRecord, DatabaseRecord } from "../catalog/records.ts";
import { staleError } from "../branches/checkpoint.ts";
import type { Parts } from "../branches/parts.ts";
import { findBranch, resolveAt, type Place } from "../branches/resolve.ts";
import { EngineError, toErrorView } from "../io/errors.ts";
import type { Work } from "../segments/page-source.ts";
import { collectScript } from "./collect-script.ts";
import { PARALLEL_QUERIES, type QueryChildren } from "./query-children.ts";
import type { ScriptOrder } from "./query-protocol.ts";
import { ScratchFile } from "./scratch-file.ts";

export interface AcrossTarget {
  readonly view: AcrossTargetView;
  readonly branch: string;
  readonly at: string | undefined;
}

/** Targets that one look answers. */
interface Group {
  readonly place: Place;
  readonly targets: number[];
  readonly version: VersionNumber;
  /** A file that holds it: with unsaved work, or as long as its fingerprint matches. */
  file: { readonly path: string; readonly fingerprint: string | null } | null;
  readonly hasUnsaved: boolean;
}

export interface Question {
  readonly sql: string;
  readonly rowsMax: number;
}

export type OnResult = (results: readonly AcrossResultView[], chars: number) => void | Promise<void>;

/**
 * Branches by pattern (see `compileNamePattern`), in order of their names, then single ones; each once. Throws `branch-not-found` for a pattern that fits none, `bad-argument` when there are too many.
 */
export function findTargets(
  parts: Parts,
  database: DatabaseRecord,
  input: {
    readonly patterns?: readonly string[] | undefined;
    readonly at?: string | undefined;
    readonly targets?: readonly { readonly branch: string; readonly at?: string | undefined }[] | undefined;
  },
): AcrossTarget[] {
  const found = new Map<string, AcrossTarget>();
  const add = (branch: string, at: string | undefined): void => {
    const label = formatTarget({ database: database.name, branch }) + (at === undefined ? "" : `@${at}`);
    if (!found.has(label)) found.set(label, { view: { label, branch, at: at ?? null }, branch, at });
  };
  for (const pattern of input.patterns ?? []) {
    const names = matchingBranches(parts, database, pattern);
    if (names.length === 0)
      throw new EngineError("branch-not-found", `No branch of "${database.name}" is named like ${pattern}`, { details: { name: pattern } });
    for (const name of names) add(name, input.at);
  }
  for (const { branch, at } of input.targets ?? []) add(branch, at ?? input.at);
  if (found.size === 0) throw new EngineError("bad-argument", "No branch is named: which ones should be asked?");
  if (found.size <= LIMITS.acrossTargetsMax) return [...found.values()];
  throw new EngineError("bad-argument", `${found.size} states are too many to be asked at once: at most ${LIMITS.acrossTargetsMax}`);
}

function matchingBranches(parts: Parts, database: DatabaseRecord, pattern: string): string[] {
  const fixed = /^[^*?]*/.exec(pattern)?.[0] ?? "";
  const matcher = compileNamePattern(pattern);
  return parts.catalog.branches.names(database.id, fixed, LIMITS.forkCountMax * 10).filter((name) => matcher.test(name));
}

/** Asks all; each result is given out as it comes, to a reader who may take his time. Throws `cancelled` only. */
export async function askAcross(
  parts: Parts,
  children: QueryChildren,
  {
    database,
    targets,
    question,
  }: { readonly database: DatabaseRecord; readonly targets: readonly AcrossTarget[]; readonly question: Question },
  onResult: OnResult,
  work: Work,
): Promise<void> {
  const failed: AcrossResultView[] = [];
  const groups = groupTargets(parts, database, targets, (target, error) => failed.push(...failure([target], null, error)));
  await onResult(failed, 0);
  let done = failed.length;
  const workers = Math.min(PARALLEL_QUERIES, groups.length);
  const share = Math.ceil(groups.length / Math.max(1, workers));
  const askShare = async (worker: number): Promise<void> => {
    const scratch = new ScratchFile(parts);
    try {
      for (const group of groups.slice(worker * share, (worker + 1) * share)) {
        const { results, chars } = await askGroup(parts, children, group, question, scratch, work);
        done += results.length;
        work.progress?.(done, targets.length);
        await onResult(results, chars);
      }
    } finally {
      scratch.remove();
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: workers }, (_, worker) => askShare(worker)));
  for (const each of ended) if (each.status === "rejected") throw each.reason;
}

/** By version, the numbers ascending: neighbours share most. Files with unsaved work come first. */
function groupTargets(
  parts: Parts,
  database: DatabaseRecord,
  targets: readonly AcrossTarget[],
  onFailure: (target: number, error: unknown) => void,
): Group[] {
  const groups = new Map<string, Group>();
  for (const [index, { branch, at }] of targets.entries()) {
    try {
      const place = findBranch(parts, database.name, branch);
      const file = at === undefined ? lookAtFile(parts, place) : null;
      const version = resolveAt(parts, place, at);
      const key = file?.hasUnsaved ? `file ${branch}` : `v${version}`;
      const group = groups.get(key) ?? { place, targets: [], version, file: null, hasUnsaved: file?.hasUnsaved ?? false };
      group.targets.push(index);
      group.file ??= file;
      groups.set(key, group);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      onFailure(index, error);
    }
  }
  return [...groups.values()].toSorted((a, b) => Number(b.hasUnsaved) - Number(a.hasUnsaved) || a.version - b.version);
}

/** Null where there is no file to read: none at all, or one that is stale and holds nothing of its own. */
function lookAtFile(parts: Parts, place: Place): { path: string; fingerprint: string | null; hasUnsaved: boolean } | null {
  const path = parts.paths.checkout(place.database.name, place.branch.name);
  const fact = parts.catalog.fact(place.branch.id);
  if (!fact) return null;
  const found = parts.files.check(path, fact.fingerprint);
  if (found === "missing") return null;
  const isClean = found === "same" && fact.content === fact.base;
  if (isBehind(fact.base, place.branch)) {
    if (isClean) return null;
    throw staleError(place, fact.base);
  }
  return { path, fingerprint: fact.fingerprint, hasUnsaved: !isClean };
}

function isBehind(base: VersionNumber, branch: BranchRecord): boolean {
  return base !== branch.head;
}

async function askGroup(
  parts: Parts,
  children: QueryChildren,
  group: Group,
  question: Question,
  scratch: ScratchFile,
  work: Work,
): Promise<{ results: AcrossResultView[]; chars: number }> {
  const began = performance.now();
  try {
    const { file } = group;
    let answer = file === null ? null : await ask(children, { path: file.path, isShared: true }, question, work);
    // Somebody who wrote meanwhile wrote something that is in no version.
    const isAsKnown = file !== null && (group.hasUnsaved || parts.files.check(file.path, file.fingerprint) === "same");
    if (answer === null || !isAsKnown) {
      const path = await scratch.bring(group.place, group.version, work);
      // In WAL mode, like a branch's file: what SQLite puts beside it goes with the connection.
      answer = await ask(children, { path, isShared: true, isScratch: true }, question, work);
    }
    const { statement, digest, chars } = answer;
    if (statement.error)
      throw new EngineError("sql-failed", statement.error.message, { details: { found: statement.error.code ?? "refused" } });
    const { columns, rows, truncated } = statement;
    const found = {
      version: group.version,
      kind: group.hasUnsaved ? "file" : "version",
      columns: columns ?? [],
      rows,
      truncated,
      digest,
      durationMs: performance.now() - began,
      error: null,
    } as const;
    return { results: group.targets.map((target) => ({ target, ...found })), chars: chars * group.targets.length };
  } catch (error) {
    if (work.signal?.aborted || !(error instanceof EngineError)) throw error;
    return { results: failure(group.targets, group, error), chars: 0 };
  }
}

async function ask(
  children: QueryChildren,
  file: Pick<ScriptOrder, "path" | "isShared" | "isScratch">,
  { sql, rowsMax }: Question,
  work: Work,
): Promise<{ statement: StatementView; digest: string | null; chars: number }> {
  const order: ScriptOrder = {
    ...file,
    busyMs: LIMITS.queryBusyWaitMs,
    sql,
    mode: "read",
    rowsMax,
    charsMax: LIMITS.queryAnswerBytesMax,
    valueBytesMax: LIMITS.queryValueBytesMax,
    expectChanges: null,
    withDigest: true,
  };
  const { statements, digest, chars } = await collectScript(children, order, work);
  const [statement] = statements;
  if (statement) return { statement, digest, chars };
  throw new EngineError("bad-argument", "There is no statement to run");
}

function failure(targets: readonly number[], group: Group | null, error: unknown): AcrossResultView[] {
  return targets.map((target) => ({
    target,
    version: group?.version ?? null,
    kind: group?.hasUnsaved ? "file" : "version",
    columns: [],
    rows: [],
    truncated: false,
    digest: null,
    durationMs: 0,
    error: toErrorView(error),
  }));
}

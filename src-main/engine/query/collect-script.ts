import { LIMITS } from "#shared/limits.ts";
import type { DataValue, StatementView } from "#shared/query-views.ts";
import type { Work } from "../segments/page-source.ts";
import type { QueryChildren } from "./query-children.ts";
import type { ScriptOrder, ScriptOutcome } from "./query-protocol.ts";

export interface CollectedScript {
  readonly statements: StatementView[];
  /** Of the last statement, where digests were asked for. */
  readonly digest: string | null;
  readonly unlisted: number;
  readonly outcome: ScriptOutcome;
  /** Characters of all rows, about. */
  readonly chars: number;
}

/** Runs a script and keeps what its statements found: of the first thousand, and of the one that failed. */
export async function collectScript(children: QueryChildren, order: ScriptOrder, work: Work): Promise<CollectedScript> {
  const statements: StatementView[] = [];
  let lastDigest: string | null = null;
  let [unlisted, chars] = [0, 0];
  let about: { start: number; end: number; columns: readonly string[] | null } = { start: 0, end: 0, columns: null };
  let rows: (readonly DataValue[])[] = [];
  const outcome = await children.run("script", order, work, (event) => {
    if (event.kind === "statement") {
      about = event;
      rows = [];
    } else if (event.kind === "rows") {
      chars += JSON.stringify(event.rows).length;
      rows.push(...event.rows);
    } else {
      const { truncated, changes, durationMs, error, note, digest } = event;
      lastDigest = digest;
      const { start, end, columns } = about;
      if (statements.length >= LIMITS.queryStatementsMax && error === null) unlisted += 1;
      else statements.push({ start, end, columns, rows, truncated, changes, durationMs, error, note });
    }
  });
  return { statements, digest: lastDigest, unlisted, outcome, chars };
}

/** The database name an import proposes and judges while it is typed. */
import { LIMITS } from "#shared/limits.ts";
import { nameProblem } from "#shared/ids.ts";

const FILE_ENDING = /\.(db|db3|sqlite|sqlite3|s3db)$/i;

/** "Übersicht “Q4” 2026.db" → "ubersicht-q4-2026": letters lose their accents, what is left over becomes a dash. */
export function proposeName(fileName: string, taken: ReadonlySet<string>): string {
  const stem = fileName.replace(/^.*[\\/]/, "").replace(FILE_ENDING, "");
  const plain = stem
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .replaceAll("ß", "ss")
    .toLowerCase();
  const name = plain
    .replace(/[^a-z0-9_.]+/g, "-")
    .replace(/\.{2,}/g, ".")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, LIMITS.nameCharsMax - 4);
  // A name entirely in another script leaves nothing behind.
  const base = nameProblem("database", name) === null ? name : "database";
  if (!taken.has(base)) return base;
  for (let n = 2; ; n += 1) if (!taken.has(`${base}-${n}`)) return `${base}-${n}`;
}

export type NameJudgement = { readonly state: "free" } | { readonly state: "taken" | "bad"; readonly problem: string };

export function judgeName(name: string, taken: ReadonlySet<string>): NameJudgement {
  const problem = nameProblem("database", name);
  if (problem) return { state: "bad", problem };
  if (taken.has(name)) return { state: "taken", problem: `This store already has a database ${name}` };
  return { state: "free" };
}

/**
 * The filter language of branch lists: `is:leaf is:unsaved status:pass age:>7d ttl:<1h name:fix/* text`. Terms are joined
 * by "and"; a leading `-` negates one. The Branches screen and `ls --filter` share it.
 */
import { compileNamePattern, type NamePattern } from "./name-pattern.ts";
import { parseDuration } from "./units.ts";
import type { BranchView } from "./views.ts";

const IS_WORDS = ["leaf", "unsaved", "protected", "conflict", "open"] as const;
type IsWord = (typeof IS_WORDS)[number];
type Compare = "<" | ">";

type Term = { readonly negated: boolean } & (
  | { readonly kind: "is"; readonly word: IsWord }
  | { readonly kind: "status"; readonly status: string }
  | { readonly kind: "age" | "ttl"; readonly compare: Compare; readonly ms: number }
  | { readonly kind: "no-ttl" }
  | { readonly kind: "name"; readonly pattern: NamePattern }
  | { readonly kind: "text"; readonly text: string }
);

export interface BranchFilter {
  readonly terms: readonly Term[];
}

export interface FilterContext {
  /** Unix milliseconds. */
  readonly now: number;
  /** Ids of the branches that others were forked from. */
  readonly parents: ReadonlySet<number>;
}

/** Answers a sentence when a term is not understood. The empty text matches everything. */
export function parseBranchFilter(text: string): BranchFilter | string {
  const terms: Term[] = [];
  for (const word of text.trim().toLowerCase().split(/\s+/)) {
    if (word === "") continue;
    const negated = word.startsWith("-") && word.length > 1;
    const term = parseTerm(negated ? word.slice(1) : word, negated);
    if (typeof term === "string") return term;
    terms.push(term);
  }
  return { terms };
}

function parseTerm(word: string, negated: boolean): Term | string {
  const colon = word.indexOf(":");
  if (colon < 0) return { kind: "text", text: word, negated };
  const key = word.slice(0, colon);
  const value = word.slice(colon + 1);
  switch (key) {
    case "is": {
      const known = IS_WORDS.find((candidate) => candidate === value);
      return known ? { kind: "is", word: known, negated } : `"is:${value}": write ${IS_WORDS.map((each) => `is:${each}`).join(", ")}`;
    }
    case "status":
      return value === "" ? `"status:" needs a word, e.g. status:pass` : { kind: "status", status: value, negated };
    case "name":
      return value === "" ? `"name:" needs a name, e.g. name:fix/*` : { kind: "name", pattern: findNames(value), negated };
    case "age":
    case "ttl": {
      if (key === "ttl" && value === "none") return { kind: "no-ttl", negated };
      const match = /^([<>])(.+)$/.exec(value);
      const ms = match?.[2] ? parseDuration(match[2]) : null;
      return match && ms !== null ? { kind: key, compare: match[1] as Compare, ms, negated } : `"${word}": write ${key}:>7d or ${key}:<1h`;
    }
    default:
      return `"${key}:" is no filter. Write is:, status:, age:, ttl: or name:`;
  }
}

/** Without a star, the name must contain the text. */
function findNames(text: string): NamePattern {
  return text.includes("*") ? compileNamePattern(text) : { test: (name) => name.includes(text) };
}

export function matchesBranch(filter: BranchFilter, branch: BranchView, context: FilterContext): boolean {
  return filter.terms.every((term) => matchesTerm(term, branch, context) !== term.negated);
}

function matchesTerm(term: Term, branch: BranchView, context: FilterContext): boolean {
  switch (term.kind) {
    case "is":
      return matchesWord(term.word, branch, context);
    case "status":
      return (branch.meta["status"] ?? "none").toLowerCase() === term.status;
    case "age":
      return compare(context.now - branch.headAt, term);
    case "ttl":
      return branch.expiresAt !== null && compare(branch.expiresAt - context.now, term);
    case "no-ttl":
      return branch.expiresAt === null;
    case "name":
      return term.pattern.test(branch.name);
    case "text":
      return branch.name.includes(term.text) || (branch.headCheckpoint?.includes(term.text) ?? false);
  }
}

function matchesWord(word: IsWord, branch: BranchView, context: FilterContext): boolean {
  switch (word) {
    case "leaf":
      return !context.parents.has(branch.id);
    case "unsaved":
      return branch.checkout.state === "unsaved" || branch.checkout.state === "conflict";
    case "conflict":
      return branch.checkout.state === "conflict";
    case "protected":
      return branch.protected;
    case "open":
      return branch.checkout.state !== "none" && branch.checkout.state !== "missing";
  }
}

function compare(value: number, term: { readonly compare: Compare; readonly ms: number }): boolean {
  return term.compare === "<" ? value < term.ms : value > term.ms;
}

/** Ids that appear as a fork point of one of `branches`. */
export function parentIds(branches: readonly BranchView[]): ReadonlySet<number> {
  const ids = new Set<number>();
  for (const branch of branches) {
    if (branch.forkedFrom?.branchId != null) ids.add(branch.forkedFrom.branchId);
  }
  return ids;
}

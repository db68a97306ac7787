import { expect, test } from "vitest";
import { matchesBranch, parentIds, parseBranchFilter } from "../../src-shared/branch-filter.ts";
import type { BranchView, CheckoutState } from "../../src-shared/views.ts";

const NOW = Date.UTC(2026, 10, 30);
const HOUR = 3_600_000;

function branch(
  id: number,
  name: string,
  rest: {
    status?: string;
    state?: CheckoutState;
    ageMs?: number;
    leftMs?: number;
    parent?: number;
    locked?: boolean;
    checkpoint?: string;
  } = {},
): BranchView {
  return {
    id,
    database: "shop",
    name,
    head: id,
    headAt: NOW - (rest.ageMs ?? 0),
    headActor: "anna",
    headCheckpoint: rest.checkpoint ?? null,
    forkedFrom: rest.parent === undefined ? null : { branchId: rest.parent, branch: "main", version: 1, checkpoint: null },
    createdAt: NOW,
    actor: "anna",
    touchedAt: NOW,
    ttlMs: rest.leftMs ?? null,
    expiresAt: rest.leftMs === undefined ? null : NOW + rest.leftMs,
    protected: rest.locked ?? false,
    meta: rest.status === undefined ? {} : { status: rest.status },
    checkpoints: 0,
    checkout: { state: rest.state ?? "none", path: "/x.db", base: null, fileBytes: 0, walBytes: 0 },
  };
}

const ALL = [
  branch(1, "main", { locked: true, state: "clean", checkpoint: "q4-close" }),
  branch(2, "try-cents", { parent: 1, status: "pass", ageMs: 8 * 24 * HOUR, state: "unsaved" }),
  branch(3, "fix/refunds", { parent: 2, status: "Fail", leftMs: HOUR / 2, state: "conflict" }),
  branch(4, "fix/refunds-2", { parent: 2, leftMs: 2 * HOUR, ageMs: HOUR, state: "missing" }),
];

function find(text: string): string[] {
  const filter = parseBranchFilter(text);
  if (typeof filter === "string") throw new Error(filter);
  const context = { now: NOW, parents: parentIds(ALL) };
  return ALL.filter((each) => matchesBranch(filter, each, context)).map((each) => each.name);
}

test("FILTER-1: terms are joined by and; an empty text matches every branch", () => {
  expect(find("")).toHaveLength(4);
  expect(find("   ")).toHaveLength(4);
  expect(find("is:leaf status:fail")).toEqual(["fix/refunds"]);
  expect(find("fix is:leaf ttl:>1h")).toEqual(["fix/refunds-2"]);
});

test("FILTER-2: is: knows leaf, unsaved, protected, conflict and open", () => {
  expect(find("is:leaf")).toEqual(["fix/refunds", "fix/refunds-2"]);
  expect(find("is:unsaved")).toEqual(["try-cents", "fix/refunds"]);
  expect(find("is:conflict")).toEqual(["fix/refunds"]);
  expect(find("is:protected")).toEqual(["main"]);
  expect(find("is:open")).toEqual(["main", "try-cents", "fix/refunds"]);
});

test("FILTER-3: age and ttl compare times; without TTL only ttl:none matches", () => {
  expect(find("age:>7d")).toEqual(["try-cents"]);
  expect(find("age:<1h")).toEqual(["main", "fix/refunds"]);
  expect(find("ttl:<1h")).toEqual(["fix/refunds"]);
  expect(find("ttl:>1h")).toEqual(["fix/refunds-2"]);
  expect(find("ttl:none")).toEqual(["main", "try-cents"]);
});

test("FILTER-4: name: takes stars, bare words find names and head checkpoints", () => {
  expect(find("name:fix/*")).toEqual(["fix/refunds", "fix/refunds-2"]);
  expect(find("name:*refunds")).toEqual(["fix/refunds"]);
  expect(find("name:refunds")).toEqual(["fix/refunds", "fix/refunds-2"]);
  expect(find("name:f.x")).toEqual([]);
  expect(find("q4")).toEqual(["main"]);
  expect(find("CENTS")).toEqual(["try-cents"]);
});

test("FILTER-5: a leading minus negates one term", () => {
  expect(find("-is:leaf")).toEqual(["main", "try-cents"]);
  expect(find("-status:fail is:leaf")).toEqual(["fix/refunds-2"]);
  expect(find("status:none")).toEqual(["main", "fix/refunds-2"]);
});

test("FILTER-6: a term that is not understood yields a sentence that names it", () => {
  for (const text of ["is:nothing", "age:7d", "age:>soon", "ttl:", "size:>1MB", "status:", "name:", "-is:x"]) {
    const problem = parseBranchFilter(`main ${text}`);
    expect(typeof problem, text).toBe("string");
    expect(problem).toContain(text.replace(/^-/, "").split(":")[0]);
  }
});

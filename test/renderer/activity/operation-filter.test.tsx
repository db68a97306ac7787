import { expect, test } from "vitest";
import {
  countGroups,
  isFiltering,
  listActors,
  matchesOperation,
  type OperationFilter,
} from "../../../src-renderer/activity/operation-filter.ts";
import { operationView } from "../support/views.ts";

const all: OperationFilter = { text: "", group: "all", database: null, actor: null };

test("ACTIVITY-1: every word of the filter must occur in summary, names, actor or number", () => {
  const operation = operationView(42, { kind: "promote", summary: "Promoted attempt-2 → main", actor: "cli" });
  for (const text of ["", "  ", "PROMOTED main", "cli #42", "shop"]) expect(matchesOperation(operation, { ...all, text })).toBe(true);
  for (const text of ["attempt-3", "promoted agent", "#43"]) expect(matchesOperation(operation, { ...all, text })).toBe(false);
});

test("ACTIVITY-2: kind, database and actor narrow; group counts ignore the chosen group only", () => {
  const operations = [
    operationView(3, { kind: "fork", actor: "anna" }),
    operationView(2, { kind: "promote", actor: "agent-7" }),
    operationView(1, { kind: "fork", actor: "agent-7", database: "crm" }),
  ];
  const kept = (filter: Partial<OperationFilter>) =>
    operations.filter((operation) => matchesOperation(operation, { ...all, ...filter })).map((operation) => operation.id);
  expect(kept({ group: "create" })).toEqual([3, 1]);
  expect(kept({ database: "shop", actor: "agent-7" })).toEqual([2]);
  const counts = countGroups(operations, { ...all, group: "move", actor: "agent-7" });
  expect([counts.get("all"), counts.get("move"), counts.get("create"), counts.get("save")]).toEqual([2, 1, 1, undefined]);
  expect(listActors(operations)).toEqual(["anna", "agent-7"]);
  expect([isFiltering(all), isFiltering({ ...all, text: " " }), isFiltering({ ...all, text: "a" })]).toEqual([false, false, true]);
});

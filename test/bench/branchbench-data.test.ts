import { appendFileSync, copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { generate, identify } from "#bench/branchbench/generate.ts";
import { parametersOf, WORKLOADS, type Parameters, type Workload } from "#bench/branchbench/parameters.ts";
import { runSql } from "#bench/branchbench/run-sql.ts";
import { SCALES } from "#bench/branchbench/schema.ts";
import { prepareSeed } from "#bench/branchbench/seed.ts";
import { folderBytes } from "#bench/branchbench/sizes.ts";
import { comparisonOf, statementsOf, type StepIdentity } from "#bench/branchbench/statements.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { fakeBench } from "./fake-bench.ts";

async function makeSeed(folder: string, seed = 1, name = "seed.db"): Promise<string> {
  const path = join(folder, name);
  await generate(path, { scale: SCALES.quick, seed }, () => Promise.resolve());
  return path;
}

function identity(workload: Workload, worker: number, step: number): StepIdentity {
  return { workload, worker, step, seed: 1, scale: SCALES.quick };
}

function numbers(path: string, sql: string): number[] {
  const database = new Database(path, { readonly: true });
  try {
    const row = database.prepare<[], number[]>(sql).raw().get();
    return row ?? [];
  } finally {
    database.close();
  }
}

test("SUITE-10: one seed gives the same bytes, another others; orders and their lines agree", async () => {
  const folder = makeTemporaryFolder();
  const path = await makeSeed(folder);
  expect(identify(await makeSeed(folder, 1, "again.db"))).toEqual(identify(path));
  expect(identify(await makeSeed(folder, 2, "other.db")).sha256).not.toBe(identify(path).sha256);
  expect(
    numbers(
      path,
      "SELECT count(*), sum(o_lines) FROM orders WHERE o_lines <> (SELECT count(*) FROM order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id)",
    ),
  ).toEqual([0, null]);
  expect(numbers(path, "PRAGMA foreign_key_check")).toEqual([]);
  const [customers = 0, empty = 0, negative = 0] = numbers(
    path,
    "SELECT count(*), count(*) FILTER (WHERE c_balance IS NULL), count(*) FILTER (WHERE c_balance < 0) FROM customer",
  );
  expect(customers).toBe(400);
  expect(empty).toBeGreaterThan(0);
  expect(negative).toBeGreaterThan(0);
});

test("SUITE-10: a generation that is ended leaves no database", async () => {
  const path = join(makeTemporaryFolder(), "seed.db");
  await expect(generate(path, { scale: SCALES.S, seed: 1 }, () => Promise.reject(new Error("stop")))).rejects.toThrow("stop");
  expect(existsSync(path)).toBe(false);
});

test("SUITE-10: a workload does not start from a database that has changed since the run began", async () => {
  const { bench, recorded } = fakeBench(makeTemporaryFolder());
  const path = await prepareSeed(bench);
  expect(await prepareSeed(bench)).toBe(path);
  expect(recorded.facts.get("database")).toBe(identify(path).bytes);
  appendFileSync(path, "x");
  await expect(prepareSeed(bench)).rejects.toThrow("has changed since the run began");
});

test.each(WORKLOADS)("SUITE-11: %s: as many statements as the parameters allow, the same for the same step", (workload) => {
  for (const form of ["full", "quick"] as const) {
    const parameters = parametersOf(workload, form);
    for (const evaluation of ["lines", "own"] as const) {
      const found = statementsOf(identity(workload, 3, 4), parameters, evaluation);
      expect(found.schema.length).toBe(workload === "failure_repro" ? 5 : parameters.schemaStatements);
      expect(found.data).toHaveLength(parameters.dataStatements);
      expect(found.queries).toHaveLength(parameters.queries);
      expect(statementsOf(identity(workload, 3, 4), parameters, evaluation)).toEqual(found);
    }
  }
});

test("SUITE-11: failure reproduction has 45 statements of data, and drops a column again in even steps only", () => {
  const parameters = parametersOf("failure_repro", "full");
  expect(statementsOf(identity("failure_repro", 0, 1), parameters, "own").schema).toHaveLength(4);
  const { data } = statementsOf(identity("failure_repro", 0, 2), parameters, "own");
  expect(data.filter(({ sql }) => sql.startsWith("INSERT OR IGNORE INTO order_line"))).toHaveLength(42);
});

test.each(WORKLOADS)(
  "SUITE-11: %s: every statement succeeds, on a branch that inherits those of others, and none is without effect",
  async (workload) => {
    const path = await makeSeed(makeTemporaryFolder());
    const forms: readonly Parameters[] = [parametersOf(workload, "full"), parametersOf(workload, "quick")];
    for (const [form, parameters] of forms.entries())
      for (let step = 0; step < 4; step += 1) {
        const own = { step: identity(workload, form * 2 + (step % 2), step), parameters, path };
        const before = identify(path).sha256;
        const { each } = runSql({ act: "work", ...own });
        expect(each).toHaveLength(statementsOf(own.step, parameters, "own").schema.length + parameters.dataStatements);
        // Every other step of data cleaning finds nothing left to clean, but it has added its column.
        expect(identify(path).sha256).not.toBe(before);
        for (const evaluation of ["own", "lines"] as const) {
          const found = runSql({ act: "evaluate", ...own, evaluation, again: true });
          expect([found.each.length, found.again.length]).toEqual([parameters.queries, parameters.queries]);
        }
      }
    const comparison = comparisonOf(workload);
    if (comparison) expect(runSql({ act: "read", path, query: comparison }).value).toBeGreaterThanOrEqual(0);
  },
);

test("SUITE-11: failure reproduction finds the orders that it broke", async () => {
  const folder = makeTemporaryFolder();
  const path = await makeSeed(folder);
  const parameters = parametersOf("failure_repro", "full");
  const [query] = statementsOf(identity("failure_repro", 0, 0), parameters, "own").queries;
  if (!query) throw new Error("a query");
  const broken = () => runSql({ act: "read", path, query }).value;
  expect(broken()).toBe(0);
  // An order that says it has lines, and has none.
  const database = new Database(path);
  database.exec("INSERT INTO orders VALUES (1, 1, 9999, 1, NULL, NULL, 42, 1)");
  database.close();
  expect(broken()).toBe(1);
});

test("SUITE-11: a statement that fails is no statement that ran", async () => {
  const path = await makeSeed(makeTemporaryFolder());
  const parameters = parametersOf("software_dev", "full");
  const request = { act: "work", path, parameters, step: identity("software_dev", 0, 0) } as const;
  runSql(request);
  expect(() => runSql(request)).toThrow("duplicate column name: tier_0_0");
});

test("SUITE-11: sizes are those of files, also in folders that are not there", async () => {
  const folder = makeTemporaryFolder();
  const path = await makeSeed(folder);
  copyFileSync(path, join(folder, "copy.db"));
  expect(folderBytes(folder)).toBe(identify(path).bytes * 2);
  expect(folderBytes(join(folder, "nothing"))).toBe(0);
});

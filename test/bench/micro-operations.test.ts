import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { generate } from "#bench/branchbench/generate.ts";
import { SCALES } from "#bench/branchbench/schema.ts";
import { DATABASE, firstMiddleLast, makeBranches, SHAPES } from "#bench/micro/branches.ts";
import { OPERATIONS, Orders } from "#bench/micro/operations.ts";
import { createStore } from "#engine/store.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

async function makeSeed(folder: string): Promise<string> {
  const path = join(folder, "seed.db");
  await generate(path, { scale: SCALES.quick, seed: 1 }, () => Promise.resolve());
  return path;
}

function dump(path: string): unknown[] {
  const database = new Database(path, { readonly: true });
  try {
    return [
      ...database.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").all(),
      ...database.prepare("SELECT * FROM orders ORDER BY o_w_id, o_d_id, o_id").all(),
    ];
  } finally {
    database.close();
  }
}

test("SUITE-12: every operation does what it is called, and what is added is taken away again", async () => {
  const path = await makeSeed(makeTemporaryFolder());
  const untouched = dump(path);
  const orders = new Orders(path, { seed: 1, stream: 0, rangeRows: 50 });
  try {
    for (const operation of ["read", "range-read"] as const) expect(orders.time(operation)).toBeGreaterThan(0);
    expect(dump(path)).toEqual(untouched);
    for (let round = 0; round < 3; round += 1) orders.time("insert");
    expect(dump(path)).toHaveLength(untouched.length + 3);
    // The fourth deletes a row that it inserted itself.
    for (let round = 0; round < 4; round += 1) orders.time("delete");
    for (const operation of ["add-index", "drop-index", "add-column", "drop-column"] as const) {
      const before = dump(path);
      orders.time(operation);
      expect(dump(path), operation).not.toEqual(before);
    }
    expect(dump(path)).toEqual(untouched);
    orders.time("update");
    const updated = dump(path);
    expect(updated.filter((row, index) => JSON.stringify(row) !== JSON.stringify(untouched[index]))).toHaveLength(1);
    orders.time("range-update");
    const changed = dump(path).filter((row, index) => JSON.stringify(row) !== JSON.stringify(updated[index]));
    expect(changed.length).toBeGreaterThan(1);
    expect(changed.length).toBeLessThanOrEqual(50);
  } finally {
    orders.close();
  }
});

test("SUITE-12: the same seed touches the same rows", async () => {
  const [one, other] = await Promise.all([makeSeed(makeTemporaryFolder()), makeSeed(makeTemporaryFolder())]);
  for (const path of [one, other]) {
    const orders = new Orders(path, { seed: 5, stream: 2, rangeRows: 20 });
    for (const operation of OPERATIONS) orders.time(operation);
    orders.close();
  }
  expect(dump(one)).toEqual(dump(other));
});

test.each(SHAPES)("SUITE-12: %s: branches in the shape that was asked for, each changed when that was asked for", async (shape) => {
  const folder = makeTemporaryFolder();
  const store = await createStore(join(folder, "store"), { actor: "bench", ownProcess: true });
  try {
    await store.create({ database: DATABASE, from: await makeSeed(folder) });
    const changed: string[] = [];
    const names = await makeBranches(
      store,
      { count: 12, shape, seed: 1 },
      { change: async (branch) => void changed.push(branch), pause: () => Promise.resolve() },
    );
    expect(names).toHaveLength(12);
    expect(changed).toEqual(names.slice(1));
    const { branches } = await store.branches({ database: DATABASE });
    const parents = new Map(branches.map(({ name, forkedFrom }) => [name, forkedFrom?.branch ?? null]));
    const parentsOf = names.slice(1).map((name) => parents.get(name));
    if (shape === "spine") expect(parentsOf).toEqual(names.slice(0, -1));
    if (shape === "fan-out") expect(new Set(parentsOf)).toEqual(new Set(["main"]));
    if (shape === "bushy") {
      expect(new Set(parentsOf).size).toBeGreaterThan(2);
      for (const [index, parent] of parentsOf.entries()) expect(names.slice(0, index + 1)).toContain(parent);
    }
    expect(firstMiddleLast(names).map(({ branch }) => branch)).toEqual([names[0], names[6], names[11]]);
  } finally {
    await store.close();
  }
});

import { describe, expect, test } from "vitest";
import { decodeDetail, encodeDetail, parseMeta, type OperationDetail } from "#engine/catalog/operation-detail.ts";
import { EngineError } from "#engine/io/errors.ts";
import { branchId, databaseId, operationId, v } from "./drafts.ts";

const NOTHING: OperationDetail = {
  source: null,
  moves: [],
  newBranches: null,
  newDatabase: null,
  newVersions: [],
  reverses: null,
  autosave: null,
  purged: null,
};

const EVERYTHING: OperationDetail = {
  source: branchId(3),
  newBranches: { first: branchId(300), count: 2 },
  newDatabase: databaseId(2),
  newVersions: [v(10), v(11)],
  reverses: operationId(70_000),
  autosave: { branch: branchId(3), version: v(10), base: v(9) },
  purged: { branches: [branchId(4), branchId(600)], databases: [databaseId(1)], versions: 12 },
  moves: [
    { ref: "head", branch: branchId(3), before: v(2 ** 28 - 1), after: v(1) },
    { ref: "branch-state", branch: branchId(7), before: "live", after: "trashed" },
    { ref: "branch-state", branch: branchId(8), before: "live", after: "trashed" },
    { ref: "branch-state", branch: branchId(9), before: "trashed", after: "live" },
    { ref: "branch-name", branch: branchId(3), before: "a", after: "b/ü" },
    { ref: "protected", branch: branchId(3), before: true, after: false },
    { ref: "ttl", branch: branchId(3), before: null, after: 0 },
    { ref: "meta", branch: branchId(3), before: {}, after: { k: "v\u0000" } },
    { ref: "epoch", branch: branchId(3), before: 0, after: 2 ** 50 },
    { ref: "checkpoint", branch: branchId(3), name: "auto-4", before: null, after: v(4) },
    { ref: "checkpoint", branch: branchId(3), name: "auto-4", before: v(4), after: null },
    { ref: "checkpoint", branch: branchId(3), name: "x", before: v(4), after: v(5) },
    { ref: "database-state", database: databaseId(1), before: "live", after: "trashed" },
    { ref: "database-state", database: databaseId(1), before: "trashed", after: "live" },
    { ref: "database-name", database: databaseId(1), before: "a", after: "b" },
  ],
};

describe("operation detail", () => {
  test("DETAIL-1: every move and every part of an operation comes back as it was", () => {
    expect(decodeDetail(encodeDetail(EVERYTHING))).toEqual(EVERYTHING);
    expect(encodeDetail(NOTHING)).toBeNull();
    expect(decodeDetail(null)).toEqual(NOTHING);
    const run = Array.from(
      { length: 250_000 },
      (_, index) => ({ ref: "branch-state", branch: branchId(index + 1), before: "live", after: "trashed" }) as const,
    );
    const bytes = encodeDetail({ ...NOTHING, moves: run });
    expect(bytes?.length).toBeLessThan(40);
    expect(decodeDetail(bytes).moves).toHaveLength(250_000);
  });

  test("DETAIL-2: damaged bytes are read as something else or refused with `store-corrupt`, in bounded time and memory", () => {
    const good = encodeDetail(EVERYTHING) ?? Buffer.alloc(0);
    const codes = new Set<string>();
    const read = (bytes: Uint8Array): void => {
      try {
        decodeDetail(bytes);
      } catch (error) {
        codes.add(error instanceof EngineError ? error.code : String(error));
      }
    };
    for (let at = 0; at < good.length; at += 1) {
      read(good.subarray(0, at));
      for (const value of [0, 1, 2, 22, 26, 99, 127, 128, 255, (good[at] ?? 0) ^ 1])
        read(Buffer.concat([good.subarray(0, at), Buffer.of(value), good.subarray(at + 1)]));
    }
    for (const bytes of [
      [2, 1, 255, 255, 255, 255, 255, 255, 127],
      [26, 1, 255, 255, 127],
      [22, 1, 255, 255, 255, 127],
      [4, 1, 255, 255, 127],
    ])
      read(Buffer.from(bytes));
    expect([...codes]).toEqual(["store-corrupt"]);
    for (const text of ["", "{", "[1]", "null", '{"a":1}', "7"]) expect(() => parseMeta(text)).toThrow(EngineError);
  });
});

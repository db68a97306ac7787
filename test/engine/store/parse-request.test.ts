import { expect, test } from "vitest";
import { REQUESTS } from "#shared/contract.ts";
import { EngineError } from "#engine/io/errors.ts";
import { parseRequest } from "#engine/parse-request.ts";

function codeOf(name: unknown, input: unknown): string {
  try {
    parseRequest(name, input);
    return "accepted";
  } catch (error) {
    return error instanceof EngineError ? error.code : `thrown ${String(error)}`;
  }
}

test("HOST-1: what the contract does not list is refused before anything is done", () => {
  expect(codeOf("branch.list", { database: "shop" })).toBe("accepted");
  expect(codeOf("nothing.here", {})).toBe("bad-argument");
  expect(codeOf("toString", {})).toBe("bad-argument");
  expect(codeOf("__proto__", {})).toBe("bad-argument");
  expect(codeOf(7, {})).toBe("bad-argument");
  for (const input of [null, undefined, "text", [], 3]) expect(codeOf("branch.list", input)).toBe("bad-argument");
  expect(codeOf("branch.list", { database: "shop", extra: 1 })).toBe("bad-argument");
  expect(codeOf("branch.list", { database: "shop", limit: -1 })).toBe("bad-argument");
  expect(codeOf("branch.list", { database: "shop", limit: 1.5 })).toBe("bad-argument");
  expect(codeOf("branch.list", {})).toBe("bad-argument");
});

test("HOST-1: every request refuses an unknown argument", () => {
  for (const name of Object.keys(REQUESTS)) expect(codeOf(name, { "no such argument": true }), name).toBe("bad-argument");
});

test("HOST-2: names that break the rules are refused with bad-name and what is wrong with them", () => {
  for (const database of ["", "Shop", "a b", "../x", "a/b", ".hidden", "x.db", "a".repeat(129)]) {
    expect(codeOf("branch.list", { database }), database).toBe("bad-name");
  }
  expect(() => parseRequest("branch.get", { database: "shop", branch: "Try One" })).toThrow(
    /branch.get, branch: Spaces are not allowed. Try try-one/,
  );
});

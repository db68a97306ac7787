import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readTypedPaths } from "#host/typed-path.ts";

test("HOST-14: ~ in a typed path is the home folder; names and other text stay as they are", () => {
  expect(readTypedPaths({ file: "~/shop.db", database: "~/x" })).toEqual({ file: join(homedir(), "shop.db"), database: "~/x" });
  expect(readTypedPaths({ spec: "~" })).toEqual({ spec: homedir() });
  expect(readTypedPaths({ from: "~other/shop.db" })).toEqual({ from: "~other/shop.db" });
  expect(readTypedPaths({ spec: "file:///tmp/~/store" })).toEqual({ spec: "file:///tmp/~/store" });
  expect(readTypedPaths({ left: { kind: "file", path: "~/a.db" }, right: { kind: "state", database: "~" } })).toEqual({
    left: { kind: "file", path: join(homedir(), "a.db") },
    right: { kind: "state", database: "~" },
  });
});

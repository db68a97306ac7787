import { expect, test } from "vitest";
import { toJson, toTsv, type TextColumn } from "../../../src-renderer/ui/table-text.ts";

const columns: readonly TextColumn<{ readonly name: string; readonly size: number | null }>[] = [
  { title: "name", value: (row) => row.name },
  { title: "size", value: (row) => row.size },
];

test("TABLE-1: a copied table is one line a row whatever the values hold, and JSON keeps numbers and null", () => {
  const rows = [
    { name: "a\tb\r\nc", size: 1024 },
    { name: "d", size: null },
  ];
  expect(toTsv(columns, rows)).toBe("name\tsize\na b c\t1024\nd\t\n");
  expect(JSON.parse(toJson(columns, rows))).toEqual([
    { name: "a\tb\r\nc", size: 1024 },
    { name: "d", size: null },
  ]);
});

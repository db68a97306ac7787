import { expect, test } from "vitest";
import { nameProblem } from "#shared/ids.ts";
import { judgeName, proposeName } from "../../../src-renderer/import-report/import-name.ts";
import { contentsText, reportText } from "../../../src-renderer/import-report/report-text.ts";
import { fileNameOf, shortenHome } from "../../../src-renderer/ui/paths.ts";
import { importReport } from "../support/views.ts";

test("REPORT-1: the proposed name is always allowed and free", () => {
  const taken = new Set(["shop", "shop-2"]);
  expect(proposeName("Übersicht “Q4” 2026.db", taken)).toBe("ubersicht-q4-2026");
  expect(proposeName("C:\\data\\Shop.sqlite3", taken)).toBe("shop-3");
  expect(proposeName("/home/you/Straße.db", taken)).toBe("strasse");
  for (const file of ["Документы.db", "💾.sqlite", "...db", "-.-", "a..b.db", ".db", "x".repeat(300), "copy.db-wal", ""]) {
    expect({ file, problem: nameProblem("database", proposeName(file, taken)) }).toEqual({ file, problem: null });
  }
});

test("REPORT-2: a name is judged while it is typed: free, taken or not allowed, each with its reason", () => {
  const taken = new Set(["shop"]);
  expect(judgeName("crm", taken)).toEqual({ state: "free" });
  expect(judgeName("shop", taken)).toMatchObject({ state: "taken" });
  expect(judgeName("My Shop", taken)).toEqual({ state: "bad", problem: "Spaces are not allowed. Try my-shop" });
});

test("REPORT-3: the copied report names every fact and every check", () => {
  const report = importReport();
  const text = reportText(report);
  for (const part of [
    report.source,
    report.sourceSha256,
    "242,647,040 bytes",
    "1,204,332 rows in 14 tables",
    "[warning] Collation de_phonebook",
  ])
    expect(text).toContain(part);
  for (const check of report.checks) expect(text).toContain(`${check.check}: ${check.found}`);
  expect(contentsText(importReport({ rows: null, tables: 1 }))).toBe("1 table");
  expect(fileNameOf("C:\\data\\a b.db")).toBe("a b.db");
  expect([shortenHome("/home/you/a", "/home/you"), shortenHome("/home/youth/a", "/home/you"), shortenHome("/a", "")]).toEqual([
    "~/a",
    "/home/youth/a",
    "/a",
  ]);
});

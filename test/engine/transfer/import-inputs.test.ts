import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ImportReport } from "#shared/views.ts";
import { copySource } from "#engine/transfer/copy-source.ts";
import { prepareImport } from "#engine/transfer/prepare-import.ts";
import { dumpDatabase } from "../../support/dump.ts";
import { snapshotFolder } from "../../support/folder-snapshot.ts";
import { copyForReference, HOSTILE_INPUTS, type HostileInput, type MadeInput } from "../../support/hostile-inputs.ts";
import { REAL_DATABASES, requireRealDatabase } from "../../support/real-databases.ts";
import { machine } from "./transfer-machine.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "coppice-import-"));
  for (const name of ["source", "work", "reference"]) mkdirSync(join(folder, name));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("every input that broke comparable tools", () => {
  for (const input of HOSTILE_INPUTS) {
    test(`${input.expect === "imports" ? "IMPORT-1" : "IMPORT-2"}: ${input.name} → ${input.expect}`, { timeout: input.slow ? 120_000 : 30_000 }, async () => {
      const made = await input.make(join(folder, "source"));
      try {
        await (input.expect === "imports" ? expectImport(input, made) : expectRefusal(input, made));
      } finally {
        await made.release?.();
      }
    });
  }
});

describe("databases that nobody here made", () => {
  for (const real of REAL_DATABASES) {
    test(`IMPORT-1: ${real.name}`, async (context) => {
      requireRealDatabase(real, context);
      await expectImport({ name: real.name, expect: "imports", make: () => ({ path: real.path }) }, { path: real.path }, false);
    });
  }
});

async function runImport(path: string): Promise<ImportReport> {
  const copy = (request: Parameters<typeof copySource>[1], work: Parameters<typeof copySource>[2]) => copySource(machine, request, work);
  const prepared = await prepareImport(machine.disk, copy, { file: path, into: join(folder, "work/copy.db"), waitMs: 200 }, {});
  return prepared.report;
}

async function expectImport(input: HostileInput, made: MadeInput, watchFolder = true): Promise<void> {
  const before = watchFolder ? snapshotFolder(join(folder, "source")) : [];
  const report = await runImport(made.path);
  if (watchFolder) expect(snapshotFolder(join(folder, "source"))).toEqual(before);
  expect(readdirSync(join(folder, "work"))).toEqual(["copy.db"]);
  const copy = join(folder, "work/copy.db");
  const reference = copyForReference(machine.disk.realPath(made.path), join(folder, "reference/data.db"));
  expectSameLines(dumpDatabase(copy), dumpDatabase(reference));
  if (input.reports) expectCheck(report, ...input.reports);
  if (report.checks.every((check) => check.severity !== "warning")) expect(integrityOf(copy)).toBe("ok");
}

/** The difference of two long lists takes minutes to draw: only the first line that differs is compared. */
function expectSameLines(found: readonly string[], wanted: readonly string[]): void {
  const differs = wanted.findIndex((line, index) => line !== found[index]);
  if (differs >= 0) expect(found[differs]).toBe(wanted[differs]);
  expect(found.length).toBe(wanted.length);
}

async function expectRefusal(input: HostileInput, made: MadeInput): Promise<void> {
  const before = snapshotFolder(join(folder, "source"));
  await expect(runImport(made.path)).rejects.toMatchObject({ code: input.expect });
  expect(snapshotFolder(join(folder, "source"))).toEqual(before);
  expect(readdirSync(join(folder, "work"))).toEqual([]);
}

function expectCheck(report: ImportReport, check: string, found: RegExp): void {
  const checks = report.checks.filter((row) => row.check === check);
  expect(checks.map((row) => row.found).join("\n"), JSON.stringify(report.checks, null, 1)).toMatch(found);
}

function integrityOf(path: string): unknown {
  const database = new Database(path);
  try {
    return database.pragma("integrity_check", { simple: true });
  } finally {
    database.close();
  }
}

import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { ImportReport } from "#shared/views.ts";
import { EngineError } from "#engine/io/errors.ts";
import { copySource } from "#engine/transfer/copy-source.ts";
import { prepareImport } from "#engine/transfer/prepare-import.ts";
import { dumpDatabase, firstDifference } from "../../support/dump.ts";
import { snapshotFolder } from "../../support/folder-snapshot.ts";
import { copyForReference, type HostileInput, type MadeInput } from "../../support/hostile-builders.ts";
import { HOSTILE_INPUTS } from "../../support/hostile-inputs.ts";
import { REAL_DATABASES, requireRealDatabase } from "../../support/real-databases.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";
import { machine } from "./transfer-machine.ts";

describe("every input that broke comparable tools", () => {
  for (const input of HOSTILE_INPUTS.filter((one) => one.expect === "imports")) {
    test(`IMPORT-1: ${input.name}`, { timeout: input.slow ? 120_000 : 30_000 }, async () => {
      expect(await tryInput(input)).toEqual(IMPORTED);
    });
  }
  for (const input of HOSTILE_INPUTS.filter((one) => one.expect !== "imports")) {
    test(`IMPORT-2: ${input.name} → ${input.expect}`, async () => {
      expect(await tryInput(input)).toEqual({ result: input.expect, left: [], touched: [] });
    });
  }
});

describe("databases that nobody here made", () => {
  for (const real of REAL_DATABASES) {
    test(`IMPORT-1: ${real.name}`, async (context) => {
      requireRealDatabase(real, context);
      expect(await outcomeOf(makePlace(), {}, { path: real.path })).toMatchObject({
        result: "imports",
        difference: null,
        unreported: null,
      });
    });
  }
});

interface Outcome {
  readonly result: string;
  /** Names in the folder that the copy was made in. */
  readonly left: readonly string[];
  /** What is not as it was in the source's folder. */
  readonly touched: readonly string[];
  /** First line in which the dumps of copy and source differ. */
  readonly difference?: string | null;
  /** What the report should say and does not. */
  readonly unreported?: string | null;
}

const IMPORTED: Outcome = { result: "imports", left: ["copy.db"], touched: [], difference: null, unreported: null };

function makePlace(): string {
  const folder = makeTemporaryFolder();
  for (const name of ["source", "work", "reference"]) mkdirSync(join(folder, name));
  return folder;
}

async function tryInput(input: HostileInput): Promise<Outcome> {
  const folder = makePlace();
  const source = join(folder, "source");
  const made = await input.make(source);
  try {
    const before = snapshotFolder(source);
    const outcome = await outcomeOf(folder, input, made);
    return { ...outcome, touched: changedLines(before, snapshotFolder(source)) };
  } finally {
    await made.release?.();
  }
}

function changedLines(before: readonly string[], after: readonly string[]): string[] {
  return [...before.filter((line) => !after.includes(line)), ...after.filter((line) => !before.includes(line))];
}

async function outcomeOf(folder: string, input: Pick<HostileInput, "reports">, made: MadeInput): Promise<Omit<Outcome, "touched">> {
  const copy = join(folder, "work/copy.db");
  const request = { file: made.path, into: copy, waitMs: 200 };
  try {
    const { report } = await prepareImport(machine.disk, (wanted, work) => copySource(machine, wanted, work), request, {});
    const left = readdirSync(join(folder, "work"));
    const reference = copyForReference(machine.disk.realPath(made.path), join(folder, "reference/data.db"));
    return {
      result: "imports",
      left,
      difference: firstDifference(dumpDatabase(copy), dumpDatabase(reference)),
      unreported: unreported(report, copy, input.reports),
    };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { result: error.code, left: readdirSync(join(folder, "work")) };
  }
}

/** The check that was asked for, and damage that SQLite finds in the copy and the report does not warn of. */
function unreported(report: ImportReport, copy: string, wanted: HostileInput["reports"]): string | null {
  const found = wanted ? report.checks.filter((row) => row.check === wanted[0]).map((row) => row.found) : [];
  if (wanted && !found.some((text) => wanted[1].test(text))) return `${wanted[0]}: ${found.join("; ")}`;
  const warned = report.checks.some((check) => check.severity === "warning");
  return warned ? null : integrityProblem(copy);
}

function integrityProblem(path: string): string | null {
  const database = new Database(path);
  try {
    const found = String(database.pragma("integrity_check", { simple: true }));
    return found === "ok" ? null : found;
  } finally {
    database.close();
  }
}

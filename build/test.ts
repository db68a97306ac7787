/** `npm test`: everything. Ends with one line `N passed, N failed`; the exit code is 0 only when nothing failed. */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT, runTool } from "./run.ts";
import { buildWhatIsMissing } from "./setup-bundles.ts";
import { isRequired, setUpMachine } from "./setup-machine.ts";

interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const REPORTS = join(ROOT, "out", "reports");

async function runVitest(project: string): Promise<Outcome> {
  const report = join(REPORTS, `${project}.json`);
  const code = await runTool("vitest/vitest.mjs", [
    "run",
    "--project",
    project,
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
  ]);
  const counts = readReport(report) as { numPassedTests: number; numFailedTests: number; numPendingTests: number } | null;
  return settle(project, code, {
    passed: counts?.numPassedTests ?? 0,
    failed: counts?.numFailedTests ?? 0,
    skipped: counts?.numPendingTests ?? 0,
  });
}

async function runPlaywright(): Promise<Outcome> {
  const code = await runTool("playwright/cli.js", ["test"]);
  const report = readReport(join(REPORTS, "e2e.json")) as {
    stats: { expected: number; unexpected: number; flaky: number; skipped: number };
  } | null;
  const { expected = 0, unexpected = 0, flaky = 0, skipped = 0 } = report?.stats ?? {};
  return settle("e2e", code, { passed: expected, failed: unexpected + flaky, skipped });
}

/** A run that broke outside of any test (a file that cannot be loaded, a crash) counts as one failure. */
function settle(name: string, code: number, counts: Outcome): Outcome {
  const broken = code !== 0 && counts.failed === 0;
  if (broken) console.error(`${name}: ended with code ${code} outside of any test`);
  return { ...counts, failed: counts.failed + (broken ? 1 : 0) };
}

function readReport(path: string): unknown {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : null;
}

async function runAll(): Promise<Outcome[]> {
  const missing = await setUpMachine();
  if (!(await buildWhatIsMissing())) return [{ passed: 0, failed: 1, skipped: 0 }];
  rmSync(REPORTS, { recursive: true, force: true });
  mkdirSync(REPORTS, { recursive: true });
  const outcomes = [await runVitest("unit"), await runVitest("deep")];
  if (!missing.has("chromium")) return [...outcomes, await runVitest("browser"), await runPlaywright()];
  console.log("Skipped without Chromium: the tests of the screens and the journeys");
  return isRequired("chromium") ? [...outcomes, { passed: 0, failed: 1, skipped: 0 }] : outcomes;
}

const total = (await runAll()).reduce((sum, one) => ({
  passed: sum.passed + one.passed,
  failed: sum.failed + one.failed,
  skipped: sum.skipped + one.skipped,
}));
if (total.skipped > 0) console.log(`${total.skipped} skipped`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 ? 0 : 1);

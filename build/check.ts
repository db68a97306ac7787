/** `npm run check`: the quick look before a commit: types, lint, format, unit tests. Stops at the first that fails. */
import { join } from "node:path";
import { ROOT, run, runTool } from "./run.ts";

const STEPS: readonly (readonly [string, ...string[]])[] = [
  ["typescript/bin/tsc", "-b"],
  ["oxlint/bin/oxlint", "--deny-warnings", "."],
  ["oxfmt/bin/oxfmt", "--check", "."],
  ["vitest/vitest.mjs", "run", "--project", "unit"],
];

// Unit tests are of the addon too: on a fresh clone it is not there yet.
await run(process.execPath, [join(ROOT, "build/build-native.ts")]);
for (const [tool, ...args] of STEPS) {
  const code = await runTool(tool, args);
  if (code === 0) continue;
  console.error(`check: ${tool} ${args.join(" ")} failed`);
  process.exit(code);
}

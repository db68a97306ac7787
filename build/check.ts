/** `npm run check`: the quick look before a commit: types, lint, format, unit tests. Stops at the first that fails. */
import { runTool } from "./run.ts";

const STEPS: readonly (readonly [string, ...string[]])[] = [
  ["typescript/bin/tsc", "-b"],
  ["oxlint/bin/oxlint", "--deny-warnings", "."],
  ["oxfmt/bin/oxfmt", "--check", "."],
  ["vitest/vitest.mjs", "run", "--project", "unit"],
];

for (const [tool, ...args] of STEPS) {
  const code = await runTool(tool, args);
  if (code === 0) continue;
  console.error(`check: ${tool} ${args.join(" ")} failed`);
  process.exit(code);
}

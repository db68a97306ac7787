import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * A file that a suite starts as a worker or child: TypeScript beside the file that asks, JavaScript when built. `folder` is
 * the asker's `import.meta.dirname`. Each such file is a program of `electron.vite.config.ts` under the same name.
 */
export function benchEntry(folder: string, name: string): string {
  const source = join(folder, `${name}.ts`);
  return existsSync(source) ? source : join(folder, `${name}.js`);
}

import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * A program of ours that another one starts as a child or worker: TypeScript beside the file that asks, JavaScript when
 * built. `folder` is the asker's `import.meta.dirname`. Each is a program of `electron.vite.config.ts` under the same name.
 */
export function ownEntry(folder: string, name: string): string {
  const source = join(folder, `${name}.ts`);
  return existsSync(source) ? source : join(folder, `${name}.js`);
}

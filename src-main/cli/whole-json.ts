import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Terminal } from "./terminal.ts";

/**
 * Prints `{ok: true, result}` of a result that comes in pieces: put together in a file first, so that what is printed is
 * one whole object, or, when `write` throws, the error alone.
 */
export async function printWholeJson(terminal: Terminal, write: (put: (piece: string) => void) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "coppice-result-"));
  try {
    const path = join(folder, "result.json");
    const file = openSync(path, "wx", 0o600);
    try {
      writeSync(file, '{"ok":true,"result":');
      await write((piece) => void writeSync(file, piece));
      writeSync(file, "}\n");
    } finally {
      closeSync(file);
    }
    await terminal.copyOut(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

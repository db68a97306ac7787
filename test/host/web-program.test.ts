import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Runs the web host's program until it ends by itself. */
async function runWebHost(args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const folder = mkdtempSync(join(tmpdir(), "coppice-web-program-"));
  const program = spawn(process.execPath, [join(import.meta.dirname, "../../src-main/web/main.ts"), ...args], {
    env: { ...process.env, COPPICE_CONFIG_DIR: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err]: string[][] = [[], []];
  program.stdout.on("data", (chunk: Buffer) => out?.push(chunk.toString()));
  program.stderr.on("data", (chunk: Buffer) => err?.push(chunk.toString()));
  const code = await new Promise<number | null>((settle) => program.once("close", settle));
  rmSync(folder, { recursive: true, force: true });
  return { code, out: (out ?? []).join(""), err: (err ?? []).join("") };
}

test.each([
  { args: ["--port", "70000"], exit: 2 },
  { args: ["--no-such-option"], exit: 2 },
  { args: ["surplus"], exit: 2 },
  { args: ["--store", "/nothing/here"], exit: 4 },
])("START-2: the web host refuses $args with one line, and offers no link", async ({ args, exit }) => {
  const { code, out, err } = await runWebHost(args);
  expect([code, out]).toEqual([exit, ""]);
  expect(err).toMatch(/^coppice: .+\n(.+\n)?$/);
});

test("START-2: a port that is taken is named", async () => {
  const other = createServer();
  await new Promise<void>((settle) => other.listen(0, "127.0.0.1", settle));
  const { port } = other.address() as AddressInfo;
  const { code, err } = await runWebHost(["--port", String(port)]);
  other.close();
  expect(code).toBe(1);
  expect(err).toContain(`coppice: Port ${port} on 127.0.0.1 is used by another program`);
});

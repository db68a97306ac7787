import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "./fixtures.ts";

const ROOT = join(import.meta.dirname, "../..");

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`START-1: npm start says what it opens and why, prints the link, and ends cleanly with ${signal}`, async ({ face, folder }) => {
    test.skip(face !== "web", "once is enough");
    const env = { ...process.env, DISPLAY: "", WAYLAND_DISPLAY: "", COPPICE_CONFIG_DIR: folder };
    const program = spawn(process.execPath, [join(ROOT, "build/start.ts")], { env, stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    program.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    await expect.poll(() => output, { timeout: 60_000 }).toMatch(/because .*\n[\s\S]*http:\/\/127\.0\.0\.1:\d+\/#token=/);
    const ended = new Promise<number | null>((settle) => program.once("exit", settle));
    program.kill(signal);
    expect(await ended).toBe(0);
  });
}

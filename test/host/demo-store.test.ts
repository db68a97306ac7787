import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { openDemoStore } from "#host/demo-store.ts";
import { temporaryFolder } from "../support/stores.ts";

const never = () => Promise.reject(new Error("nothing is made"));

afterEach(() => {
  vi.unstubAllEnvs();
});

test("HOST-15: where the demo's folder cannot be made, the failure names it and what to do", async () => {
  const file = join(temporaryFolder(), "a-file");
  writeFileSync(file, "");
  vi.stubEnv("COPPICE_CONFIG_DIR", join(file, "coppice"));
  const entry = { createStore: never, openStore: never, fillDemo: never };
  await expect(openDemoStore(entry, { signal: new AbortController().signal, progress: () => undefined })).rejects.toMatchObject({
    code: "io-failed",
    message: expect.stringContaining(join(file, "coppice")) as string,
    hint: expect.stringContaining("COPPICE_CONFIG_DIR") as string,
  });
});

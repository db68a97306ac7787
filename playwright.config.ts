import { defineConfig } from "@playwright/test";
import { CHROMIUM, type E2eOptions } from "./test/e2e/fixtures.ts";

export default defineConfig<object, E2eOptions>({
  testDir: "test/e2e",
  outputDir: "out/e2e",
  workers: 2,
  timeout: 120_000,
  // The stand-in takes seconds to start on a busy machine; no test here is about speed.
  expect: { timeout: 30_000 },
  forbidOnly: true,
  reporter: [["list"], ["json", { outputFile: "out/reports/e2e.json" }]],
  use: {
    viewport: { width: 1280, height: 800 },
    trace: "retain-on-failure",
    launchOptions: { executablePath: CHROMIUM, args: ["--disable-quic", "--disable-background-networking"] },
  },
  projects: [
    { name: "web", use: { face: "web" } },
    { name: "standin", use: { face: "standin" } },
    { name: "electron", use: { face: "electron" } },
  ],
});

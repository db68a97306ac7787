import { defineConfig } from "@playwright/test";
import { CHROMIUM, type E2eOptions } from "./test/e2e/fixtures.ts";

export default defineConfig<object, E2eOptions>({
  testDir: "test/e2e",
  outputDir: "out/e2e",
  workers: 1,
  timeout: 60_000,
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

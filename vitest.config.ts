import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";

const chromium = {
  executablePath: process.env["COPPICE_CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"],
};

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/{shared,engine,bench,host,cli,tidy}/**/*.test.ts"],
          exclude: ["**/*.deep.test.ts"],
          environment: "node",
          pool: "forks",
          maxWorkers: 2,
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: "deep",
          include: ["test/{crash,model,race}/**/*.test.ts", "test/**/*.deep.test.ts"],
          environment: "node",
          pool: "forks",
          maxWorkers: 2,
          testTimeout: 600_000,
        },
      },
      {
        plugins: [react(), tailwindcss()],
        // Found while tests run, a dependency would be bundled anew and React loaded twice.
        optimizeDeps: {
          include: [
            "react",
            "react-dom/client",
            "react/jsx-runtime",
            "react/jsx-dev-runtime",
            "@tanstack/react-query",
            "@tanstack/react-virtual",
            "radix-ui",
            "lucide-react",
            "cmdk",
            "d3-hierarchy",
            "recharts",
            "valibot",
          ],
        },
        test: {
          name: "browser",
          include: ["test/renderer/**/*.test.tsx"],
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            viewport: { width: 1440, height: 900 },
            provider: playwright({ launchOptions: chromium }),
            instances: [{ browser: "chromium" }],
          },
        },
      },
    ],
  },
});

/**
 * `npm start`: builds what is missing, then opens the desktop app where Electron's binary and a display are there, else
 * the web host, and says which and why. Nothing is downloaded.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { findElectronBinary } from "./electron-binary.ts";
import { ROOT } from "./run.ts";
import { buildWhatIsMissing } from "./setup-bundles.ts";

/** Null when the desktop app can run, else why it cannot. */
function whyNoDesktop(): string | null {
  if (findElectronBinary() === null) return "Electron's binary is not in node_modules (npx install-electron fetches it)";
  if (process.platform === "linux" && !process.env["DISPLAY"] && !process.env["WAYLAND_DISPLAY"]) return "there is no display";
  if (process.platform === "linux" && process.getuid?.() === 0) return "Electron's sandbox does not run as root";
  return null;
}

/** Stays as long as the app: signals reach it too, and it decides how to end. */
function hand(program: string, args: readonly string[]): void {
  const child = spawn(program, args, { cwd: ROOT, stdio: "inherit" });
  // A terminal sends Ctrl-C to the child as well; a signal sent to this process alone is passed on.
  process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  child.once("exit", (code) => process.exit(code ?? 1));
}

if (!(await buildWhatIsMissing())) process.exit(1);
const reason = whyNoDesktop();
const passedOn = process.argv.slice(2);
if (reason === null) {
  console.log("Opening the desktop app.");
  hand(findElectronBinary() ?? "", [ROOT, ...passedOn]);
} else {
  console.log(`Opening Coppice in the browser, because ${reason}. Open the link below; Ctrl-C ends it.`);
  hand(process.execPath, [join(ROOT, "out/main/web.js"), ...passedOn]);
}

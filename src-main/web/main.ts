/** `node out/main/web.js [--store SPEC] [--port N] [--open-file FILE]`: serves the screens to a browser of this computer. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { ERROR_CODES } from "#shared/error-codes.ts";
import { EngineError } from "#engine/io/errors.ts";
import { configFolder } from "#host/config-folder.ts";
import { serveWeb, type WebHost } from "./serve.ts";

interface Arguments {
  readonly store: string | undefined;
  readonly port: number;
  readonly openFile: string | undefined;
}

const OPTIONS = { store: { type: "string" }, port: { type: "string", default: "0" }, "open-file": { type: "string" } } as const;

function readArguments(): Arguments {
  const values = parseOptions();
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new EngineError("bad-argument", `--port ${values.port}: expected a number from 0 to 65535`);
  return { store: values.store, port, openFile: values["open-file"] };
}

function parseOptions() {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    throw new EngineError("bad-argument", error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function main(): Promise<void> {
  const { store, port, openFile } = readArguments();
  const web = await serveWeb({ configFolder: configFolder(), port });
  endWithSignals(web);
  if (store !== undefined) {
    const answer = await web.host.request("store.open", { spec: store });
    if (!answer.ok) {
      await web.close();
      throw new EngineError(answer.error.code, answer.error.message, answer.error.hint === null ? {} : { hint: answer.error.hint });
    }
  }
  if (openFile !== undefined) web.host.openFile(resolve(openFile));
  console.log(`Coppice: ${web.newLink()}`);
  offerMoreLinks(web);
}

/** A link works once: for another browser, or after the cookies went, Enter prints a new one. */
function offerMoreLinks(web: WebHost): void {
  if (!process.stdin.isTTY) return;
  console.log("The link works once. Press Enter for a new one, Ctrl-C to end.");
  process.stdin.on("data", () => console.log(`Coppice: ${web.newLink()}`));
}

/** The first signal cancels running jobs, closes the store and ends; the second ends at once. */
function endWithSignals(web: WebHost): void {
  let ending = false;
  const end = () => {
    if (ending) process.exit(130);
    ending = true;
    void web.close().then(() => process.exit(0));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);
}

main().catch((error: unknown) => {
  const hint = error instanceof EngineError && error.hint ? `\n${error.hint}` : "";
  console.error(`coppice: ${error instanceof Error ? error.message : String(error)}${hint}`);
  process.exit(error instanceof EngineError ? ERROR_CODES[error.code].exit : 1);
});

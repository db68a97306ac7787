import { expect, test, vi } from "vitest";
import { EngineError } from "#engine/io/errors.ts";
import { Cli, type LongWork } from "../../src-main/cli/cli.ts";
import { Terminal } from "../../src-main/cli/terminal.ts";

const quiet = () => new Terminal({ json: false, quiet: true, color: false });

/** Work that goes on until it is asked to stop. */
function untilCancelled({ signal }: LongWork): Promise<never> {
  return new Promise((_, fail) => signal.addEventListener("abort", () => fail(new EngineError("cancelled", "Cancelled"))));
}

test.each([
  { signal: "SIGINT", exit: 130 },
  { signal: "SIGTERM", exit: 143 },
] as const)("CLI-22: $signal cancels work, which then ends with $exit", async ({ signal, exit }) => {
  const cli = new Cli(quiet(), {});
  const work = cli.cancellable(untilCancelled);
  process.emit(signal, signal);
  const error = await work.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "cancelled" });
  expect(cli.interruptedBy).toBe(signal);
  const printed = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  expect(quiet().fail(error, cli.interruptedBy)).toBe(exit);
  expect(printed).toHaveBeenCalledWith("coppice: Cancelled\n");
  printed.mockRestore();
});

test("CLI-22: work that was done before it looked keeps its result, and leaves no handler behind", async () => {
  const before = process.listenerCount("SIGINT");
  const cli = new Cli(quiet(), {});
  const work = cli.cancellable(async () => {
    await new Promise((settle) => setImmediate(settle));
    return "done";
  });
  process.emit("SIGINT", "SIGINT");
  expect(await work).toBe("done");
  expect(process.listenerCount("SIGINT")).toBe(before);
});

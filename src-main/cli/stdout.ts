/**
 * Where results go. Text is written to the descriptor itself: Node's stream for it takes 6 ms to load, a twentieth of a
 * cold command that has one line to say.
 */
import { once } from "node:events";
import { writeSync } from "node:fs";

const DESCRIPTOR = 1;

/** Set from when a reader was too slow for the descriptor: what follows has to queue behind it. */
let stream: NodeJS.WriteStream | null = null;

export const stdout = {
  /** False when the reader is behind, so that whoever has more should wait for `drained`. Ends the program when nobody reads. */
  write(text: string): boolean {
    const rest = stream === null ? writeAtOnce(Buffer.from(text)) : Buffer.from(text);
    if (rest.length === 0) return true;
    stream ??= openStream();
    return stream.write(rest);
  },

  async drained(): Promise<void> {
    if (stream?.writableNeedDrain) await once(stream, "drain");
  },

  get isTerminal(): boolean {
    return process.stdout.isTTY;
  },
};

/** What the descriptor did not take. */
function writeAtOnce(bytes: Buffer): Buffer {
  let done = 0;
  try {
    while (done < bytes.length) done += writeSync(DESCRIPTOR, bytes, done);
  } catch (error) {
    if (isNobodyReading(error)) process.exit(0);
    // A pipe that its reader made non-blocking and that is full. Anything else is for the stream to say.
  }
  return bytes.subarray(done);
}

function openStream(): NodeJS.WriteStream {
  return process.stdout.on("error", (error) => {
    if (isNobodyReading(error)) process.exit(0);
    // A full disk, mostly. What the verb did is done: only what it has to say is lost.
    process.stderr.write(`coppice: What was found cannot be written to stdout: ${error.message}\n`);
    process.exit(1);
  });
}

/** A reader that has seen enough (`| head`) is no error. */
function isNobodyReading(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

/**
 * Files dropped into a browser arrive as copies in a temporary folder, one folder a file, and leave with the host, or as
 * soon as they were imported. A side file (`-wal`, `-journal`, `-shm`) joins the database of that name sent before it.
 */
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { formatBytes } from "#shared/units.ts";
import { EngineError } from "#engine/io/errors.ts";
import { isOtherAlive } from "#host/processes.ts";

const FOLDER = /^coppice-upload-(\d+)-/;
const SIDE_FILE = /-(?:wal|journal|shm)$/;
/** Room that an upload must leave on the disk. */
const SPARE_BYTES = 64 * 1024 * 1024;

export class Uploads {
  readonly #maxBytes: number;
  #folder: string | null = null;
  /** Folder of the last upload by name. */
  readonly #places = new Map<string, string>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    removeLeftovers();
  }

  /** Stores the body of a request; returns its path. Nothing is kept of an upload that breaks. */
  async receive(request: IncomingMessage, wantedName: string): Promise<string> {
    const name = safeName(wantedName);
    const announced = Number(request.headers["content-length"] ?? 0);
    if (announced > this.#maxBytes) throw this.#tooLarge(name, announced);
    const place = this.#placeFor(name);
    const { bavail, bsize } = statfsSync(place);
    if (announced + SPARE_BYTES > bavail * bsize) {
      throw new EngineError(
        "disk-full",
        `Upload ${name}: needs ${formatBytes(announced)}, ${formatBytes(bavail * bsize)} are free in ${place}`,
        { untouched: "Nothing was kept." },
      );
    }
    const path = join(place, name);
    try {
      await pipeline(request, this.#limit(name), createWriteStream(path, { mode: 0o600 }));
    } catch (error) {
      rmSync(path, { force: true });
      if (error instanceof EngineError) throw error;
      const full = (error as NodeJS.ErrnoException).code === "ENOSPC";
      throw new EngineError(full ? "disk-full" : "io-failed", `Upload ${name} was not finished`, {
        cause: error,
        untouched: "Nothing was kept.",
        retryable: !full,
      });
    }
    this.#places.set(name, place);
    return path;
  }

  /** Forgets an upload that is no longer needed; does nothing for other paths. */
  release(path: string): void {
    if (this.#places.get(basename(path)) !== dirname(path)) return;
    this.#places.delete(basename(path));
    rmSync(dirname(path), { recursive: true, force: true });
  }

  close(): void {
    if (this.#folder) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = null;
  }

  #placeFor(name: string): string {
    const beside = SIDE_FILE.test(name) ? this.#places.get(name.replace(SIDE_FILE, "")) : undefined;
    if (beside !== undefined && existsSync(beside)) return beside;
    this.#folder ??= mkdtempSync(join(tmpdir(), `coppice-upload-${process.pid}-`));
    return mkdtempSync(join(this.#folder, "file-"));
  }

  #limit(name: string): Transform {
    let received = 0;
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        received += chunk.length;
        done(received > this.#maxBytes ? this.#tooLarge(name, received) : null, chunk);
      },
    });
  }

  #tooLarge(name: string, bytes: number): EngineError {
    return new EngineError(
      "bad-argument",
      `Upload ${name}: ${formatBytes(bytes)} is more than the limit of ${formatBytes(this.#maxBytes)}`,
      {
        hint: "Give its path on this computer instead.",
        untouched: "Nothing was kept.",
      },
    );
  }
}

/** The last part of a file name as browsers send it, without anything that leads elsewhere. */
function safeName(wanted: string): string {
  const name = basename(wanted.replaceAll("\\", "/"));
  if (name === "" || name === "." || name === ".." || name.includes("\0") || Buffer.byteLength(name) > 255) {
    throw new EngineError("bad-argument", `Upload: "${wanted.slice(0, 80)}" is no file name`, { untouched: "Nothing was kept." });
  }
  return name;
}

/** Folders of hosts that were killed. */
function removeLeftovers(): void {
  mkdirSync(tmpdir(), { recursive: true });
  for (const name of readdirSync(tmpdir())) {
    const pid = FOLDER.exec(name)?.[1];
    if (pid !== undefined && !isOtherAlive(Number(pid)) && Number(pid) !== process.pid)
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

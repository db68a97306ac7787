/**
 * Tells a database from what only looks like one, and says what it is instead. A file without SQLite's header is either
 * something else or encrypted as a whole: encryption leaves no byte pattern, and a size of whole pages.
 */
import { EngineError } from "../io/errors.ts";
import { parseSqliteHeader, PAGE_SIZE_MIN, SQLITE_HEADER_BYTES, type SqliteHeader } from "../format/sqlite-header.ts";
import type { Disk } from "../io/disk.ts";

const SAMPLE_BYTES = 64 * 1024;
/** Uniform random bytes give a chi-square of 255 ± 23; text, code and pictures give thousands. */
const CHI_SQUARE_MAX = 400;
/** Formats that are as random as encryption: gzip, zip, zstd, xz, 7z, bzip2, PNG, JPEG, MP4 and kin, PDF, LZ4. */
const COMPRESSED_STARTS = [
  "1f8b",
  "504b0304",
  "28b52ffd",
  "fd377a58",
  "377abcaf",
  "425a68",
  "89504e47",
  "ffd8ff",
  "00000018667479",
  "00000020667479",
  "25504446",
  "04224d18",
];

/**
 * Reads the header. Null for an empty file, which SQLite takes for an empty database. Throws `not-sqlite`, `encrypted`,
 * `truncated` or `unsupported`; `name` is what the user calls the file at `path`.
 */
export function judgeFile(disk: Disk, path: string, name: string): SqliteHeader | null {
  const file = disk.open(path, "r");
  try {
    const { size } = disk.statFile(file);
    if (size === 0) return null;
    const sample = new Uint8Array(Math.min(size, SAMPLE_BYTES));
    const bytes = sample.subarray(0, disk.read(file, sample, 0));
    const header = parseSqliteHeader(bytes);
    if (typeof header === "string") throw refusal(bytes, size, name, header);
    if (header.schemaFormat > 4) throw newer(name, `schema format ${header.schemaFormat}`, "up to 4");
    const expected = Math.max(1, header.pageCount) * header.pageSize;
    if (size < expected)
      throw truncated(name, `${size} bytes`, `${expected} bytes (${Math.max(1, header.pageCount)} pages of ${header.pageSize})`);
    return header;
  } finally {
    disk.close(file);
  }
}

function refusal(bytes: Uint8Array, size: number, name: string, problem: string): EngineError {
  const magic = Buffer.from("SQLite format 3\0", "latin1");
  const start = Buffer.from(bytes.subarray(0, 16));
  if (start.equals(magic.subarray(0, start.length)) && size < SQLITE_HEADER_BYTES)
    return truncated(name, `${size} bytes`, `at least ${SQLITE_HEADER_BYTES} bytes`);
  if (start.equals(magic) && (bytes[19] ?? 0) > 2) return newer(name, `file format ${bytes[19]}`, "1 or 2");
  if (looksEncrypted(bytes, size)) {
    return new EngineError(
      "encrypted",
      `Import of ${name}: the file looks encrypted (${size} bytes without SQLite's header and without any pattern)`,
      {
        hint: "Decrypt it with the program that made it, then import the decrypted copy.",
        details: { expected: "a file that starts with “SQLite format 3”", found: "random bytes" },
      },
    );
  }
  return new EngineError("not-sqlite", `Import of ${name}: not a SQLite database: ${problem}`, {
    details: { expected: "a SQLite database", found: problem },
  });
}

function truncated(name: string, found: string, expected: string): EngineError {
  return new EngineError("truncated", `Import of ${name}: the file is cut off: expected ${expected}, found ${found}`, {
    hint: "Copy the file again from where it came from; its end is missing.",
    details: { expected, found },
  });
}

function newer(name: string, found: string, expected: string): EngineError {
  return new EngineError("unsupported", `Import of ${name}: made by a newer SQLite: expected ${expected}, found ${found}`, {
    details: { expected, found },
  });
}

function looksEncrypted(bytes: Uint8Array, size: number): boolean {
  if (size < 2 * PAGE_SIZE_MIN || size % PAGE_SIZE_MIN !== 0) return false;
  const start = Buffer.from(bytes.subarray(0, 8)).toString("hex");
  return !COMPRESSED_STARTS.some((known) => start.startsWith(known)) && chiSquare(bytes) < CHI_SQUARE_MAX;
}

/** How far the bytes are from equally frequent. */
function chiSquare(bytes: Uint8Array): number {
  const counts = new Uint32Array(256);
  for (const byte of bytes) counts[byte] = (counts[byte] ?? 0) + 1;
  const expected = bytes.length / 256;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

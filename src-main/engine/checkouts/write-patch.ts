/**
 * The two files from which a checkout comes to hold other content (`replace-file.ts`), written in the temporary folder.
 * Nobody else knows them, and no SQLite lock ever stands on them, so any process of ours may write them: the keeper gets
 * a name instead of pages.
 */
import { randomBytes } from "node:crypto";
import { basename, join } from "node:path";
import { assert } from "#shared/assert.ts";
import type { PageBatch } from "../format/page-batch.ts";
import { lockPageNumber, stampPage1 } from "../format/sqlite-header.ts";
import { writeWal } from "../format/wal.ts";
import type { Disk } from "../io/disk.ts";

export interface Patch {
  readonly pageSize: number;
  readonly pageCount: number;
  /** Ascending; page 1 is always among them, for its stamp. */
  readonly batches: AsyncIterable<PageBatch>;
}

/** What a file is before it is replaced. */
export interface FileShape {
  readonly pageSize: number;
  readonly pageCount: number;
  readonly changeCounter: number;
}

/** A complete WAL of one transaction. */
export interface WrittenPatch {
  readonly wal: string;
  readonly frames: number;
  readonly pageSize: number;
  readonly pageCount: number;
}

export interface TemporaryFiles {
  readonly disk: Disk;
  /** Folder for unfinished files, on the checkouts' file system. */
  readonly temporary: string;
}

/** A fresh name in the temporary folder, which is made when it is not there. */
export function temporaryName({ disk, temporary }: TemporaryFiles, path: string, ending: string): string {
  disk.makeDirectory(temporary);
  return join(temporary, `${basename(path)}-${randomBytes(6).toString("hex")}-${ending}`);
}

/**
 * Writes what turns a file into another version and hands it to `fold` or, where nothing of the file can be kept (it is
 * empty, becomes empty, or has another page size), to `swap`, which needs every page. What was written is gone afterwards.
 *
 * Page 1 gets WAL mode and a change counter that no client has seen: one that keeps a page cache without holding a lock
 * would trust the old counter, read old rows, and corrupt the file with its next write.
 */
export async function writePatch<T>(
  context: TemporaryFiles,
  path: string,
  shape: FileShape,
  patch: Patch,
  put: { readonly fold: (written: WrittenPatch) => Promise<T>; readonly swap: (finished: string) => Promise<T> },
): Promise<T> {
  const changeCounter = (shape.changeCounter + 1) >>> 0;
  const isKept = shape.pageSize === patch.pageSize && shape.pageCount > 0 && patch.pageCount > 0;
  const written = temporaryName(context, path, isKept ? "wal" : "rebuilt");
  try {
    if (!isKept) {
      await writeWhole(context.disk, written, changeCounter, patch);
      return await put.swap(written);
    }
    const frames = await writeFrames(context.disk, written, changeCounter, patch);
    return await put.fold({ wal: written, frames, pageSize: patch.pageSize, pageCount: patch.pageCount });
  } finally {
    context.disk.remove(written);
  }
}

async function writeFrames(disk: Disk, path: string, changeCounter: number, patch: Patch): Promise<number> {
  const { pageSize, pageCount } = patch;
  const salts = randomBytes(8);
  const file = disk.open(path, "wx+");
  try {
    const options = { pageSize, pageCount, salt1: salts.readUInt32BE(0), salt2: salts.readUInt32BE(4) };
    const { frames } = await writeWal(disk, file, options, withStamp(patch, changeCounter));
    return frames;
  } finally {
    disk.close(file);
  }
}

/** The pages are all there, and become a file. */
async function writeWhole(disk: Disk, path: string, changeCounter: number, patch: Patch): Promise<void> {
  const { pageSize, pageCount } = patch;
  const file = disk.open(path, "wx+");
  try {
    disk.truncate(file, pageCount * pageSize);
    let pages = 0;
    for await (const batch of withStamp(patch, changeCounter)) {
      for (const [index, page] of batch.numbers.entries())
        disk.write(file, batch.bytes.subarray(index * pageSize, (index + 1) * pageSize), (page - 1) * pageSize);
      pages += batch.numbers.length;
    }
    const lockPages = pageCount >= lockPageNumber(pageSize) ? 1 : 0;
    assert(pages === pageCount - lockPages, `every page is given: ${pages} of ${pageCount - lockPages}`);
  } finally {
    disk.close(file);
  }
}

/** Copies page 1 and nothing else: the pages are the caller's. */
async function* withStamp({ batches, pageSize }: Patch, changeCounter: number): AsyncGenerator<PageBatch> {
  let hasPage1 = false;
  for await (const { numbers, bytes } of batches) {
    if (hasPage1) {
      yield { numbers, bytes };
      continue;
    }
    assert(numbers[0] === 1, "a patch begins with page 1");
    hasPage1 = true;
    const page1 = bytes.slice(0, pageSize);
    stampPage1(page1, { journal: "wal", changeCounter });
    yield { numbers: numbers.subarray(0, 1), bytes: page1 };
    yield { numbers: numbers.subarray(1), bytes: bytes.subarray(pageSize) };
  }
}

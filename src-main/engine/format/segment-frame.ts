/**
 * One frame of a segment: pages compressed together, as a zstd frame without its four constant magic bytes. A delta frame
 * has the previous versions of its pages as raw dictionary, so what did not change costs next to nothing.
 *
 * zstd cannot tell a wrong dictionary: it decodes to garbage without a word. Callers verify every page's hash.
 */
import { constants, zstdCompress, zstdCompressSync, zstdDecompressSync, type ZstdOptions } from "node:zlib";
import { promisify } from "node:util";
import { assert } from "#shared/assert.ts";

/** zstd level of delta frames, and of the blocks of a base, which are many. */
const DELTA_LEVEL = 3;
const BASE_LEVEL = 1;
const FRAME_MAGIC = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd);
/** A dictionary that starts like this would be taken for a trained one. */
const DICTIONARY_MAGIC = [0x37, 0xa4, 0x30, 0xec] as const;
/** log2 of the largest window a frame may ask for: pages and dictionary of the largest frame. */
const WINDOW_LOG_MAX = 21;

const compressAsync = promisify<Uint8Array, ZstdOptions, Buffer>(zstdCompress);

/** Compresses the pages of a delta frame. An empty dictionary is none. */
export function compressDeltaFrame(pages: Uint8Array, dictionary: Uint8Array): Uint8Array {
  return withoutMagic(zstdCompressSync(pages, { ...compressOptions(pages.length, DELTA_LEVEL), ...dictionaryOption(dictionary) }));
}

/** Compresses a block of a base, off this thread. */
export async function compressBaseFrame(pages: Uint8Array): Promise<Uint8Array> {
  return withoutMagic(await compressAsync(pages, compressOptions(pages.length, BASE_LEVEL)));
}

/** Throws what zlib throws when the bytes are no such frame; the result always has `rawBytes` bytes otherwise. */
export function decompressFrame(stored: Uint8Array, rawBytes: number, dictionary: Uint8Array): Uint8Array {
  const params = { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG_MAX };
  const raw = zstdDecompressSync(withMagic(stored), {
    params,
    maxOutputLength: rawBytes,
    chunkSize: rawBytes,
    ...dictionaryOption(dictionary),
  });
  if (raw.length !== rawBytes) throw new RangeError(`${raw.length} bytes where ${rawBytes} should be`);
  return raw;
}

function compressOptions(rawBytes: number, level: number): ZstdOptions {
  const params = {
    [constants.ZSTD_c_compressionLevel]: level,
    [constants.ZSTD_c_checksumFlag]: 0,
    [constants.ZSTD_c_contentSizeFlag]: 0,
    [constants.ZSTD_c_dictIDFlag]: 0,
  };
  return { params, pledgedSrcSize: rawBytes, chunkSize: Math.max(1024, rawBytes) };
}

function dictionaryOption(dictionary: Uint8Array): ZstdOptions {
  if (dictionary.length === 0) return {};
  if (!DICTIONARY_MAGIC.every((byte, index) => dictionary[index] === byte)) return { dictionary };
  const prefixed = new Uint8Array(dictionary.length + 1);
  prefixed.set(dictionary, 1);
  return { dictionary: prefixed };
}

function withoutMagic(frame: Uint8Array): Uint8Array {
  assert(
    FRAME_MAGIC.every((byte, index) => frame[index] === byte),
    "a zstd frame starts with its magic bytes",
  );
  return frame.subarray(FRAME_MAGIC.length);
}

function withMagic(stored: Uint8Array): Uint8Array {
  const frame = new Uint8Array(FRAME_MAGIC.length + stored.length);
  frame.set(FRAME_MAGIC);
  frame.set(stored, FRAME_MAGIC.length);
  return frame;
}

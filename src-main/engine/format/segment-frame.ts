/**
 * One frame of a segment: pages compressed together, as a zstd frame without its four constant magic bytes. A delta frame
 * has the previous versions of its pages as raw dictionary, so what did not change costs next to nothing.
 *
 * zstd cannot tell a wrong dictionary: it decodes to garbage without a word. Callers verify every page's hash.
 */
import { constants, createZstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync, type ZstdOptions } from "node:zlib";
import type { Transform } from "node:stream";
import { promisify } from "node:util";
import { assert } from "#shared/assert.ts";
import { FRAME_ROOM_BYTES, type Native, type StoredFrames } from "../io/native.ts";

/** zstd level of delta frames, and of the blocks of a base, which are many. */
const DELTA_LEVEL = 3;
const BASE_LEVEL = 1;
/** Less is compressed sooner than another thread takes it up. */
const COMPRESSED_HERE_BYTES_MAX = 64 * 1024;
const FRAME_MAGIC = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd);
/** A dictionary that starts like this would be taken for a trained one. */
const DICTIONARY_MAGIC = [0x37, 0xa4, 0x30, 0xec] as const;
/** log2 of the largest window a frame may ask for: pages and dictionary of the largest frame. */
const WINDOW_LOG_MAX = 21;

/** Made when it is first used, so that a command that decodes nothing does not load node:zlib for it. */
let decompressAsync: ((frame: Uint8Array, options: ZstdOptions) => Promise<Buffer>) | null = null;

/** Compresses the pages of a delta frame. An empty dictionary is none. */
export function compressDeltaFrame(pages: Uint8Array, dictionary: Uint8Array): Uint8Array {
  return withoutMagic(zstdCompressSync(pages, { ...compressOptions(pages.length, DELTA_LEVEL), ...dictionaryOption(dictionary) }));
}

/** The same off this thread, where there is a way and it is worth it. */
export async function compressDeltaFrameAside(native: Native, pages: Uint8Array, dictionary: Uint8Array): Promise<Uint8Array> {
  const aside = pages.length > COMPRESSED_HERE_BYTES_MAX ? await native.encodeFrame?.(pages, dictionary, DELTA_LEVEL) : null;
  return aside ?? compressDeltaFrame(pages, dictionary);
}

/**
 * Compresses blocks of a base off this thread, one at a time. One stream makes all the frames: a stream for each block
 * costs 50 MB of garbage on the way, and a third of the time.
 */
export class BaseCompressor {
  readonly #stream: Transform;
  #pieces: Buffer[] = [];

  constructor(blockBytes: number) {
    const { params } = compressOptions(blockBytes, BASE_LEVEL);
    const windowLog = Math.max(10, Math.ceil(Math.log2(blockBytes)));
    this.#stream = createZstdCompress({
      params: { ...params, [constants.ZSTD_c_windowLog]: windowLog },
      // Every write is a frame of its own. A block that does not compress grows by a few bytes.
      flush: constants.ZSTD_e_end,
      chunkSize: blockBytes + 1024,
    });
    this.#stream.on("data", (piece: Buffer) => this.#pieces.push(piece));
    // Told to whoever waits for a block.
    this.#stream.on("error", () => {});
  }

  compress(pages: Uint8Array): Promise<Uint8Array> {
    return new Promise((settle, fail) => {
      this.#stream.write(pages, (error) => {
        const pieces = this.#pieces;
        this.#pieces = [];
        if (error) fail(error);
        // A block that was in flight when it was closed has no frame.
        else if (this.#stream.destroyed) fail(new Error("the compressor was closed"));
        else settle(withoutMagic(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)));
      });
    });
  }

  close(): void {
    this.#stream.destroy();
  }
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

/**
 * Decodes frames that have no dictionary into `target.pages` off this thread, and hashes these. False when they do not decode
 * to exactly that many bytes: which of them is damaged, `decompressFrame` tells.
 */
export async function decompressFrames(
  native: Native,
  frames: StoredFrames,
  target: { readonly pages: Uint8Array; readonly hashes: Uint8Array },
): Promise<boolean> {
  if (native.decodeFrames !== null) return native.decodeFrames(frames, target.pages, target.hashes);
  const pages = await decompressByZlib(frames, target.pages.length);
  if (pages?.length !== target.pages.length) return false;
  target.pages.set(pages);
  target.hashes.set(native.hashPages(pages, frames.pageSize));
  return true;
}

/**
 * All frames in one call. zlib goes on with the next frame only where the one before has filled its output buffer to the
 * last byte: a frame that decodes to less ends the result early.
 */
async function decompressByZlib({ stored, frameBytes, frameRawBytes }: StoredFrames, rawBytes: number): Promise<Uint8Array | null> {
  const framed = new Uint8Array(stored.length - FRAME_ROOM_BYTES + frameBytes.length * FRAME_MAGIC.length);
  let from = FRAME_ROOM_BYTES;
  let to = 0;
  for (const bytes of frameBytes) {
    framed.set(FRAME_MAGIC, to);
    framed.set(stored.subarray(from, from + bytes), to + FRAME_MAGIC.length);
    from += bytes;
    to += FRAME_MAGIC.length + bytes;
  }
  const params = { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG_MAX };
  decompressAsync ??= promisify<Uint8Array, ZstdOptions, Buffer>(zstdDecompress);
  return decompressAsync(framed, { params, maxOutputLength: rawBytes, chunkSize: frameRawBytes }).catch(() => null);
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

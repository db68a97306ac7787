#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coppice {

/** True when the zstd of the program that loaded us can be called: Node's binary exports it, others may not, or in part. */
bool HasDecoder();
bool HasEncoder();

constexpr size_t kFrameMagicBytes = 4;

/** Room for the magic bytes, then frames that stand one behind another without theirs; all is written over. Each has `frame_raw_bytes` when decoded, the last one perhaps fewer. */
struct StoredFrames {
  uint8_t* bytes;
  size_t size;
  const uint32_t* frame_bytes;
  size_t count;
  size_t frame_raw_bytes;
};

/**
 * Decodes all of them into `raw`. False when the frames do not fill `size` bytes, or one of them does not decode to
 * exactly what it should: then `raw` holds anything. Bounded by `raw_size`, whatever the frames say.
 */
bool DecodeFrames(const StoredFrames& frames, uint8_t* raw, size_t raw_size);

/**
 * Compresses one frame, without its magic bytes, as `format/segment-frame.ts` says; no dictionary has 0 bytes. False when
 * zstd refuses. Throws std::bad_alloc.
 */
bool EncodeFrame(const uint8_t* pages, size_t size, const uint8_t* dictionary, size_t dictionary_size, int level, std::vector<uint8_t>& stored);

}  // namespace coppice

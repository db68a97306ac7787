#pragma once
#include <cstddef>
#include <cstdint>

namespace coppice {

/** Pages are at least this long: only the long-input path of XXH3 is implemented. */
constexpr size_t kPageBytesMin = 512;
constexpr size_t kHashBytes = 16;

/**
 * XXH3-128 (seed 0, default secret) of `count` pages into `hashes`, 16 bytes each: big-endian, high half first. Uses up
 * to `threads` threads when there is enough to do. Source: the XXH3 specification of xxHash 0.8.
 */
void HashPages(const uint8_t* pages, size_t count, size_t page_size, uint8_t* hashes, unsigned threads);

/**
 * XOR over `count` hashes of mix(hash, page number), the page numbers counting up from `first_page_number`. `mix` is
 * written down in src-main/engine/io/native-fallback.ts, which computes the same without the addon.
 */
void FoldHashes(const uint8_t* hashes, size_t count, uint64_t first_page_number, uint8_t* folded);

}  // namespace coppice

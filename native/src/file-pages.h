#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coppice {

/** SQLite's. */
constexpr size_t kFilePageBytesMax = 65536;

/** Pages of an open file, numbered from 1. What lies beyond the file's end reads as zeros. */
struct PageRun {
  uint64_t first;
  uint64_t count;
  size_t page_size;
};

/**
 * These read in the threads that work, chunk by chunk, so that one thread's reading overlaps the other's hashing and a
 * chunk is still in the processor's cache when it is hashed. They return 0, or the errno of the first read that failed.
 */

/** As `HashPages`, 16 bytes a page. */
int HashFilePages(int file, const PageRun& run, uint8_t* hashes, unsigned threads);

/**
 * Numbers, ascending, of the pages whose hash does not end with the 8 bytes that `expected` has for it; those beyond
 * `expected_count` are all found. `expected` begins with the run's first page.
 */
int FindPagesByHash(int file, const PageRun& run, const uint8_t* expected, size_t expected_count, unsigned threads, std::vector<uint32_t>& found);

/** Numbers, ascending, of the pages whose bytes differ between two files. */
int FindPagesByBytes(int file, int other, const PageRun& run, unsigned threads, std::vector<uint32_t>& found);

}  // namespace coppice

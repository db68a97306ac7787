#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coppice {

/** Where a run of a file lies on its filesystem, in bytes; `flags` are FIEMAP_EXTENT_… of linux/fiemap.h. */
struct Extent {
  uint64_t logical;
  uint64_t physical;
  uint64_t length;
  uint32_t flags;
};

/** Of one call; who wants more goes on behind the last one. */
constexpr size_t kExtentsPerCall = 4096;

/**
 * The extents that touch a range, in order, at most `kExtentsPerCall`. `sync` writes back what is dirty first
 * (FIEMAP_FLAG_SYNC). 1 = done, 0 = this filesystem does not tell, -1 = failed (errno).
 */
int ReadExtents(int file, int64_t start, int64_t length, bool sync, std::vector<Extent>& extents);

/** How many extents the file has; -2 = this filesystem does not tell, -1 = failed (errno). */
int64_t CountExtents(int file);

}  // namespace coppice

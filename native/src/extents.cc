#include "extents.h"

#include <cerrno>

#if defined(__linux__)
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#endif

namespace coppice {

#if defined(__linux__)

namespace {

bool IsUnsupported() { return errno == EOPNOTSUPP || errno == ENOTTY || errno == EINVAL || errno == EBADR || errno == ENOSYS; }

int Ask(int file, struct fiemap* request) {
  int result;
  do {
    result = ioctl(file, FS_IOC_FIEMAP, request);
  } while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

int ReadExtents(int file, int64_t start, int64_t length, bool sync, std::vector<Extent>& extents) {
  // Of 64-bit words, for their alignment.
  std::vector<uint64_t> memory((sizeof(struct fiemap) + kExtentsPerCall * sizeof(struct fiemap_extent)) / sizeof(uint64_t));
  auto* request = reinterpret_cast<struct fiemap*>(memory.data());
  request->fm_start = static_cast<uint64_t>(start);
  request->fm_length = static_cast<uint64_t>(length);
  request->fm_flags = sync ? FIEMAP_FLAG_SYNC : 0;
  request->fm_extent_count = kExtentsPerCall;
  if (Ask(file, request) != 0) return IsUnsupported() ? 0 : -1;
  extents.reserve(request->fm_mapped_extents);
  for (uint32_t index = 0; index < request->fm_mapped_extents; index += 1) {
    const struct fiemap_extent& found = request->fm_extents[index];
    extents.push_back({found.fe_logical, found.fe_physical, found.fe_length, found.fe_flags});
  }
  return 1;
}

int64_t CountExtents(int file) {
  struct fiemap request = {};
  request.fm_length = FIEMAP_MAX_OFFSET;
  if (Ask(file, &request) != 0) return IsUnsupported() ? -2 : -1;
  return request.fm_mapped_extents;
}

#else

int ReadExtents(int, int64_t, int64_t, bool, std::vector<Extent>&) { return 0; }
int64_t CountExtents(int) { return -2; }

#endif

}  // namespace coppice

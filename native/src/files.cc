#include "files.h"

#include <cerrno>

#if defined(__linux__)
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#elif defined(__APPLE__)
#include <fcntl.h>
#include <sys/clonefile.h>
#elif defined(_WIN32)
#include <algorithm>

#include "windows-file.h"
#endif

namespace coppice {

#if defined(__linux__)

const bool kHasRangeLocks = true;
const bool kHasExtents = true;
const bool kHasFileAdvice = true;
const char* const kCloneCall = "FICLONE";

namespace {

/** What filesystems answer that do not share blocks, or not between these two files. */
int CannotOrFailed() {
  const bool cannot = errno == EOPNOTSUPP || errno == ENOTTY || errno == EXDEV || errno == EINVAL || errno == ENOSYS;
  return cannot ? 0 : -1;
}

bool SetLock(int file, int64_t start, int64_t length, short type) {
  struct flock range = {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = start;
  range.l_len = length;
  int result;
  do {
    result = fcntl(file, F_OFD_SETLK, &range);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

}  // namespace

int CloneFile(int from, int to) { return ioctl(to, FICLONE, from) == 0 ? 1 : CannotOrFailed(); }

int CloneToPath(int from, const std::string& path) {
  const int to = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (to < 0) return -1;
  const int done = CloneFile(from, to);
  const int error = errno;
  close(to);
  if (done != 1) unlink(path.c_str());
  errno = error;
  return done;
}

int CloneRange(int from, int64_t from_start, int to, int64_t to_start, int64_t length) {
  struct file_clone_range range = {};
  range.src_fd = from;
  range.src_offset = static_cast<uint64_t>(from_start);
  range.src_length = static_cast<uint64_t>(length);
  range.dest_offset = static_cast<uint64_t>(to_start);
  return ioctl(to, FICLONERANGE, &range) == 0 ? 1 : CannotOrFailed();
}

int64_t FilesystemType(int file) {
  struct statfs found = {};
  if (fstatfs(file, &found) != 0) return -1;
  return static_cast<int64_t>(static_cast<uint32_t>(found.f_type));
}

LockOutcome LockRange(int file, int64_t start, int64_t length, bool exclusive) {
  if (SetLock(file, start, length, exclusive ? F_WRLCK : F_RDLCK)) return LockOutcome::kTaken;
  return errno == EAGAIN || errno == EACCES ? LockOutcome::kHeldByOther : LockOutcome::kFailed;
}

bool UnlockRange(int file, int64_t start, int64_t length) { return SetLock(file, start, length, F_UNLCK); }

/**
 * The kernel grants a write lease only to the sole opener of a file. Whoever opens the file while it is held (some
 * microseconds) waits until it is given back, and the holder is sent a signal: one that does nothing unless somebody
 * listens, because the usual one, SIGIO, would end the process.
 */
bool IsSoleOpener(int file) {
  if (fcntl(file, F_SETSIG, SIGURG) != 0 || fcntl(file, F_SETLEASE, F_WRLCK) != 0) return false;
  fcntl(file, F_SETLEASE, F_UNLCK);
  return true;
}

/** cachestat(2), since Linux 6.5; neither it nor its structures are in the headers of older libraries. */
int64_t CachedBytes(int file, int64_t start, int64_t length) {
  constexpr long kCachestat = 451;
  struct {
    uint64_t start, length;
  } const range = {static_cast<uint64_t>(start), static_cast<uint64_t>(length)};
  struct {
    uint64_t cached, dirty, writeback, evicted, recently_evicted;
  } pages = {};
  if (syscall(kCachestat, file, &range, &pages, 0) != 0) return -1;
  return static_cast<int64_t>(pages.cached) * sysconf(_SC_PAGESIZE);
}

void WillRead(int file, int64_t start, int64_t length) { posix_fadvise(file, start, length, POSIX_FADV_WILLNEED); }
void WontRead(int file, int64_t start, int64_t length) { posix_fadvise(file, start, length, POSIX_FADV_DONTNEED); }

#else

const bool kHasRangeLocks = false;
const bool kHasExtents = false;
const bool kHasFileAdvice = false;

int CloneFile(int, int) { return 0; }
int CloneRange(int, int64_t, int, int64_t, int64_t) { return 0; }
int64_t FilesystemType(int) { return 0; }
LockOutcome LockRange(int, int64_t, int64_t, bool) {
  errno = ENOSYS;
  return LockOutcome::kFailed;
}
bool UnlockRange(int, int64_t, int64_t) {
  errno = ENOSYS;
  return false;
}
bool IsSoleOpener(int) { return false; }
int64_t CachedBytes(int, int64_t, int64_t) { return -1; }
void WillRead(int, int64_t, int64_t) {}
void WontRead(int, int64_t, int64_t) {}

#if defined(__APPLE__)
const char* const kCloneCall = "clonefile";

/** APFS clones whole files only, and into a new one. */
int CloneToPath(int from, const std::string& path) {
  if (fclonefileat(from, AT_FDCWD, path.c_str(), 0) == 0) return 1;
  return errno == ENOTSUP || errno == EXDEV || errno == EINVAL ? 0 : -1;
}
#elif defined(_WIN32)
const char* const kCloneCall = "FSCTL_DUPLICATE_EXTENTS_TO_FILE";

namespace {

/** As in winioctl.h, which older kits have without them. */
constexpr DWORD kVolumeSharesBlocks = 0x08000000;
constexpr DWORD kGetIntegrity = 0x0009027C;
constexpr DWORD kSetIntegrity = 0x0009C280;
constexpr DWORD kDuplicateExtents = 0x00098344;
/** A call takes less than 4 GiB. */
constexpr int64_t kBytesPerCall = int64_t{1} << 30;

struct Integrity {
  WORD algorithm, reserved;
  DWORD flags, chunk_bytes, cluster_bytes;
};

struct Extents {
  HANDLE from;
  LARGE_INTEGER from_start, to_start, length;
};

template <typename In>
bool Control(HANDLE file, DWORD code, In* in, DWORD in_bytes, void* out, DWORD out_bytes) {
  DWORD filled = 0;
  return DeviceIoControl(file, code, in, in_bytes, out, out_bytes, &filled, nullptr) != 0;
}

/** ReFS. The two files must agree about integrity, and lengths be whole clusters, also beyond the end. */
bool ShareBlocks(HANDLE from, HANDLE to) {
  DWORD flags = 0;
  LARGE_INTEGER size = {};
  Integrity integrity = {};
  if (!GetVolumeInformationByHandleW(from, nullptr, 0, nullptr, nullptr, &flags, nullptr, 0) || (flags & kVolumeSharesBlocks) == 0) return false;
  if (!GetFileSizeEx(from, &size) || !Control<void>(from, kGetIntegrity, nullptr, 0, &integrity, sizeof integrity) || integrity.cluster_bytes == 0) return false;
  // What is set are the first three members.
  if (!Control(to, kSetIntegrity, &integrity, 8, nullptr, 0)) return false;
  FILE_END_OF_FILE_INFO end = {size};
  if (!SetFileInformationByHandle(to, FileEndOfFileInfo, &end, sizeof end)) return false;
  const int64_t cluster = integrity.cluster_bytes;
  for (int64_t position = 0; position < size.QuadPart; position += kBytesPerCall) {
    Extents extents = {from, {}, {}, {}};
    extents.from_start.QuadPart = extents.to_start.QuadPart = position;
    extents.length.QuadPart = (std::min(kBytesPerCall, size.QuadPart - position) + cluster - 1) / cluster * cluster;
    if (!Control(to, kDuplicateExtents, &extents, sizeof extents, nullptr, 0)) return false;
  }
  return true;
}

std::wstring Wide(const std::string& text) {
  const int length = MultiByteToWideChar(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), nullptr, 0);
  std::wstring wide(static_cast<size_t>(length), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), wide.data(), length);
  return wide;
}

}  // namespace

/** Whatever is in the way of sharing, copying is not. */
int CloneToPath(int from, const std::string& path) {
  const std::wstring name = Wide(path);
  const HANDLE to = CreateFileW(name.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (to == INVALID_HANDLE_VALUE) {
    if (GetLastError() != ERROR_FILE_EXISTS) return 0;
    errno = EEXIST;
    return -1;
  }
  const bool is_shared = ShareBlocks(HandleOf(from), to);
  CloseHandle(to);
  if (!is_shared) DeleteFileW(name.c_str());
  return is_shared ? 1 : 0;
}
#else
const char* const kCloneCall = "";
int CloneToPath(int, const std::string&) { return 0; }
#endif

#endif

}  // namespace coppice

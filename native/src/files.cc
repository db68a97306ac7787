#include "files.h"

#include <cerrno>

#if defined(__linux__)
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>
#endif

namespace coppice {

#if defined(__linux__)

const bool kHasRangeLocks = true;

int CloneFile(int from, int to) {
  if (ioctl(to, FICLONE, from) == 0) return 1;
  const bool cannot = errno == EOPNOTSUPP || errno == ENOTTY || errno == EXDEV || errno == EINVAL || errno == ENOSYS;
  return cannot ? 0 : -1;
}

namespace {
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

void WillRead(int file, int64_t start, int64_t length) { posix_fadvise(file, start, length, POSIX_FADV_WILLNEED); }

#else

const bool kHasRangeLocks = false;

int CloneFile(int, int) { return 0; }
LockOutcome LockRange(int, int64_t, int64_t, bool) {
  errno = ENOSYS;
  return LockOutcome::kFailed;
}
bool UnlockRange(int, int64_t, int64_t) {
  errno = ENOSYS;
  return false;
}
bool IsSoleOpener(int) { return false; }
void WillRead(int, int64_t, int64_t) {}

#endif

}  // namespace coppice

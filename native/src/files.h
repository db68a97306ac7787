#pragma once
#include <cstdint>

namespace coppice {

/** What this system offers. */
extern const bool kHasRangeLocks;

enum class LockOutcome { kTaken, kHeldByOther, kFailed };

/** Reflink of a whole file. 1 = done, 0 = this filesystem cannot, -1 = failed (errno). */
int CloneFile(int from, int to);
/** Open-file-description lock without waiting; errno tells why it failed. */
LockOutcome LockRange(int file, int64_t start, int64_t length, bool exclusive);
bool UnlockRange(int file, int64_t start, int64_t length);
/** True when this descriptor is the only one that has the file open; false when it is not, or nobody can tell. */
bool IsSoleOpener(int file);
/** A hint, so whatever the system answers is right. */
void WillRead(int file, int64_t start, int64_t length);

}  // namespace coppice

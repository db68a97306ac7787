#pragma once
#include <cstdint>
#include <string>

namespace coppice {

/** What this system offers. */
extern const bool kHasRangeLocks;
extern const bool kHasExtents;
extern const bool kHasFileAdvice;
/** How files are cloned here, for people; empty when they are not. */
extern const char* const kCloneCall;

enum class LockOutcome { kTaken, kHeldByOther, kFailed };

/** Of the next three: 1 = done, 0 = this filesystem, or this pair of files, cannot; -1 = failed (errno). */
int CloneFile(int from, int to);
/** Makes the file at `path`, which must not exist. Nothing is left there unless it was done. */
int CloneToPath(int from, const std::string& path);
/** Offsets and length in whole blocks, but for a range that ends with the file. */
int CloneRange(int from, int64_t from_start, int to, int64_t to_start, int64_t length);

/** The magic number of the filesystem that an open file is on (`f_type` of fstatfs); 0 when there is none, -1 = failed. */
int64_t FilesystemType(int file);

/** Open-file-description lock without waiting; errno tells why it failed. */
LockOutcome LockRange(int file, int64_t start, int64_t length, bool exclusive);
bool UnlockRange(int file, int64_t start, int64_t length);
/** True when this descriptor is the only one that has the file open; false when it is not, or nobody can tell. */
bool IsSoleOpener(int file);

/** Bytes of the range, in whole pages of memory, that the system holds in memory; -1 when nobody tells. */
int64_t CachedBytes(int file, int64_t start, int64_t length);

/** Hints, so whatever the system answers is right. */
void WillRead(int file, int64_t start, int64_t length);
void WontRead(int file, int64_t start, int64_t length);

}  // namespace coppice

#include "file-pages.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>

#include "page-hash.h"

#if defined(_WIN32)
#include "windows-file.h"
#else
#include <unistd.h>
#endif

namespace coppice {
namespace {

/** Stays in a core's second-level cache between being read and being looked at. */
constexpr size_t kChunkBytes = 256 * 1024;
/** Below this, starting a second thread costs more than it saves. */
constexpr uint64_t kBytesPerThreadMin = 1024 * 1024;
constexpr size_t kLowBytes = 8;

#if defined(_WIN32)
int64_t ReadAt(int file, uint8_t* buffer, size_t length, uint64_t position) {
  const HANDLE handle = HandleOf(file);
  if (handle == INVALID_HANDLE_VALUE) {
    errno = EBADF;
    return -1;
  }
  OVERLAPPED where = {};
  where.Offset = static_cast<DWORD>(position);
  where.OffsetHigh = static_cast<DWORD>(position >> 32);
  DWORD filled = 0;
  if (ReadFile(handle, buffer, static_cast<DWORD>(length), &filled, &where)) return filled;
  if (GetLastError() == ERROR_HANDLE_EOF) return 0;
  errno = EIO;
  return -1;
}
#else
int64_t ReadAt(int file, uint8_t* buffer, size_t length, uint64_t position) {
  return pread(file, buffer, length, static_cast<off_t>(position));
}
#endif

/** Fills the whole buffer, with zeros behind the end of the file. 0 or errno. */
int ReadFully(int file, uint8_t* buffer, size_t length, uint64_t position) {
  size_t done = 0;
  while (done < length) {
    const int64_t count = ReadAt(file, buffer + done, length - done, position + done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  std::memset(buffer + done, 0, length - done);
  return 0;
}

/** The chunks of a run, handed out one after another to whoever asks: the reads stay in the order of the file. */
class Chunks {
 public:
  explicit Chunks(const PageRun& run) : run_(run), pages_(std::max<uint64_t>(1, kChunkBytes / run.page_size)) {}

  size_t ChunkBytes() const { return static_cast<size_t>(std::min(pages_, run_.count) * run_.page_size); }

  /** Index of the chunk's first page in the run, and how many there are; false behind the last, and after a failure. */
  bool Next(uint64_t& first, uint64_t& count) {
    if (error_.load(std::memory_order_relaxed) != 0) return false;
    first = next_.fetch_add(1) * pages_;
    if (first >= run_.count) return false;
    count = std::min(pages_, run_.count - first);
    return true;
  }

  bool Read(int file, uint64_t first, uint64_t count, uint8_t* buffer) {
    const uint64_t position = (run_.first - 1 + first) * run_.page_size;
    const int error = ReadFully(file, buffer, static_cast<size_t>(count * run_.page_size), position);
    if (error == 0) return true;
    int none = 0;
    error_.compare_exchange_strong(none, error);
    return false;
  }

  void Fail(int error) {
    int none = 0;
    error_.compare_exchange_strong(none, error);
  }

  int Error() const { return error_.load(); }

 private:
  const PageRun run_;
  const uint64_t pages_;
  std::atomic<uint64_t> next_{0};
  std::atomic<int> error_{0};
};

/** `work(number of the thread)` on this thread and as many helpers as are worth it and to be had. */
template <typename Work>
void OnThreads(const PageRun& run, unsigned threads, const Work& work) {
  const uint64_t worth = run.count * run.page_size / kBytesPerThreadMin;
  std::vector<std::thread> helpers;
  try {
    for (unsigned number = 1; number < threads && number < worth; number += 1) helpers.emplace_back(work, number);
  } catch (const std::system_error&) {
    // No thread to be had: those that are there do the rest.
  }
  work(0);
  for (std::thread& helper : helpers) helper.join();
}

/** An exception that left a helper thread would end the process: running out of memory becomes an error like others. */
template <typename Work>
void WithoutExceptions(Chunks& chunks, const Work& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    chunks.Fail(ENOMEM);
  }
}

int Gather(const Chunks& chunks, const std::vector<std::vector<uint32_t>>& parts, std::vector<uint32_t>& found) {
  if (chunks.Error() != 0) return chunks.Error();
  for (const auto& part : parts) found.insert(found.end(), part.begin(), part.end());
  std::sort(found.begin(), found.end());
  return 0;
}

}  // namespace

int HashFilePages(int file, const PageRun& run, uint8_t* hashes, unsigned threads) {
  Chunks chunks(run);
  OnThreads(run, threads, [&](unsigned) {
    WithoutExceptions(chunks, [&] {
      std::vector<uint8_t> buffer(chunks.ChunkBytes());
      for (uint64_t first, count; chunks.Next(first, count) && chunks.Read(file, first, count, buffer.data());) {
        HashPages(buffer.data(), count, run.page_size, hashes + first * kHashBytes, 1);
      }
    });
  });
  return chunks.Error();
}

int FindPagesByHash(int file, const PageRun& run, const uint8_t* expected, size_t expected_count, unsigned threads, std::vector<uint32_t>& found) {
  Chunks chunks(run);
  std::vector<std::vector<uint32_t>> parts(std::max(1U, threads));
  OnThreads(run, threads, [&](unsigned number) {
    WithoutExceptions(chunks, [&] {
      std::vector<uint8_t> buffer(chunks.ChunkBytes());
      std::vector<uint8_t> hashes(buffer.size() / run.page_size * kHashBytes);
      for (uint64_t first, count; chunks.Next(first, count) && chunks.Read(file, first, count, buffer.data());) {
        HashPages(buffer.data(), count, run.page_size, hashes.data(), 1);
        for (uint64_t page = 0; page < count; page += 1) {
          const uint64_t at = first + page;
          const uint8_t* low = hashes.data() + page * kHashBytes + (kHashBytes - kLowBytes);
          if (at >= expected_count || std::memcmp(low, expected + at * kLowBytes, kLowBytes) != 0) {
            parts[number].push_back(static_cast<uint32_t>(run.first + at));
          }
        }
      }
    });
  });
  return Gather(chunks, parts, found);
}

int FindPagesByBytes(int file, int other, const PageRun& run, unsigned threads, std::vector<uint32_t>& found) {
  Chunks chunks(run);
  std::vector<std::vector<uint32_t>> parts(std::max(1U, threads));
  OnThreads(run, threads, [&](unsigned number) {
    WithoutExceptions(chunks, [&] {
      std::vector<uint8_t> one(chunks.ChunkBytes());
      std::vector<uint8_t> two(one.size());
      for (uint64_t first, count; chunks.Next(first, count);) {
        if (!chunks.Read(file, first, count, one.data()) || !chunks.Read(other, first, count, two.data())) return;
        for (uint64_t page = 0; page < count; page += 1) {
          const size_t at = static_cast<size_t>(page) * run.page_size;
          if (std::memcmp(one.data() + at, two.data() + at, run.page_size) != 0) {
            parts[number].push_back(static_cast<uint32_t>(run.first + first + page));
          }
        }
      }
    });
  });
  return Gather(chunks, parts, found);
}

}  // namespace coppice

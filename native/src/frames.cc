#include "frames.h"

#include <algorithm>
#include <cstring>
#include <memory>

#if !defined(_WIN32)
#include <dlfcn.h>
#endif

namespace coppice {

namespace {

constexpr uint8_t kMagic[kFrameMagicBytes] = {0x28, 0xb5, 0x2f, 0xfd};

/** The part of zstd's stable interface (zstd.h, 1.x) that is needed, found by name: nothing is linked. */
struct Zstd {
  void* (*create)() = nullptr;
  size_t (*free)(void*) = nullptr;
  size_t (*decompress)(void*, void*, size_t, const void*, size_t) = nullptr;
  unsigned (*is_error)(size_t) = nullptr;

  Zstd() {
#if !defined(_WIN32)
    Find("ZSTD_createDCtx", create);
    Find("ZSTD_freeDCtx", free);
    Find("ZSTD_decompressDCtx", decompress);
    Find("ZSTD_isError", is_error);
#endif
  }

  bool IsComplete() const { return create && free && decompress && is_error; }

 private:
#if !defined(_WIN32)
  template <typename Function>
  static void Find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  }
#endif
};

const Zstd& Loaded() {
  static const Zstd zstd;
  return zstd;
}

}  // namespace

bool HasZstd() { return Loaded().IsComplete(); }

bool DecodeFrames(const StoredFrames& frames, uint8_t* raw, size_t raw_size) {
  const Zstd& zstd = Loaded();
  if (!zstd.IsComplete() || frames.size < kFrameMagicBytes) return false;
  const std::unique_ptr<void, size_t (*)(void*)> context(zstd.create(), zstd.free);
  if (!context) return false;
  // The magic bytes of a frame go over the last ones of the frame before, which is decoded by then.
  size_t from = kFrameMagicBytes;
  size_t to = 0;
  for (size_t index = 0; index < frames.count; ++index) {
    const size_t bytes = frames.frame_bytes[index];
    if (bytes > frames.size - from || to >= raw_size) return false;
    uint8_t* const frame = frames.bytes + from - kFrameMagicBytes;
    std::memcpy(frame, kMagic, kFrameMagicBytes);
    const size_t wanted = std::min(frames.frame_raw_bytes, raw_size - to);
    const size_t done = zstd.decompress(context.get(), raw + to, wanted, frame, kFrameMagicBytes + bytes);
    if (zstd.is_error(done) || done != wanted) return false;
    from += bytes;
    to += wanted;
  }
  return from == frames.size && to == raw_size;
}

}  // namespace coppice

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
/** A dictionary that starts like this would be taken for a trained one: a byte goes before it. */
constexpr uint8_t kDictionaryMagic[4] = {0x37, 0xa4, 0x30, 0xec};

/** Of ZSTD_cParameter and ZSTD_ResetDirective. */
constexpr int kCompressionLevel = 100;
constexpr int kContentSizeFlag = 200;
constexpr int kChecksumFlag = 201;
constexpr int kDictIdFlag = 202;
constexpr int kSessionAndParameters = 3;

/** The part of zstd's stable interface (zstd.h, 1.x) that is needed, found by name: nothing is linked. */
struct Zstd {
  void* (*create)() = nullptr;
  size_t (*free)(void*) = nullptr;
  size_t (*decompress)(void*, void*, size_t, const void*, size_t) = nullptr;
  unsigned (*is_error)(size_t) = nullptr;
  void* (*create_encoder)() = nullptr;
  size_t (*free_encoder)(void*) = nullptr;
  size_t (*reset)(void*, int) = nullptr;
  size_t (*set_parameter)(void*, int, int) = nullptr;
  size_t (*load_dictionary)(void*, const void*, size_t) = nullptr;
  size_t (*compress)(void*, void*, size_t, const void*, size_t) = nullptr;
  size_t (*bound)(size_t) = nullptr;

  Zstd() {
#if !defined(_WIN32)
    Find("ZSTD_createCCtx", create_encoder);
    Find("ZSTD_freeCCtx", free_encoder);
    Find("ZSTD_CCtx_reset", reset);
    Find("ZSTD_CCtx_setParameter", set_parameter);
    Find("ZSTD_CCtx_loadDictionary", load_dictionary);
    Find("ZSTD_compress2", compress);
    Find("ZSTD_compressBound", bound);
    Find("ZSTD_createDCtx", create);
    Find("ZSTD_freeDCtx", free);
    Find("ZSTD_decompressDCtx", decompress);
    Find("ZSTD_isError", is_error);
#endif
  }

  bool Decodes() const { return create && free && decompress && is_error; }
  bool Encodes() const { return create_encoder && free_encoder && reset && set_parameter && load_dictionary && compress && bound && is_error; }

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

bool HasDecoder() { return Loaded().Decodes(); }
bool HasEncoder() { return Loaded().Encodes(); }

bool DecodeFrames(const StoredFrames& frames, uint8_t* raw, size_t raw_size) {
  const Zstd& zstd = Loaded();
  if (!zstd.Decodes() || frames.size < kFrameMagicBytes) return false;
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

bool EncodeFrame(const uint8_t* pages, size_t size, const uint8_t* dictionary, size_t dictionary_size, int level, std::vector<uint8_t>& stored) {
  const Zstd& zstd = Loaded();
  if (!zstd.Encodes()) return false;
  // Kept for the thread's next frame: making one costs as much as compressing some ten kilobytes.
  thread_local const std::unique_ptr<void, size_t (*)(void*)> context(zstd.create_encoder(), zstd.free_encoder);
  const auto is_done = [&](size_t result) { return zstd.is_error(result) == 0; };
  const auto set = [&](int parameter, int value) { return is_done(zstd.set_parameter(context.get(), parameter, value)); };
  const bool is_ready = context && is_done(zstd.reset(context.get(), kSessionAndParameters)) && set(kCompressionLevel, level) && set(kContentSizeFlag, 0) &&
                        set(kChecksumFlag, 0) && set(kDictIdFlag, 0);
  if (!is_ready) return false;
  std::vector<uint8_t> prefixed;
  if (dictionary_size >= sizeof kDictionaryMagic && std::memcmp(dictionary, kDictionaryMagic, sizeof kDictionaryMagic) == 0) {
    prefixed.assign(1, 0);
    prefixed.insert(prefixed.end(), dictionary, dictionary + dictionary_size);
    dictionary = prefixed.data();
    dictionary_size = prefixed.size();
  }
  if (dictionary_size > 0 && !is_done(zstd.load_dictionary(context.get(), dictionary, dictionary_size))) return false;
  stored.resize(zstd.bound(size));
  const size_t done = zstd.compress(context.get(), stored.data(), stored.size(), pages, size);
  if (!is_done(done) || done < kFrameMagicBytes || std::memcmp(stored.data(), kMagic, kFrameMagicBytes) != 0) return false;
  stored.resize(done);
  stored.erase(stored.begin(), stored.begin() + kFrameMagicBytes);
  return true;
}

}  // namespace coppice

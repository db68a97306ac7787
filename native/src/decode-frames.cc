#include "decode-frames.h"

#include <vector>

#include "arguments.h"
#include "file-pages.h"
#include "frames.h"
#include "page-hash.h"

namespace coppice {

namespace {

constexpr size_t kRawBytesMax = 1 << 30;

/** Works on libuv's threads. The arrays are kept alive; nobody may transfer or change them until the promise settles. */
class Decoder : public Napi::AsyncWorker {
 public:
  Decoder(Napi::Env env, Napi::Uint8Array stored, std::vector<uint32_t> frame_bytes, size_t frame_raw_bytes, size_t page_size, Napi::Uint8Array pages,
          Napi::Uint8Array hashes)
      : Napi::AsyncWorker(env, "coppice:decode"),
        deferred_(Napi::Promise::Deferred::New(env)),
        frame_bytes_(std::move(frame_bytes)),
        frames_{stored.Data(), stored.ByteLength(), frame_bytes_.data(), frame_bytes_.size(), frame_raw_bytes},
        page_size_(page_size),
        pages_(pages.Data()),
        pages_size_(pages.ByteLength()),
        hashes_(hashes.Data()),
        kept_{Napi::Persistent(stored), Napi::Persistent(pages), Napi::Persistent(hashes)} {}

  Napi::Promise Promise() const { return deferred_.Promise(); }

 protected:
  void Execute() override {
    is_decoded_ = DecodeFrames(frames_, pages_, pages_size_);
    if (is_decoded_) HashPages(pages_, pages_size_ / page_size_, page_size_, hashes_, 1);
  }

  void OnOK() override { deferred_.Resolve(Napi::Boolean::New(Env(), is_decoded_)); }

 private:
  Napi::Promise::Deferred deferred_;
  const std::vector<uint32_t> frame_bytes_;
  const StoredFrames frames_;
  const size_t page_size_;
  uint8_t* const pages_;
  const size_t pages_size_;
  uint8_t* const hashes_;
  const Napi::Reference<Napi::Uint8Array> kept_[3];
  bool is_decoded_ = false;
};

}  // namespace

Napi::Value DecodeFramesOf(const Napi::CallbackInfo& info) {
  const Napi::Uint8Array stored = Bytes(info, 0, "stored");
  if (!info[1].IsTypedArray() || info[1].As<Napi::TypedArray>().TypedArrayType() != napi_uint32_array) ThrowType(info, "frameBytes", "a Uint32Array");
  const Napi::Uint32Array frame_bytes = info[1].As<Napi::Uint32Array>();
  const int64_t frame_raw_bytes = Length(info, 2, "frameRawBytes");
  const int64_t page_size = Integer(info, 3, "pageSize");
  const Napi::Uint8Array pages = Bytes(info, 4, "pages");
  const Napi::Uint8Array hashes = Bytes(info, 5, "hashes");
  if (page_size < static_cast<int64_t>(kPageBytesMin) || page_size > static_cast<int64_t>(kFilePageBytesMax)) ThrowRange(info, "pageSize", "from 512 to 65536");
  const size_t count = pages.ByteLength() / static_cast<size_t>(page_size);
  if (pages.ByteLength() == 0 || pages.ByteLength() > kRawBytesMax || count * static_cast<size_t>(page_size) != pages.ByteLength()) ThrowRange(info, "pages", "whole pages, up to 1 GiB");
  if (hashes.ByteLength() != count * kHashBytes) ThrowRange(info, "hashes", "16 bytes a page");
  Decoder* decoder = new Decoder(info.Env(), stored, std::vector<uint32_t>(frame_bytes.Data(), frame_bytes.Data() + frame_bytes.ElementLength()),
                                 static_cast<size_t>(frame_raw_bytes), static_cast<size_t>(page_size), pages, hashes);
  const Napi::Promise promise = decoder->Promise();
  decoder->Queue();
  return promise;
}

}  // namespace coppice

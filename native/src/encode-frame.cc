#include "encode-frame.h"

#include <vector>

#include "arguments.h"
#include "frames.h"

namespace coppice {

namespace {

constexpr int64_t kLevelMax = 22;
constexpr size_t kRawBytesMax = 1 << 30;

/** Works on libuv's threads. The arrays are kept alive; nobody may transfer or change them until the promise settles. */
class Encoder : public Napi::AsyncWorker {
 public:
  Encoder(Napi::Env env, Napi::Uint8Array pages, Napi::Uint8Array dictionary, int level)
      : Napi::AsyncWorker(env, "coppice:encode"),
        deferred_(Napi::Promise::Deferred::New(env)),
        pages_(pages.Data()),
        size_(pages.ByteLength()),
        dictionary_(dictionary.Data()),
        dictionary_size_(dictionary.ByteLength()),
        level_(level),
        kept_{Napi::Persistent(pages), Napi::Persistent(dictionary)} {}

  Napi::Promise Promise() const { return deferred_.Promise(); }

 protected:
  void Execute() override {
    try {
      is_encoded_ = EncodeFrame(pages_, size_, dictionary_, dictionary_size_, level_, stored_);
    } catch (const std::bad_alloc&) {
      is_encoded_ = false;
    }
  }

  void OnOK() override {
    if (!is_encoded_) return deferred_.Resolve(Env().Null());
    Napi::Uint8Array stored = Napi::Uint8Array::New(Env(), stored_.size());
    std::copy(stored_.begin(), stored_.end(), stored.Data());
    deferred_.Resolve(stored);
  }

 private:
  Napi::Promise::Deferred deferred_;
  const uint8_t* const pages_;
  const size_t size_;
  const uint8_t* const dictionary_;
  const size_t dictionary_size_;
  const int level_;
  const Napi::Reference<Napi::Uint8Array> kept_[2];
  std::vector<uint8_t> stored_;
  bool is_encoded_ = false;
};

}  // namespace

Napi::Value EncodeFrameOf(const Napi::CallbackInfo& info) {
  const Napi::Uint8Array pages = Bytes(info, 0, "pages");
  const Napi::Uint8Array dictionary = Bytes(info, 1, "dictionary");
  if (pages.ByteLength() > kRawBytesMax) ThrowRange(info, "pages", "up to 1 GiB");
  if (dictionary.ByteLength() > kRawBytesMax) ThrowRange(info, "dictionary", "up to 1 GiB");
  const int64_t level = Length(info, 2, "level");
  if (level > kLevelMax) ThrowRange(info, "level", "from 1 to 22");
  Encoder* encoder = new Encoder(info.Env(), pages, dictionary, static_cast<int>(level));
  const Napi::Promise promise = encoder->Promise();
  encoder->Queue();
  return promise;
}

}  // namespace coppice

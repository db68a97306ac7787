/**
 * The JavaScript side: argument checks first, then one call. Wrong arguments throw a TypeError or RangeError; what the
 * system refuses throws an Error that carries `errno`. No state is kept, so several workers may load it at once, and
 * nothing is left to do when one of them ends.
 */
#include <napi.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>

#include "files.h"
#include "page-hash.h"
#include "stripe-kernels.h"

namespace {

using Napi::CallbackInfo;
using Napi::Value;

/** `ADDON_VERSION` of src-main/engine/io/load-native.ts: raised with every change of the exports. */
constexpr int kExportsVersion = 2;
constexpr double kSafeIntegerMax = 9007199254740991.0;
/** More do not help: memory is the limit. */
constexpr unsigned kThreadsMax = 2;
/** The largest page number of SQLite's file format. */
constexpr int64_t kPageNumberMax = 4294967294;

unsigned Threads() {
  const unsigned cores = std::thread::hardware_concurrency();
  return cores < 1 ? 1 : (cores > kThreadsMax ? kThreadsMax : cores);
}

[[noreturn]] void ThrowType(const CallbackInfo& info, const char* name, const char* wanted) {
  throw Napi::TypeError::New(info.Env(), std::string(name) + " must be " + wanted);
}

[[noreturn]] void ThrowRange(const CallbackInfo& info, const char* name, const char* wanted) {
  throw Napi::RangeError::New(info.Env(), std::string(name) + " must be " + wanted);
}

int64_t Integer(const CallbackInfo& info, size_t at, const char* name) {
  if (!info[at].IsNumber()) ThrowType(info, name, "a number");
  const double value = info[at].As<Napi::Number>().DoubleValue();
  if (!(value >= 0 && value <= kSafeIntegerMax) || std::floor(value) != value) ThrowRange(info, name, "a whole number, not negative");
  return static_cast<int64_t>(value);
}

int Descriptor(const CallbackInfo& info, size_t at, const char* name) {
  const int64_t value = Integer(info, at, name);
  if (value > INT32_MAX) ThrowRange(info, name, "a file descriptor");
  return static_cast<int>(value);
}

Napi::Uint8Array Bytes(const CallbackInfo& info, size_t at, const char* name) {
  if (!info[at].IsTypedArray() || info[at].As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) ThrowType(info, name, "a Uint8Array");
  return info[at].As<Napi::Uint8Array>();
}

struct Range {
  int file;
  int64_t start;
  int64_t length;
};

/** Arguments 0 to 2. A length of 0 would mean "to the end" to the system, so it is refused. */
Range FileRange(const CallbackInfo& info) {
  const Range range = {Descriptor(info, 0, "file"), Integer(info, 1, "start"), Integer(info, 2, "length")};
  if (range.length == 0) ThrowRange(info, "length", "at least 1");
  return range;
}

[[noreturn]] void ThrowSystem(Napi::Env env, const char* act, int error) {
  Napi::Error thrown = Napi::Error::New(env, std::string(act) + ": " + std::strerror(error));
  thrown.Set("errno", Napi::Number::New(env, -error));
  throw thrown;
}

Value HashPages(const CallbackInfo& info) {
  const Napi::Uint8Array pages = Bytes(info, 0, "pages");
  const int64_t page_size = Integer(info, 1, "pageSize");
  if (page_size < static_cast<int64_t>(coppice::kPageBytesMin)) ThrowRange(info, "pageSize", "at least 512");
  if (pages.ByteLength() % static_cast<size_t>(page_size) != 0) ThrowRange(info, "pages", "whole pages");
  const size_t count = pages.ByteLength() / static_cast<size_t>(page_size);
  Napi::Uint8Array hashes = Napi::Uint8Array::New(info.Env(), count * coppice::kHashBytes);
  coppice::HashPages(pages.Data(), count, static_cast<size_t>(page_size), hashes.Data(), Threads());
  return hashes;
}

Value FoldHashes(const CallbackInfo& info) {
  const Napi::Uint8Array hashes = Bytes(info, 0, "hashes");
  const int64_t first = Integer(info, 1, "firstPageNumber");
  if (hashes.ByteLength() % coppice::kHashBytes != 0) ThrowRange(info, "hashes", "16 bytes each");
  const size_t count = hashes.ByteLength() / coppice::kHashBytes;
  if (first < 1 || first > kPageNumberMax - static_cast<int64_t>(count) + 1) ThrowRange(info, "firstPageNumber", "a page number, as those after it");
  Napi::Uint8Array folded = Napi::Uint8Array::New(info.Env(), coppice::kHashBytes);
  coppice::FoldHashes(hashes.Data(), count, static_cast<uint64_t>(first), folded.Data());
  return folded;
}

Value CloneFile(const CallbackInfo& info) {
  const int from = Descriptor(info, 0, "fromFile");
  const int done = coppice::CloneFile(from, Descriptor(info, 1, "toFile"));
  if (done < 0) ThrowSystem(info.Env(), "clone", errno);
  return Napi::Boolean::New(info.Env(), done == 1);
}

Value LockRange(const CallbackInfo& info) {
  const Range range = FileRange(info);
  if (!info[3].IsBoolean()) ThrowType(info, "exclusive", "a boolean");
  const auto outcome = coppice::LockRange(range.file, range.start, range.length, info[3].As<Napi::Boolean>().Value());
  if (outcome == coppice::LockOutcome::kFailed) ThrowSystem(info.Env(), "lock", errno);
  return Napi::Boolean::New(info.Env(), outcome == coppice::LockOutcome::kTaken);
}

void UnlockRange(const CallbackInfo& info) {
  const Range range = FileRange(info);
  if (!coppice::UnlockRange(range.file, range.start, range.length)) ThrowSystem(info.Env(), "unlock", errno);
}

Value IsSoleOpener(const CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), coppice::IsSoleOpener(Descriptor(info, 0, "file")));
}

void WillRead(const CallbackInfo& info) {
  const Range range = FileRange(info);
  coppice::WillRead(range.file, range.start, range.length);
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("version", Napi::Number::New(env, kExportsVersion));
  exports.Set("hasRangeLocks", Napi::Boolean::New(env, coppice::kHasRangeLocks));
  exports.Set("threads", Napi::Number::New(env, Threads()));
  exports.Set("kernel", Napi::String::New(env, coppice::ChooseStripeKernel().name));
  exports.Set("hashPages", Napi::Function::New(env, HashPages));
  exports.Set("foldHashes", Napi::Function::New(env, FoldHashes));
  exports.Set("cloneFile", Napi::Function::New(env, CloneFile));
  exports.Set("lockRange", Napi::Function::New(env, LockRange));
  exports.Set("unlockRange", Napi::Function::New(env, UnlockRange));
  exports.Set("isSoleOpener", Napi::Function::New(env, IsSoleOpener));
  exports.Set("willRead", Napi::Function::New(env, WillRead));
  return exports;
}

}  // namespace

NODE_API_MODULE(coppice_native, Init)

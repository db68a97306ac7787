/**
 * The JavaScript side: argument checks first, then one call. Wrong arguments throw a TypeError or RangeError; what the
 * system refuses throws an Error that carries `errno`. No state is kept, so several workers may load it at once, and
 * nothing is left to do when one of them ends.
 */
#include <napi.h>

#include <cerrno>
#include <thread>
#include <vector>

#include "arguments.h"
#include "decode-frames.h"
#include "encode-frame.h"
#include "extents.h"
#include "file-pages.h"
#include "files.h"
#include "frames.h"
#include "page-hash.h"
#include "stripe-kernels.h"

namespace {

using namespace coppice;
using Napi::CallbackInfo;
using Napi::Value;

/** `ADDON_VERSION` of src-main/engine/io/load-native.ts: raised with every change of the exports. */
constexpr int kExportsVersion = 5;
/** More do not help: memory is the limit. */
constexpr unsigned kThreadsMax = 2;
/** The largest page number of SQLite's file format. */
constexpr int64_t kPageNumberMax = 4294967294;
/** Of a file, read in one call: who wants more asks again, and can be cancelled in between. */
constexpr int64_t kRunBytesMax = 1 << 30;
/** linux/fiemap.h: "Data location unknown". */
constexpr uint32_t kExtentUnknown = 2;
constexpr size_t kNumbersPerExtent = 4;

unsigned Threads() {
  const unsigned cores = std::thread::hardware_concurrency();
  return cores < 1 ? 1 : (cores > kThreadsMax ? kThreadsMax : cores);
}

Value HashPagesOf(const CallbackInfo& info) {
  const Napi::Uint8Array pages = Bytes(info, 0, "pages");
  const int64_t page_size = Integer(info, 1, "pageSize");
  if (page_size < static_cast<int64_t>(kPageBytesMin)) ThrowRange(info, "pageSize", "at least 512");
  if (pages.ByteLength() % static_cast<size_t>(page_size) != 0) ThrowRange(info, "pages", "whole pages");
  const size_t count = pages.ByteLength() / static_cast<size_t>(page_size);
  Napi::Uint8Array hashes = Napi::Uint8Array::New(info.Env(), count * kHashBytes);
  HashPages(pages.Data(), count, static_cast<size_t>(page_size), hashes.Data(), Threads());
  return hashes;
}

Value FoldHashesOf(const CallbackInfo& info) {
  const Napi::Uint8Array hashes = Bytes(info, 0, "hashes");
  const int64_t first = Integer(info, 1, "firstPageNumber");
  if (hashes.ByteLength() % kHashBytes != 0) ThrowRange(info, "hashes", "16 bytes each");
  const size_t count = hashes.ByteLength() / kHashBytes;
  if (first < 1 || first > kPageNumberMax - static_cast<int64_t>(count) + 1) ThrowRange(info, "firstPageNumber", "a page number, as those after it");
  Napi::Uint8Array folded = Napi::Uint8Array::New(info.Env(), kHashBytes);
  FoldHashes(hashes.Data(), count, static_cast<uint64_t>(first), folded.Data());
  return folded;
}

/** Three arguments from `at` on: firstPageNumber, count, pageSize. */
PageRun RunArguments(const CallbackInfo& info, size_t at) {
  const int64_t first = Integer(info, at, "firstPageNumber");
  const int64_t count = Integer(info, at + 1, "count");
  const int64_t page_size = Integer(info, at + 2, "pageSize");
  if (count > kPageNumberMax || first < 1 || first > kPageNumberMax - count + 1) ThrowRange(info, "firstPageNumber", "a page number, as those after it");
  if (page_size < static_cast<int64_t>(kPageBytesMin) || page_size > static_cast<int64_t>(kFilePageBytesMax)) ThrowRange(info, "pageSize", "from 512 to 65536");
  if (count > kRunBytesMax / page_size) ThrowRange(info, "count", "at most 1 GiB of pages");
  return {static_cast<uint64_t>(first), static_cast<uint64_t>(count), static_cast<size_t>(page_size)};
}

Value PageNumbers(Napi::Env env, const std::vector<uint32_t>& found) {
  Napi::Uint32Array numbers = Napi::Uint32Array::New(env, found.size());
  std::copy(found.begin(), found.end(), numbers.Data());
  return numbers;
}

Value HashFilePagesOf(const CallbackInfo& info) {
  const int file = Descriptor(info, 0, "file");
  const PageRun run = RunArguments(info, 1);
  Napi::Uint8Array hashes = Napi::Uint8Array::New(info.Env(), static_cast<size_t>(run.count) * kHashBytes);
  const int error = HashFilePages(file, run, hashes.Data(), Threads());
  if (error != 0) ThrowSystem(info.Env(), "read", error);
  return hashes;
}

Value DifferingPages(const CallbackInfo& info) {
  const int file = Descriptor(info, 0, "file");
  const PageRun run = RunArguments(info, 1);
  const Napi::Uint8Array expected = Bytes(info, 4, "expected");
  if (expected.ByteLength() % 8 != 0) ThrowRange(info, "expected", "8 bytes a page");
  std::vector<uint32_t> found;
  const int error = FindPagesByHash(file, run, expected.Data(), expected.ByteLength() / 8, Threads(), found);
  if (error != 0) ThrowSystem(info.Env(), "read", error);
  return PageNumbers(info.Env(), found);
}

Value CompareFilePages(const CallbackInfo& info) {
  const int file = Descriptor(info, 0, "file");
  const int other = Descriptor(info, 1, "otherFile");
  const PageRun run = RunArguments(info, 2);
  std::vector<uint32_t> found;
  const int error = FindPagesByBytes(file, other, run, Threads(), found);
  if (error != 0) ThrowSystem(info.Env(), "read", error);
  return PageNumbers(info.Env(), found);
}

Value CloneFileOf(const CallbackInfo& info) {
  const int from = Descriptor(info, 0, "fromFile");
  const int done = CloneFile(from, Descriptor(info, 1, "toFile"));
  if (done < 0) ThrowSystem(info.Env(), "clone", errno);
  return Napi::Boolean::New(info.Env(), done == 1);
}

Value CloneToPathOf(const CallbackInfo& info) {
  const int from = Descriptor(info, 0, "fromFile");
  if (!info[1].IsString()) ThrowType(info, "path", "a string");
  const std::string path = info[1].As<Napi::String>().Utf8Value();
  // The system would see a shorter path.
  if (path.empty() || path.find('\0') != std::string::npos) ThrowRange(info, "path", "a path");
  const int done = CloneToPath(from, path);
  if (done < 0) ThrowSystem(info.Env(), "clone", errno);
  return Napi::Boolean::New(info.Env(), done == 1);
}

Value CloneRangeOf(const CallbackInfo& info) {
  const int from = Descriptor(info, 0, "fromFile");
  const int64_t from_start = Integer(info, 1, "fromStart");
  const int to = Descriptor(info, 2, "toFile");
  const int64_t to_start = Integer(info, 3, "toStart");
  const int done = CloneRange(from, from_start, to, to_start, Length(info, 4, "length"));
  if (done < 0) ThrowSystem(info.Env(), "clone", errno);
  return Napi::Boolean::New(info.Env(), done == 1);
}

/** Four numbers an extent. A position that JavaScript cannot hold exactly is one that nobody knows. */
Value ExtentsOf(const CallbackInfo& info) {
  const FileRange range = RangeArguments(info);
  std::vector<Extent> extents;
  const int done = ReadExtents(range.file, range.start, range.length, Flag(info, 3, "sync"), extents);
  if (done < 0) ThrowSystem(info.Env(), "read the extents", errno);
  if (done == 0) return info.Env().Null();
  Napi::Float64Array numbers = Napi::Float64Array::New(info.Env(), extents.size() * kNumbersPerExtent);
  double* at = numbers.Data();
  for (const Extent& extent : extents) {
    const bool exact = static_cast<double>(extent.physical) <= kSafeIntegerMax;
    *at++ = static_cast<double>(extent.logical);
    *at++ = static_cast<double>(extent.physical);
    *at++ = static_cast<double>(extent.length);
    *at++ = exact ? extent.flags : extent.flags | kExtentUnknown;
  }
  return numbers;
}

Value ExtentCount(const CallbackInfo& info) {
  const int64_t count = CountExtents(Descriptor(info, 0, "file"));
  if (count == -1) ThrowSystem(info.Env(), "count the extents", errno);
  if (count < 0) return info.Env().Null();
  return Napi::Number::New(info.Env(), static_cast<double>(count));
}

Value FilesystemTypeOf(const CallbackInfo& info) {
  const int64_t type = FilesystemType(Descriptor(info, 0, "file"));
  if (type < 0) ThrowSystem(info.Env(), "ask for the filesystem", errno);
  return Napi::Number::New(info.Env(), static_cast<double>(type));
}

Value LockRangeOf(const CallbackInfo& info) {
  const FileRange range = RangeArguments(info);
  const auto outcome = LockRange(range.file, range.start, range.length, Flag(info, 3, "exclusive"));
  if (outcome == LockOutcome::kFailed) ThrowSystem(info.Env(), "lock", errno);
  return Napi::Boolean::New(info.Env(), outcome == LockOutcome::kTaken);
}

void UnlockRangeOf(const CallbackInfo& info) {
  const FileRange range = RangeArguments(info);
  if (!UnlockRange(range.file, range.start, range.length)) ThrowSystem(info.Env(), "unlock", errno);
}

Value IsSoleOpenerOf(const CallbackInfo& info) { return Napi::Boolean::New(info.Env(), IsSoleOpener(Descriptor(info, 0, "file"))); }

Value CachedBytesOf(const CallbackInfo& info) {
  const FileRange range = RangeArguments(info);
  const int64_t bytes = CachedBytes(range.file, range.start, range.length);
  if (bytes < 0) return info.Env().Null();
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

void WillReadOf(const CallbackInfo& info) {
  const FileRange range = RangeArguments(info);
  WillRead(range.file, range.start, range.length);
}

void WontReadOf(const CallbackInfo& info) {
  const FileRange range = RangeArguments(info);
  WontRead(range.file, range.start, range.length);
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("version", Napi::Number::New(env, kExportsVersion));
  exports.Set("hasRangeLocks", Napi::Boolean::New(env, kHasRangeLocks));
  exports.Set("hasExtents", Napi::Boolean::New(env, kHasExtents));
  exports.Set("hasFileAdvice", Napi::Boolean::New(env, kHasFileAdvice));
  exports.Set("cloneCall", Napi::String::New(env, kCloneCall));
  exports.Set("threads", Napi::Number::New(env, Threads()));
  exports.Set("kernel", Napi::String::New(env, ChooseStripeKernel().name));
  exports.Set("hasDecoder", Napi::Boolean::New(env, HasDecoder()));
  exports.Set("hasEncoder", Napi::Boolean::New(env, HasEncoder()));
  exports.Set("decodeFrames", Napi::Function::New(env, DecodeFramesOf));
  exports.Set("encodeFrame", Napi::Function::New(env, EncodeFrameOf));
  exports.Set("hashPages", Napi::Function::New(env, HashPagesOf));
  exports.Set("foldHashes", Napi::Function::New(env, FoldHashesOf));
  exports.Set("hashFilePages", Napi::Function::New(env, HashFilePagesOf));
  exports.Set("differingPages", Napi::Function::New(env, DifferingPages));
  exports.Set("compareFilePages", Napi::Function::New(env, CompareFilePages));
  exports.Set("cloneFile", Napi::Function::New(env, CloneFileOf));
  exports.Set("cloneToPath", Napi::Function::New(env, CloneToPathOf));
  exports.Set("cloneRange", Napi::Function::New(env, CloneRangeOf));
  exports.Set("extents", Napi::Function::New(env, ExtentsOf));
  exports.Set("extentCount", Napi::Function::New(env, ExtentCount));
  exports.Set("filesystemType", Napi::Function::New(env, FilesystemTypeOf));
  exports.Set("lockRange", Napi::Function::New(env, LockRangeOf));
  exports.Set("unlockRange", Napi::Function::New(env, UnlockRangeOf));
  exports.Set("isSoleOpener", Napi::Function::New(env, IsSoleOpenerOf));
  exports.Set("cachedBytes", Napi::Function::New(env, CachedBytesOf));
  exports.Set("willRead", Napi::Function::New(env, WillReadOf));
  exports.Set("wontRead", Napi::Function::New(env, WontReadOf));
  return exports;
}

}  // namespace

NODE_API_MODULE(coppice_native, Init)

#pragma once
/** Checks of what JavaScript passes in: each throws a TypeError or RangeError that names the argument. */
#include <napi.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

namespace coppice {

constexpr double kSafeIntegerMax = 9007199254740991.0;

[[noreturn]] inline void ThrowType(const Napi::CallbackInfo& info, const char* name, const char* wanted) {
  throw Napi::TypeError::New(info.Env(), std::string(name) + " must be " + wanted);
}

[[noreturn]] inline void ThrowRange(const Napi::CallbackInfo& info, const char* name, const char* wanted) {
  throw Napi::RangeError::New(info.Env(), std::string(name) + " must be " + wanted);
}

/** What the system refused; `errno` as Node has it: negative. */
[[noreturn]] inline void ThrowSystem(Napi::Env env, const char* act, int error) {
  Napi::Error thrown = Napi::Error::New(env, std::string(act) + ": " + std::strerror(error));
  thrown.Set("errno", Napi::Number::New(env, -error));
  throw thrown;
}

inline int64_t Integer(const Napi::CallbackInfo& info, size_t at, const char* name) {
  if (!info[at].IsNumber()) ThrowType(info, name, "a number");
  const double value = info[at].As<Napi::Number>().DoubleValue();
  if (!(value >= 0 && value <= kSafeIntegerMax) || std::floor(value) != value) ThrowRange(info, name, "a whole number, not negative");
  return static_cast<int64_t>(value);
}

inline int Descriptor(const Napi::CallbackInfo& info, size_t at, const char* name) {
  const int64_t value = Integer(info, at, name);
  if (value > INT32_MAX) ThrowRange(info, name, "a file descriptor");
  return static_cast<int>(value);
}

inline bool Flag(const Napi::CallbackInfo& info, size_t at, const char* name) {
  if (!info[at].IsBoolean()) ThrowType(info, name, "a boolean");
  return info[at].As<Napi::Boolean>().Value();
}

inline Napi::Uint8Array Bytes(const Napi::CallbackInfo& info, size_t at, const char* name) {
  if (!info[at].IsTypedArray() || info[at].As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) ThrowType(info, name, "a Uint8Array");
  return info[at].As<Napi::Uint8Array>();
}

/** A length of 0 would mean "to the end" to the system, so it is refused. */
inline int64_t Length(const Napi::CallbackInfo& info, size_t at, const char* name) {
  const int64_t length = Integer(info, at, name);
  if (length == 0) ThrowRange(info, name, "at least 1");
  return length;
}

struct FileRange {
  int file;
  int64_t start;
  int64_t length;
};

/** Arguments 0 to 2. */
inline FileRange RangeArguments(const Napi::CallbackInfo& info) {
  return {Descriptor(info, 0, "file"), Integer(info, 1, "start"), Length(info, 2, "length")};
}

}  // namespace coppice

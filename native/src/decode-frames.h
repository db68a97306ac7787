#pragma once
#include <napi.h>

namespace coppice {

/** decodeFrames(stored, frameBytes, frameRawBytes, pageSize, pages, hashes) → Promise<boolean>; see src-main/engine/io/native.ts. */
Napi::Value DecodeFramesOf(const Napi::CallbackInfo& info);

}  // namespace coppice

#pragma once
#include <napi.h>

namespace coppice {

/** encodeFrame(pages, dictionary, level) → Promise<Uint8Array | null>; see src-main/engine/io/native.ts. */
Napi::Value EncodeFrameOf(const Napi::CallbackInfo& info);

}  // namespace coppice

#pragma once
#if defined(_WIN32)
#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
// Its min and max are in the way of C++'s.
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <windows.h>
#include <winioctl.h>

/** libuv's, which Node exports: its descriptors are those of its own C library, which ours does not know. */
extern "C" HANDLE uv_get_osfhandle(int fd);

namespace coppice {

inline HANDLE HandleOf(int file) { return uv_get_osfhandle(file); }

}  // namespace coppice
#endif

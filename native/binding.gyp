{
  "targets": [{
    "target_name": "coppice_native",
    "sources": ["src/addon.cc", "src/page-hash.cc", "src/stripe-kernels.cc", "src/files.cc", "src/extents.cc", "src/file-pages.cc", "src/frames.cc", "src/decode-frames.cc", "src/encode-frame.cc"],
    "include_dirs": ["<!(node -p \"require('node-addon-api').include_dir\")"],
    "defines": ["NAPI_VERSION=9", "NODE_ADDON_API_DISABLE_DEPRECATED", "NODE_API_NO_EXTERNAL_BUFFERS_ALLOWED", "NAPI_CPP_EXCEPTIONS", "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS"],
    "cflags_cc": ["-std=c++20", "-fexceptions", "-O3", "-Wall", "-Wextra"],
    "cflags_cc!": ["-fno-exceptions", "-fno-rtti"],
    "xcode_settings": { "GCC_ENABLE_CPP_EXCEPTIONS": "YES", "CLANG_CXX_LANGUAGE_STANDARD": "c++20", "GCC_OPTIMIZATION_LEVEL": "3" },
    "msvs_settings": { "VCCLCompilerTool": { "ExceptionHandling": 1, "AdditionalOptions": ["/std:c++20"] } }
  }]
}

#include "page-hash.h"

#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "stripe-kernels.h"

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

namespace coppice {
namespace {

constexpr uint32_t kPrime32_1 = 0x9E3779B1U;
constexpr uint32_t kPrime32_2 = 0x85EBCA77U;
constexpr uint32_t kPrime32_3 = 0xC2B2AE3DU;
constexpr uint64_t kPrime64_1 = 0x9E3779B185EBCA87ULL;
constexpr uint64_t kPrime64_2 = 0xC2B2AE3D27D4EB4FULL;
constexpr uint64_t kPrime64_3 = 0x165667B19E3779F9ULL;
constexpr uint64_t kPrime64_4 = 0x85EBCA77C2B2AE63ULL;
constexpr uint64_t kPrime64_5 = 0x27D4EB2F165667C5ULL;
constexpr uint64_t kAvalanchePrime = 0x165667919E3779F9ULL;

constexpr size_t kSecretBytes = 192;
constexpr size_t kStripesPerBlock = (kSecretBytes - kStripeBytes) / kSecretStep;
constexpr size_t kBlockBytes = kStripeBytes * kStripesPerBlock;
/** Where the secret is read for scrambling, for the last stripe, and for the two halves of the result. */
constexpr size_t kScrambleAt = kSecretBytes - kStripeBytes;
constexpr size_t kLastStripeAt = kScrambleAt - 7;
constexpr size_t kLowHalfAt = 11;
constexpr size_t kHighHalfAt = kSecretBytes - kStripeBytes - kLowHalfAt;

/** The default secret of XXH3, fixed by its specification. */
alignas(64) constexpr uint8_t kSecret[] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,  //
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,  //
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,  //
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,  //
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,  //
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,  //
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,  //
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,  //
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,  //
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,  //
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,  //
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,  //
};
static_assert(sizeof kSecret == kSecretBytes);

/** Below this, starting a second thread costs more than it saves. */
constexpr size_t kBytesPerThreadMin = 4 * 1024 * 1024;

/** Little-endian, as every machine is that this is built for. */
inline uint64_t Read64(const uint8_t* at) {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline uint64_t Read64BigEndian(const uint8_t* at) {
  uint64_t value = 0;
  for (int byte = 0; byte < 8; byte += 1) value = (value << 8) | at[byte];
  return value;
}

inline void Write64BigEndian(uint8_t* at, uint64_t value) {
  for (int byte = 0; byte < 8; byte += 1) at[byte] = static_cast<uint8_t>(value >> (56 - 8 * byte));
}

/** The two halves of the 128-bit product, XORed. */
inline uint64_t MultiplyFold(uint64_t a, uint64_t b) {
#if defined(_MSC_VER) && defined(_M_X64)
  uint64_t high;
  const uint64_t low = _umul128(a, b, &high);
  return low ^ high;
#elif defined(__SIZEOF_INT128__)
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#else
  const uint64_t low = (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
  const uint64_t cross1 = (a >> 32) * (b & 0xFFFFFFFF);
  const uint64_t cross2 = (a & 0xFFFFFFFF) * (b >> 32);
  const uint64_t middle = (low >> 32) + (cross1 & 0xFFFFFFFF) + cross2;
  const uint64_t high = (a >> 32) * (b >> 32) + (cross1 >> 32) + (middle >> 32);
  return ((middle << 32) | (low & 0xFFFFFFFF)) ^ high;
#endif
}

inline void Scramble(uint64_t* lanes) {
  for (size_t lane = 0; lane < kLanes; lane += 1) {
    const uint64_t value = lanes[lane] ^ (lanes[lane] >> 47) ^ Read64(kSecret + kScrambleAt + 8 * lane);
    lanes[lane] = value * kPrime32_1;
  }
}

inline uint64_t MergeLanes(const uint64_t* lanes, size_t secret_at, uint64_t start) {
  uint64_t result = start;
  for (size_t lane = 0; lane < kLanes; lane += 2) {
    const uint8_t* secret = kSecret + secret_at + 8 * lane;
    result += MultiplyFold(lanes[lane] ^ Read64(secret), lanes[lane + 1] ^ Read64(secret + 8));
  }
  result ^= result >> 37;
  result *= kAvalanchePrime;
  return result ^ (result >> 32);
}

/** XXH3-128 for inputs longer than 240 bytes. The last block and the last stripe are handled apart even when whole. */
inline void HashLong(StripeKernel accumulate, const uint8_t* input, size_t length, uint8_t* hash) {
  alignas(64) uint64_t lanes[kLanes] = {kPrime32_3, kPrime64_1, kPrime64_2, kPrime64_3, kPrime64_4, kPrime32_2, kPrime64_5, kPrime32_1};
  const size_t blocks = (length - 1) / kBlockBytes;
  for (size_t block = 0; block < blocks; block += 1) {
    accumulate(lanes, input + block * kBlockBytes, kSecret, kStripesPerBlock);
    Scramble(lanes);
  }
  accumulate(lanes, input + blocks * kBlockBytes, kSecret, (length - 1) % kBlockBytes / kStripeBytes);
  accumulate(lanes, input + length - kStripeBytes, kSecret + kLastStripeAt, 1);
  Write64BigEndian(hash, MergeLanes(lanes, kHighHalfAt, ~(static_cast<uint64_t>(length) * kPrime64_2)));
  Write64BigEndian(hash + 8, MergeLanes(lanes, kLowHalfAt, static_cast<uint64_t>(length) * kPrime64_1));
}

void HashRun(const uint8_t* pages, size_t count, size_t page_size, uint8_t* hashes) {
  static const StripeKernel accumulate = ChooseStripeKernel().accumulate;
  for (size_t page = 0; page < count; page += 1) HashLong(accumulate, pages + page * page_size, page_size, hashes + page * kHashBytes);
}

inline uint64_t Finalise(uint64_t value) {
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdULL;
  value = (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return value ^ (value >> 33);
}

}  // namespace

void HashPages(const uint8_t* pages, size_t count, size_t page_size, uint8_t* hashes, unsigned threads) {
  size_t runs = count * page_size / kBytesPerThreadMin;
  if (runs > threads) runs = threads;
  if (runs > count) runs = count;
  const size_t per_run = runs > 1 ? count / runs : count;
  size_t first = 0;
  std::vector<std::thread> helpers;
  helpers.reserve(runs);
  try {
    for (size_t run = 1; run < runs; run += 1, first += per_run) {
      helpers.emplace_back(HashRun, pages + first * page_size, per_run, page_size, hashes + first * kHashBytes);
    }
  } catch (const std::system_error&) {
    // No thread to be had: this one does the rest.
  }
  HashRun(pages + first * page_size, count - first, page_size, hashes + first * kHashBytes);
  for (std::thread& helper : helpers) helper.join();
}

void FoldHashes(const uint8_t* hashes, size_t count, uint64_t first_page_number, uint8_t* folded) {
  uint64_t high = 0;
  uint64_t low = 0;
  for (size_t index = 0; index < count; index += 1) {
    const uint64_t number = first_page_number + index;
    const uint64_t hash_high = Read64BigEndian(hashes + index * kHashBytes);
    const uint64_t hash_low = Read64BigEndian(hashes + index * kHashBytes + 8);
    low ^= Finalise(hash_low ^ (number * 0x9e3779b97f4a7c15ULL));
    high ^= Finalise(hash_high + number * 0xd6e8feb86659fd93ULL + hash_low);
  }
  Write64BigEndian(folded, high);
  Write64BigEndian(folded + 8, low);
}

}  // namespace coppice

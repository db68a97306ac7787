/**
 * One stripe: lane[i] += data[i ^ 1] + low32(data[i] ^ secret[i]) * high32(data[i] ^ secret[i]). Written out for the
 * vector instructions of each processor, because compilers do not find the widening multiplication in the plain loop.
 */
#include "stripe-kernels.h"

#include <cstring>

#if defined(__x86_64__) || defined(_M_X64)
#define COPPICE_X86 1
#include <immintrin.h>
#elif defined(__aarch64__)
#define COPPICE_NEON 1
#include <arm_neon.h>
#endif

namespace coppice {
namespace {

#if COPPICE_X86

void AccumulateSse2(uint64_t* lanes, const uint8_t* input, const uint8_t* secret, size_t stripes) {
  constexpr size_t kVectors = 4;
  __m128i sums[kVectors];
  for (size_t at = 0; at < kVectors; at += 1) sums[at] = _mm_load_si128(reinterpret_cast<const __m128i*>(lanes) + at);
  for (; stripes > 0; stripes -= 1, input += kStripeBytes, secret += kSecretStep) {
    for (size_t at = 0; at < kVectors; at += 1) {
      const __m128i data = _mm_loadu_si128(reinterpret_cast<const __m128i*>(input) + at);
      const __m128i keyed = _mm_xor_si128(data, _mm_loadu_si128(reinterpret_cast<const __m128i*>(secret) + at));
      const __m128i product = _mm_mul_epu32(keyed, _mm_srli_epi64(keyed, 32));
      const __m128i swapped = _mm_shuffle_epi32(data, _MM_SHUFFLE(1, 0, 3, 2));
      sums[at] = _mm_add_epi64(sums[at], _mm_add_epi64(swapped, product));
    }
  }
  for (size_t at = 0; at < kVectors; at += 1) _mm_store_si128(reinterpret_cast<__m128i*>(lanes) + at, sums[at]);
}

#if defined(__GNUC__)
__attribute__((target("avx2"))) void AccumulateAvx2(uint64_t* lanes, const uint8_t* input, const uint8_t* secret, size_t stripes) {
  constexpr size_t kVectors = 2;
  __m256i sums[kVectors];
  for (size_t at = 0; at < kVectors; at += 1) sums[at] = _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes) + at);
  for (; stripes > 0; stripes -= 1, input += kStripeBytes, secret += kSecretStep) {
    for (size_t at = 0; at < kVectors; at += 1) {
      const __m256i data = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(input) + at);
      const __m256i keyed = _mm256_xor_si256(data, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(secret) + at));
      const __m256i product = _mm256_mul_epu32(keyed, _mm256_srli_epi64(keyed, 32));
      const __m256i swapped = _mm256_shuffle_epi32(data, _MM_SHUFFLE(1, 0, 3, 2));
      sums[at] = _mm256_add_epi64(sums[at], _mm256_add_epi64(swapped, product));
    }
  }
  for (size_t at = 0; at < kVectors; at += 1) _mm256_store_si256(reinterpret_cast<__m256i*>(lanes) + at, sums[at]);
}
#endif

#elif COPPICE_NEON

void AccumulateNeon(uint64_t* lanes, const uint8_t* input, const uint8_t* secret, size_t stripes) {
  constexpr size_t kVectors = 4;
  uint64x2_t sums[kVectors];
  for (size_t at = 0; at < kVectors; at += 1) sums[at] = vld1q_u64(lanes + 2 * at);
  for (; stripes > 0; stripes -= 1, input += kStripeBytes, secret += kSecretStep) {
    for (size_t at = 0; at < kVectors; at += 1) {
      const uint64x2_t data = vreinterpretq_u64_u8(vld1q_u8(input + 16 * at));
      const uint64x2_t keyed = veorq_u64(data, vreinterpretq_u64_u8(vld1q_u8(secret + 16 * at)));
      sums[at] = vaddq_u64(sums[at], vextq_u64(data, data, 1));
      sums[at] = vmlal_u32(sums[at], vmovn_u64(keyed), vshrn_n_u64(keyed, 32));
    }
  }
  for (size_t at = 0; at < kVectors; at += 1) vst1q_u64(lanes + 2 * at, sums[at]);
}

#else

void AccumulatePlain(uint64_t* lanes, const uint8_t* input, const uint8_t* secret, size_t stripes) {
  for (; stripes > 0; stripes -= 1, input += kStripeBytes, secret += kSecretStep) {
    uint64_t data[kLanes];
    uint64_t keys[kLanes];
    std::memcpy(data, input, sizeof data);
    std::memcpy(keys, secret, sizeof keys);
    for (size_t lane = 0; lane < kLanes; lane += 1) {
      const uint64_t keyed = data[lane] ^ keys[lane];
      lanes[lane] += data[lane ^ 1] + (keyed & 0xFFFFFFFF) * (keyed >> 32);
    }
  }
}

#endif

}  // namespace

NamedKernel ChooseStripeKernel() {
#if COPPICE_X86
#if defined(__GNUC__)
  if (__builtin_cpu_supports("avx2")) return {"AVX2", AccumulateAvx2};
#endif
  return {"SSE2", AccumulateSse2};
#elif COPPICE_NEON
  return {"NEON", AccumulateNeon};
#else
  return {"no vectors", AccumulatePlain};
#endif
}

}  // namespace coppice

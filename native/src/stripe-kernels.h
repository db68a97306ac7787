#pragma once
#include <cstddef>
#include <cstdint>

namespace coppice {

constexpr size_t kLanes = 8;
constexpr size_t kStripeBytes = 64;
/** The secret moves by this much from one stripe to the next. */
constexpr size_t kSecretStep = 8;

/** Adds `stripes` stripes of `input` to the eight lanes: the inner loop of XXH3, where all the time goes. */
using StripeKernel = void (*)(uint64_t* lanes, const uint8_t* input, const uint8_t* secret, size_t stripes);

struct NamedKernel {
  const char* name;
  StripeKernel accumulate;
};

/** The widest kernel that this machine can run; all give the same result. */
NamedKernel ChooseStripeKernel();

}  // namespace coppice

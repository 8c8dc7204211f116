// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a vector compare of at most eight lanes to its bits.

#include <cstdint>

#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL  // Highway 1.0.3 refuses -march=icelake or later without it
#endif
#include <hwy/highway.h>

namespace nidus::lanes {

/// Bit i: lane i of the mask is true.
template <class D, class Mask>
unsigned mask_bits(D d, Mask mask) {
  std::uint8_t bytes[8] = {};
  hwy::HWY_NAMESPACE::StoreMaskBits(d, mask, bytes);
  std::uint8_t byte = bytes[0];
#if defined(__x86_64__)
  // g++ 12.2 takes the widening of a mask register for free; when it spills the register, it stores
  // one byte and loads four. Seen through here, the byte is a byte.
  asm("" : "+q"(byte));
#endif
  return byte;
}

}  // namespace nidus::lanes

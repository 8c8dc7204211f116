// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lanes over one 64-byte line of 512 bits: are the bits that a 64-bit seed draws all set? A backend is
// a stateless type with
//
//   static bool all_set(const std::uint32_t* line, std::uint64_t seed, unsigned draws)
//
// Draw j is the place line_place(seed, j), 0 to 511: each is uniform, and they are drawn independently
// of each other (they may coincide). ScalarLine is the reference; VectorLine (Google Highway) computes
// all places at once, takes each one's word out of the line in registers, and must agree.

#include <cstdint>

#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL  // Highway 1.0.3 refuses -march=icelake or later without it
#endif
#include <hwy/highway.h>

namespace nidus::lanes {

inline constexpr unsigned kLineWords = 16;   // of 32 bits
inline constexpr unsigned kMaxDraws = 16;    // one vector of words
inline constexpr unsigned kPlaceShift = 23;  // the upper 9 bits of 32: a place among 512

// Odd factors, the outputs of SplitMix64 from 0 (lower and upper halves); part of the file format.
alignas(64) inline constexpr std::uint32_t kLowFactors[16] = {
    0x7b1dcdaf, 0xa1b965f5, 0x8009454f, 0x724c81ed, 0x51a8749b, 0x747ea2eb, 0x1f4532e1, 0xc916ab3d,
    0x41c98ac3, 0x368cb0a7, 0x3cb13d09, 0x055bdef7, 0xe0bbdb7b, 0x983aa92f, 0x00cc4d19, 0x971d80ab};
alignas(64) inline constexpr std::uint32_t kHighFactors[16] = {
    0xe220a839, 0x6e789e6b, 0x06c45d19, 0xf88bb8a9, 0x1b39896b, 0x53cb9f0d, 0x2c829abf, 0xc584133b,
    0x3ee57891, 0xf3b8488d, 0x657eecdd, 0xc2d326e1, 0x8621a03f, 0x8e1f7555, 0xb54e0f17, 0x84bb3f97};

/// Draw j of this seed.
constexpr unsigned line_place(std::uint64_t seed, unsigned j) {
  const auto low = static_cast<std::uint32_t>(seed), high = static_cast<std::uint32_t>(seed >> 32);
  return (low * kLowFactors[j] + high * kHighFactors[j]) >> kPlaceShift;
}

struct ScalarLine {
  static bool all_set(const std::uint32_t* line, std::uint64_t seed, unsigned draws) {
    for (unsigned j = 0; j < draws; ++j) {
      const unsigned place = line_place(seed, j);
      if ((line[place / 32] >> (place % 32) & 1) == 0) return false;
    }
    return true;
  }
};

struct VectorLine {
  static bool all_set(const std::uint32_t* line, std::uint64_t seed, unsigned draws) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::CappedTag<std::uint32_t, kLineWords> d;
    const auto lanes = static_cast<unsigned>(hn::Lanes(d));  // a power of two, at most 16
    const auto low = hn::Set(d, static_cast<std::uint32_t>(seed));
    const auto high = hn::Set(d, static_cast<std::uint32_t>(seed >> 32));
    bool all = true;  // no branch within: the answer would be guessed wrong
    for (unsigned j = 0; j < draws; j += lanes) {
      const auto places =
          hn::ShiftRight<kPlaceShift>(hn::Add(hn::Mul(low, hn::Load(d, kLowFactors + j)),
                                              hn::Mul(high, hn::Load(d, kHighFactors + j))));
      const auto words = hn::ShiftRight<5>(places);
      const auto lane = hn::IndicesFromVec(d, hn::And(words, hn::Set(d, lanes - 1)));
      auto found = hn::TableLookupLanes(hn::Load(d, line), lane);
      for (unsigned first = lanes; first < kLineWords; first += lanes) {
        const auto here = hn::TableLookupLanes(hn::Load(d, line + first), lane);
        found = hn::IfThenElse(hn::Gt(words, hn::Set(d, first - 1)), here, found);
      }
      const auto bits = hn::Shl(hn::Set(d, 1u), hn::And(places, hn::Set(d, 31u)));
      const auto missing = hn::Ne(hn::And(found, bits), bits);
      all &= hn::AllFalse(d, hn::And(missing, hn::FirstN(d, draws - j)));
    }
    return all;
  }
};

}  // namespace nidus::lanes

// SPDX-License-Identifier: Apache-2.0

// The lanes of the blocked Bloom filter: the vector backend against the reference, and the draws.

#include <bit>
#include <random>

#include <gtest/gtest.h>
#include <nidus/lanes/line_bits.hpp>

namespace nidus::lanes {
namespace {

TEST(LineBits, VectorAgreesWithScalarForEveryNumberOfDraws) {
  std::mt19937_64 random(1);
  for (unsigned draws = 1; draws <= kMaxDraws; ++draws) {
    int set = 0;
    for (int i = 0; i < 4000; ++i) {
      alignas(64) std::uint32_t line[kLineWords];
      for (auto& word : line) word = static_cast<std::uint32_t>(random() | random() | random());
      const std::uint64_t seed = random();
      const unsigned planted = i % (draws + 2);  // some lines miss one bit only, some none
      for (unsigned j = 0; j < draws; ++j) {
        const unsigned place = line_place(seed, j);
        line[place / 32] |= 1u << (place % 32);
      }
      if (planted < draws) {
        const unsigned place = line_place(seed, planted);
        line[place / 32] &= ~(1u << (place % 32));
      }
      const bool expected = ScalarLine::all_set(line, seed, draws);
      ASSERT_EQ(VectorLine::all_set(line, seed, draws), expected) << draws;
      ASSERT_EQ(expected, planted >= draws);
      set += expected;
    }
    EXPECT_GT(set, 0);
  }
}

TEST(LineBits, EachDrawIsUniformAndPairsAreIndependent) {
  constexpr int kSeeds = 200'000;
  std::mt19937_64 random(2);
  std::vector<std::uint64_t> seeds(kSeeds);
  for (auto& seed : seeds) seed = random();
  for (unsigned a = 0; a < kMaxDraws; ++a) {
    std::vector<double> places(512);
    for (const std::uint64_t seed : seeds) ++places[line_place(seed, a)];
    double chi = 0;
    for (const double n : places) chi += (n - kSeeds / 512.0) * (n - kSeeds / 512.0);
    chi /= kSeeds / 512.0;
    EXPECT_NEAR(chi, 511, 6 * 32) << a;  // chi-squared of 511 degrees: deviation sqrt(2 x 511) = 32
    for (unsigned b = 0; b < a; ++b) {
      int same = 0;
      for (const std::uint64_t seed : seeds) same += line_place(seed, a) == line_place(seed, b);
      EXPECT_NEAR(same, kSeeds / 512, 6 * 20) << a << ' ' << b;  // of 391: deviation 20
    }
  }
}

}  // namespace
}  // namespace nidus::lanes

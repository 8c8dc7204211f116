// SPDX-License-Identifier: Apache-2.0

// Vector lanes give the masks of the scalar ones, in loops that keep many values alive too.

#include <nidus/lanes/words.hpp>

#include <array>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace nidus::lanes {
namespace {

template <unsigned N>
void compare_all(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::array<std::uint64_t, N> words;
  std::array<std::uint16_t, N> tags;
  for (int round = 0; round < 20'000; ++round) {
    const std::uint64_t keep = random() | random();
    for (auto& word : words) word = random() % 3;
    for (auto& tag : tags) tag = static_cast<std::uint16_t>(random() % 3);
    for (std::uint64_t wanted = 0; wanted < 3; ++wanted) {
      ASSERT_EQ((ScalarWords::match<N>(words.data(), keep, wanted)),
                (VectorWords::match<N>(words.data(), keep, wanted)));
      const auto tag = static_cast<std::uint16_t>(wanted);
      ASSERT_EQ((ScalarWords::match_tags<N>(tags.data(), tag)),
                (VectorWords::match_tags<N>(tags.data(), tag)));
    }
  }
}

TEST(Words, VectorsGiveTheMasksOfScalars) {
  compare_all<4>(1);
  compare_all<8>(2);
}

}  // namespace
}  // namespace nidus::lanes

// SPDX-License-Identifier: Apache-2.0

// Scalar and vector lanes answer alike for every bucket.

#include <nidus/lanes/slots.hpp>

#include <array>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace nidus::lanes {
namespace {

struct alignas(64) Words {
  std::array<std::uint64_t, kSlotsPerBucket> at{};
};

template <class Backend>
class SlotsTest : public testing::Test {};
using Backends = testing::Types<ScalarSlots, VectorSlots>;
TYPED_TEST_SUITE(SlotsTest, Backends);

TYPED_TEST(SlotsTest, EachSlotHasItsBitInTheMask) {
  for (unsigned slot = 0; slot < kSlotsPerBucket; ++slot) {
    Words words;
    words.at[slot] = std::uint64_t{0xBEEF} << kTagShift;
    EXPECT_EQ(TypeParam::match(words.at.data(), 0xBEEF), 1u << slot);
    EXPECT_EQ(TypeParam::match(words.at.data(), 0), 0xFFu & ~(1u << slot));
  }
}

TYPED_TEST(SlotsTest, OnlyTheUpperSixteenBitsCount) {
  Words words;
  words.at.fill((std::uint64_t{1} << kTagShift) - 1);
  EXPECT_EQ(TypeParam::match(words.at.data(), 0), 0xFFu);
  EXPECT_EQ(TypeParam::match(words.at.data(), 0xFFFF), 0u);
}

TYPED_TEST(SlotsTest, TagsThatDifferInOneBitDoNotMatch) {
  for (unsigned bit = 0; bit < 16; ++bit) {
    Words words;
    words.at.fill(std::uint64_t{0x5A5A} << kTagShift);
    EXPECT_EQ(TypeParam::match(words.at.data(), static_cast<std::uint16_t>(0x5A5A ^ (1u << bit))),
              0u);
  }
}

TEST(Slots, ScalarAndVectorGiveTheSameMasksOnRandomWords) {
  const std::uint64_t seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200'000; ++round) {
    Words words;
    // Few tags, so that every number of matches occurs.
    const std::uint64_t tags = std::uint64_t{1} << (random() % 17);
    for (auto& word : words.at) {
      word = ((random() % tags) << kTagShift) | (random() >> (64 - kTagShift));
    }
    const auto tag = static_cast<std::uint16_t>(random() % tags);
    ASSERT_EQ(ScalarSlots::match(words.at.data(), tag), VectorSlots::match(words.at.data(), tag));
  }
}

}  // namespace
}  // namespace nidus::lanes

// SPDX-License-Identifier: Apache-2.0

// What is particular to the Bloom family: places, sizes, counters that saturate; the golden images.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nidus/filter/blocked_bloom.hpp>
#include <nidus/filter/bloom.hpp>
#include <nidus/filter/counting_bloom.hpp>
#include <nidus/filter/cuckoo_filter.hpp>

#include "keys.hpp"

namespace nidus::filter {
namespace {

using testing::fill;
using testing::image_of;

TEST(KeyHash, IsTheSameForEverSinceImagesDependOnIt) {
  EXPECT_EQ(KeyHash("nidus"),
            KeyHash(XXH3_128bits("nidus", 5).low64, XXH3_128bits("nidus", 5).high64));
  EXPECT_EQ(KeyHash(""), KeyHash(0x6001c324468d497fULL, 0x99aa06d3014798d8ULL));
  const char word[8] = {1, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(KeyHash(1), KeyHash(std::string_view(word, 8)));
  EXPECT_EQ(KeyHash(std::int8_t{-1}), KeyHash(~std::uint64_t{0}));
}

TEST(Probes, StayWithinAnyNumberOfCells) {
  for (const std::uint64_t cells : {1ULL, 2ULL, 3ULL, 64ULL, 10'000ULL, 1ULL << 40}) {
    for (std::uint64_t i = 0; i < 100; ++i) {
      Probes probes(i, cells);
      for (int k = 0; k < 64; ++k) ASSERT_LT(probes.next(), cells);
    }
  }
}

TEST(BloomFilter, AnySizeInBitsWorksFromOneBitOn) {
  for (std::uint64_t bits = 1; bits <= 200; ++bits) {
    BloomFilter bloom(BloomShape{bits, 3});
    CountingBloomFilter counting(BloomShape{bits, 3});
    for (std::uint64_t i = 0; i < 10; ++i) {
      bloom.insert(i);
      counting.insert(i);
      ASSERT_TRUE(bloom.may_contain(i) && counting.may_contain(i));
    }
    ASSERT_EQ(*BloomFilter::load(image_of(bloom)), bloom);
    ASSERT_EQ(*CountingBloomFilter::load(image_of(counting)), counting);
  }
}

TEST(CountingBloomFilter, CounterThatSaturatesSticksAndIsCounted) {
  CountingBloomFilter filter(BloomShape{1000, 4});
  for (int i = 0; i < 14; ++i) filter.insert("many");
  EXPECT_EQ(filter.saturated(), 0u);
  for (int i = 0; i < 6; ++i) filter.insert("many");
  EXPECT_EQ(filter.saturated(), 4u);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(filter.erase("many"));
  // Its count is lost: it stays, rather than making a key absent that shares a counter.
  EXPECT_TRUE(filter.may_contain("many"));
  EXPECT_EQ(filter.saturated(), 4u);
  EXPECT_EQ(filter.count(), 0u);
  EXPECT_EQ(CountingBloomFilter::load(image_of(filter))->saturated(), 4u);
}

TEST(CountingBloomFilter, SaturationNeverMakesAnotherKeyAbsent) {
  CountingBloomFilter filter(BloomShape{300, 4});  // every counter serves many keys
  fill(filter, 1500);
  EXPECT_GT(filter.saturated(), 0u);
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(filter.erase(i));
  for (std::uint64_t i = 1000; i < 1500; ++i) ASSERT_TRUE(filter.may_contain(i)) << i;
}

TEST(CountingBloomFilter, LoadedFilterIsEqualForManySizes) {
  for (std::uint64_t counters = 100; counters < 140; ++counters) {
    CountingBloomFilter filter(BloomShape{counters, 3});
    fill(filter, 80);
    const auto loaded = CountingBloomFilter::load(image_of(filter));
    ASSERT_TRUE(loaded) << loaded.error().message;
    ASSERT_EQ(*loaded, filter);
  }
}

/// One number for all bytes of an image.
template <class F>
std::uint64_t fingerprint(F filter) {
  fill(filter, 100);
  const std::string image = image_of(filter);
  return XXH3_64bits(image.data(), image.size());
}

// Files outlive programs: whoever changes one of these changes the format, and its version with it.
TEST(Image, BytesAreGolden) {
  EXPECT_EQ(fingerprint(BloomFilter({1000, 7})), 14031188439919778754u);
  EXPECT_EQ(fingerprint(BlockedBloomFilter({3, 7})), 10941588421326992905u);
  EXPECT_EQ(fingerprint(CountingBloomFilter({1000, 7})), 9766508183345851882u);
  EXPECT_EQ(fingerprint(CuckooFilter({30, 4, 13})), 3587300574489172330u);
  EXPECT_EQ(fingerprint(CuckooFilter({30, 4, 13}, {3, 2})), 9439789676783570076u);
}

TEST(Image, ErrorSaysWhatIsWrong) {
  const std::string image = image_of(BloomFilter({1000, 7}));
  EXPECT_THAT(BlockedBloomFilter::load(image).error().message, ::testing::HasSubstr("kind 1"));
  EXPECT_THAT(BloomFilter::load("nothing").error().message, ::testing::HasSubstr("cut off"));
  std::string other = image;
  other[8] = 9;
  EXPECT_THAT(BloomFilter::load(other).error().message, ::testing::HasSubstr("version 9"));
}

}  // namespace
}  // namespace nidus::filter

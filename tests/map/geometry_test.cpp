// SPDX-License-Identifier: Apache-2.0

// The two places of a key.

#include <nidus/map/geometry.hpp>

#include <array>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace nidus::map {
namespace {

TEST(Geometry, AlternateIsAnInvolutionForEveryTagAndSmallTable) {
  for (std::uint64_t mask : {1u, 3u, 7u, 15u, 31u, 63u, 127u, 255u}) {
    for (std::uint32_t t = 1; t < 65536; ++t) {
      const auto tag = static_cast<std::uint16_t>(t);
      for (std::uint64_t bucket = 0; bucket <= mask; bucket += 1 + mask / 8) {
        const std::uint64_t other = Geometry::alternate(bucket, tag, mask);
        ASSERT_NE(other, bucket);
        ASSERT_LE(other, mask);
        ASSERT_EQ(Geometry::alternate(other, tag, mask), bucket);
      }
    }
  }
}

TEST(Geometry, AlternateIsAnInvolutionForEveryBucketOfASegment) {
  for (std::uint32_t t = 1; t < 65536; t += 37) {
    const auto tag = static_cast<std::uint16_t>(t);
    for (std::uint64_t bucket = 0; bucket < 256; ++bucket) {
      ASSERT_EQ(Geometry::alternate(Geometry::alternate(bucket, tag, 255), tag, 255), bucket);
    }
  }
}

TEST(Geometry, BothBucketsOfEveryHashLieInTheTable) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t hash = random();
    const std::uint64_t mask = (std::uint64_t{2} << (random() % 33)) - 1;
    const std::uint64_t first = Geometry::bucket(hash, mask);
    ASSERT_LE(first, mask);
    ASSERT_LE(Geometry::alternate(first, Geometry::tag(hash), mask), mask);
  }
}

TEST(Geometry, TheTagIsNeverZero) {
  EXPECT_EQ(Geometry::tag(0), 1);
  EXPECT_EQ(Geometry::tag(0xABCDEF0000000000ull), 1);
  for (std::uint64_t low = 1; low < 65536; ++low) ASSERT_EQ(Geometry::tag(low), low);
}

TEST(Geometry, EveryOverflowClassHasAMark) {
  std::array<int, 8> seen{};
  for (std::uint32_t tag = 1; tag < 65536; ++tag) {
    const unsigned overflow_class = Geometry::overflow_class(static_cast<std::uint16_t>(tag));
    ASSERT_LT(overflow_class, 8u);
    ++seen[overflow_class];
  }
  for (int count : seen) EXPECT_GE(count, 8191);
}

// The distances spread: with 256 buckets, every odd distance is used by about 1/128 of the tags.
// Bound: 512 expected, binomial standard deviation 22.5; 6 of them.
TEST(Geometry, DistancesSpreadOverTheSegment) {
  std::array<int, 256> seen{};
  for (std::uint32_t tag = 1; tag < 65536; ++tag) {
    ++seen[Geometry::alternate(0, static_cast<std::uint16_t>(tag), 255)];
  }
  for (std::size_t distance = 0; distance < 256; ++distance) {
    if (distance % 2 == 0) {
      EXPECT_EQ(seen[distance], 0) << distance;
    } else {
      EXPECT_NEAR(seen[distance], 512, 135) << distance;
    }
  }
}

// The same rules at compile time.
static_assert(Geometry::tag(0) == 1 && Geometry::tag(0x12345) == 0x2345);
static_assert(Geometry::bucket(0x50000, 3) == 1);
static_assert(Geometry::alternate(Geometry::alternate(5, 77, 255), 77, 255) == 5);
static_assert(Geometry::overflow_class(0xFFFF) == 7);

}  // namespace
}  // namespace nidus::map

// SPDX-License-Identifier: Apache-2.0

// Statistics: rates of false positives against the theory, at the sizes and with the keys that the
// documentation tells of. Bounds: a count of E events has a standard deviation of sqrt(E); each test
// says what E is. Keys and probes are fixed, so the outcomes are too.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nidus/filter/blocked_bloom.hpp>
#include <nidus/filter/bloom.hpp>
#include <nidus/filter/counting_bloom.hpp>
#include <nidus/filter/cuckoo_filter.hpp>

#include "keys.hpp"

namespace nidus::filter {
namespace {

using testing::fill;
using testing::Keys;
using testing::measured_fpr;

constexpr std::uint64_t kItems = 1'000'000, kProbes = 10'000'000;

struct Row {
  unsigned bits_per_key, hashes;
  double bloom, blocked;  // rates
};
constexpr Row kRows[] = {{8, 6, .02158, .02342},
                         {10, 7, .00819, .00957},
                         {12, 8, .00314, .00407},
                         {16, 8, .00057, .00087}};

// At least 5700 events: 10 % is more than seven standard deviations.
TEST(BloomRates, AreWithinTenPercentOfTheTheory) {
  for (const Row& row : kRows) {
    BloomFilter filter(BloomShape{kItems * row.bits_per_key, row.hashes});
    fill(filter, kItems);
    EXPECT_NEAR(measured_fpr(filter, kProbes) / row.bloom, 1, 0.1) << row.bits_per_key;
    EXPECT_NEAR(filter.expected_fpr() / row.bloom, 1, 0.05);
  }
}

TEST(BlockedBloomRates, AreWithinTenPercentOfTheTheory) {
  for (const Row& row : kRows) {
    BlockedBloomFilter filter({kItems * row.bits_per_key / kBlockBits, row.hashes});
    fill(filter, kItems);
    EXPECT_NEAR(measured_fpr(filter, kProbes) / row.blocked, 1, 0.1) << row.bits_per_key;
    EXPECT_NEAR(filter.expected_fpr() / row.blocked, 1, 0.05);
  }
}

TEST(CountingBloomRates, AreThoseOfABloomFilterWithAsManyCounters) {
  const Row& row = kRows[1];
  CountingBloomFilter filter(BloomShape{kItems * row.bits_per_key, row.hashes});
  fill(filter, kItems);
  EXPECT_NEAR(measured_fpr(filter, kProbes) / row.bloom, 1, 0.1);
}

// Where less than 1000 false positives are expected (tags of 16 bits and more) the bound gets five
// standard deviations on top.
TEST(CuckooRates, StayBelowTheTheoryAtEveryTagWidthAndBucketSize) {
  for (const unsigned slots : {2u, 4u, 8u}) {
    const double load = cuckoo_max_load(slots);
    for (const unsigned bits : {4u, 5u, 7u, 8u, 9u, 12u, 13u, 16u, 17u, 20u, 32u}) {
      const std::uint64_t items = slots == 2 && bits < 8 ? 1500 : 300'000;
      const double pairs = std::ceil(static_cast<double>(items) / load / slots / 2);
      CuckooFilter filter(CuckooShape{2 * static_cast<std::uint64_t>(pairs), slots, bits});
      ASSERT_EQ(fill(filter, items), items) << bits << " bits, " << slots << " slots";
      const double values = std::exp2(bits) - 1;
      const double theory = 1 - std::pow(1 - 1 / values, 2 * slots * filter.load());
      const double probes = 2'000'000, noise = 5 * std::sqrt(theory / probes);
      const double bound = theory * 1.15 + (theory * probes < 1000 ? noise : 0);
      EXPECT_LE(measured_fpr(filter, static_cast<std::uint64_t>(probes)), bound) << bits;
      if (theory * probes >= 1000) {
        EXPECT_GE(measured_fpr(filter, 2'000'000), theory / 1.15) << bits;
      }
    }
  }
}

TEST(CuckooRates, MillionItemsTenMillionProbes) {
  for (const unsigned bits : {8u, 12u, 16u}) {
    CuckooFilter filter(CuckooShape{263'158, 4, bits});
    ASSERT_EQ(fill(filter, kItems), kItems);
    EXPECT_NEAR(measured_fpr(filter, kProbes) / filter.expected_fpr(), 1, 0.15) << bits;
  }
}

TEST(BloomRates, TenThousandBitsThousandKeysSevenHashesGiveTheTextbookRate) {
  // One small array's rate varies by 4 % of itself with its keys, so the mean of 50 arrays.
  double sum = 0;
  for (std::uint64_t round = 0; round < 50; ++round) {
    BloomFilter filter(BloomShape{10'000, 7});
    for (std::uint64_t i = 0; i < 1000; ++i) filter.insert(round << 32 | i);
    sum += measured_fpr(filter, 50'000);
  }
  EXPECT_NEAR(sum / 50, 0.0082, 0.0004);
}

TEST(BloomFilter, LookupOfAnAbsentKeyReadsLessThanTwoPlacesOnAverage) {
  BloomFilter filter(bloom_shape(kItems, 0.01));
  fill(filter, kItems);
  std::uint64_t places = 0;
  for (std::uint64_t i = 0; i < kItems; ++i) {
    Probes probes(testing::kNeverInserted + i, filter.bits());
    for (unsigned k = 0; k < filter.shape().hashes; ++k) {
      ++places;
      if (!filter.bit(probes.next())) break;
    }
  }
  EXPECT_LT(static_cast<double>(places) / kItems, 2.0);
}

// 200 sizes: 10 000 cells, each 2 % more, odd and even in turn, and the powers of two between.
std::vector<std::uint64_t> sweep() {
  std::vector<std::uint64_t> sizes;
  double size = 10'000;
  for (std::uint64_t i = 0; sizes.size() < 194; size *= 1.02, ++i) {
    sizes.push_back(static_cast<std::uint64_t>(size) / 2 * 2 + i % 2);
  }
  for (std::uint64_t power = 1 << 14; power <= 1 << 19; power <<= 1) sizes.push_back(power);
  return sizes;
}

// Events: 160 000 probes at rates of .008 and more are 1300, 3 % each; with the 4 % of a small array
// the largest of 200 stays below 1.2 times the mean, the smallest above 1/1.2.
template <class Make>
void expect_no_unlucky_size(Make make) {
  for (const Keys keys : testing::kAllKeys) {
    double least = 1, most = 0;
    for (const std::uint64_t size : sweep()) {
      auto [filter, items] = make(size);
      ASSERT_EQ(fill(filter, items, keys), items) << size;
      const double rate = measured_fpr(filter, 160'000, keys) / filter.expected_fpr();
      least = std::min(least, rate);
      most = std::max(most, rate);
    }
    EXPECT_LE(most / least, 1.5) << static_cast<int>(keys);
  }
}

TEST(Sweep, BloomFilterHasNoUnluckySize) {
  expect_no_unlucky_size([](std::uint64_t bits) {
    return std::pair(BloomFilter({bits, 7}), bits / 10);
  });
}

TEST(Sweep, BlockedBloomFilterHasNoUnluckySize) {
  expect_no_unlucky_size([](std::uint64_t bits) {
    const BlockedBloomShape shape{bits / kBlockBits, 7};
    return std::pair(BlockedBloomFilter(shape), shape.blocks * kBlockBits / 10);
  });
}

TEST(Sweep, CuckooFilterHasNoUnluckySize) {
  expect_no_unlucky_size([](std::uint64_t bits) {
    const CuckooFilter filter(CuckooShape{bits / 40, 4, 10});
    return std::pair(filter, filter.slots() * 94 / 100);
  });
}

}  // namespace
}  // namespace nidus::filter

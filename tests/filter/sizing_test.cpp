// SPDX-License-Identifier: Apache-2.0

// Sizing arithmetic: textbook values, and that both directions agree.

#include <gtest/gtest.h>
#include <nidus/filter/sizing.hpp>

namespace nidus::filter {
namespace {

constexpr double kRates[] = {0.3, 0.1, 0.03, 0.01, 0.001, 1e-4, 1e-6, 1e-9};

TEST(Sizing, OptimumIsTheLogarithmOfTheRate) {
  EXPECT_DOUBLE_EQ(optimum_bits_per_item(0.5), 1);
  EXPECT_NEAR(optimum_bits_per_item(0.01), 6.644, 0.001);
}

TEST(Sizing, BloomRatesAreTheTextbookOnes) {
  EXPECT_NEAR(bloom_fpr({8'000'000, 6}, 1e6), .02158, 5e-6);
  EXPECT_NEAR(bloom_fpr({10'000'000, 7}, 1e6), .00819, 5e-6);
  EXPECT_NEAR(bloom_fpr({12'000'000, 8}, 1e6), .00314, 5e-6);
  EXPECT_NEAR(bloom_fpr({16'000'000, 8}, 1e6), .00057, 5e-6);
  EXPECT_NEAR(bloom_fpr({10'000, 7}, 1000), .0082, 5e-5);
}

TEST(Sizing, BlockedBloomRatesAreThoseOfPoissonBlocks) {
  EXPECT_NEAR(blocked_bloom_fpr_at(512 / 8., 6), .02342, 5e-6);
  EXPECT_NEAR(blocked_bloom_fpr_at(512 / 10., 7), .00957, 5e-6);
  EXPECT_NEAR(blocked_bloom_fpr_at(512 / 12., 8), .00407, 5e-6);
  EXPECT_NEAR(blocked_bloom_fpr_at(512 / 16., 8), .00087, 5e-6);
}

TEST(Sizing, CuckooRateComparesTwoBuckets) {
  const double equal = 1 / 255.;
  EXPECT_NEAR(cuckoo_fpr({1000, 4, 8}, 1), 1 - std::pow(1 - equal, 8), 1e-12);
  EXPECT_NEAR(cuckoo_fpr({1000, 4, 32}, .95), 7.6 / 4294967295., 1e-15);
  EXPECT_EQ(cuckoo_fpr({1000, 4, 8}, 0), 0);
}

TEST(Sizing, EveryShapeKeepsItsRateAndHasAtLeastTheOptimumOfBits) {
  for (const double fpr : kRates) {
    const double least = optimum_bits_per_item(fpr);
    for (const double items : {1e3, 1e6, 1e9}) {
      const BloomShape bloom = bloom_shape(items, fpr);
      EXPECT_LE(bloom_fpr(bloom, items), fpr * (1 + 1e-9));
      EXPECT_GE(static_cast<double>(bloom.bits) / items, least);
      EXPECT_LE(static_cast<double>(bloom.bits) / items, 1.45 * least + 1);
      const BlockedBloomShape blocked = blocked_bloom_shape(items, fpr);
      EXPECT_LE(blocked_bloom_fpr(blocked, items), fpr * (1 + 1e-9));
      EXPECT_GE(static_cast<double>(blocked.blocks) * kBlockBits, least * items);
      for (const unsigned slots : {2u, 4u, 8u}) {
        const auto cuckoo = cuckoo_shape(items, fpr, slots);
        if (!cuckoo) {
          EXPECT_LT(fpr, 1e-8);
          continue;
        }
        EXPECT_LE(cuckoo_fpr(*cuckoo, items / cuckoo_slots(*cuckoo)), fpr);
        EXPECT_GE(cuckoo_capacity(*cuckoo) + 1, items);
        EXPECT_GE(cuckoo_slots(*cuckoo) * cuckoo->tag_bits, least * items);
      }
    }
  }
}

TEST(Sizing, CapacityIsTheInverseOfTheShape) {
  for (const double fpr : kRates) {
    EXPECT_NEAR(bloom_capacity(bloom_shape(1e6, fpr), fpr) / 1e6, 1, 1e-5);
    EXPECT_NEAR(blocked_bloom_capacity(blocked_bloom_shape(1e6, fpr), fpr) / 1e6, 1, 1e-3);
  }
}

TEST(Sizing, BlockedChoosesTheNumberOfHashesOfTheFewestBits) {
  for (const double fpr : {0.1, 0.01, 0.001}) {
    const BlockedBloomShape best = blocked_bloom_shape(1e6, fpr);
    for (unsigned k = 1; k <= kMaxBlockHashes; ++k) {
      EXPECT_GE(1e6 / blocked_bloom_load(fpr, k) + 1, static_cast<double>(best.blocks)) << k;
    }
  }
}

TEST(Sizing, ExtremeArgumentsGiveShapesAndNoOverflow) {
  for (const double items : {0.0, 1.0, 1e18, 1e300}) {
    for (const double fpr : {1e-300, 1e-9, 0.999999}) {
      EXPECT_GE(bloom_shape(items, fpr).bits, 1u);
      EXPECT_LE(static_cast<double>(bloom_shape(items, fpr).bits), kMostBits);
      EXPECT_GE(blocked_bloom_shape(items, fpr).blocks, 1u);
      const auto cuckoo = cuckoo_shape(items, fpr);
      if (!cuckoo) continue;
      EXPECT_LE(cuckoo_slots(*cuckoo) * cuckoo->tag_bits, kMostBits * 1.01);
    }
  }
}

}  // namespace
}  // namespace nidus::filter

// SPDX-License-Identifier: Apache-2.0

// Chains: a bounded rate however long they grow, and erasing that never takes another key's copy.

#include <random>
#include <unordered_map>

#include <gtest/gtest.h>
#include <nidus/filter/scalable.hpp>

#include "keys.hpp"

namespace nidus::filter {
namespace {

using testing::fill;
using testing::image_of;

template <class F>
struct ScalableFilter : ::testing::Test {};
using Chains =
    ::testing::Types<ScalableBloomFilter, ScalableBlockedBloomFilter, ScalableCuckooFilter>;
TYPED_TEST_SUITE(ScalableFilter, Chains);

TYPED_TEST(ScalableFilter, TotalRateStaysBelowTheOneAskedForHoweverLongTheChain) {
  for (const unsigned growth : {1u, 2u, 4u}) {
    TypeParam chain(ScalableOptions{500, 0.02, growth, 4});
    const std::uint64_t items = growth == 1 ? 6'000 : 200'000;
    ASSERT_EQ(fill(chain, items), items);
    EXPECT_GE(chain.layers().size(), 5u);
    EXPECT_LE(chain.expected_fpr(), 0.02);
    // 400 000 probes at most .02: 8000 events, 1 % each.
    EXPECT_LE(testing::measured_fpr(chain, 400'000), 0.02 * 1.05) << growth;
    EXPECT_EQ(testing::count_maybe(chain, 0, items), items);
  }
}

TYPED_TEST(ScalableFilter, SaysFullOnlyBehindItsLastLayer) {
  TypeParam chain(ScalableOptions{4, 0.01, 1, 4});
  std::uint64_t i = 0;
  while (stored(chain.insert(i)) && i < 10'000) ++i;
  EXPECT_LT(i, 10'000u);
  EXPECT_GE(chain.layers().size(), 20u);
  const TypeParam before = chain;
  EXPECT_EQ(chain.insert(i), Insert::kFull);
  EXPECT_EQ(chain, before);
  EXPECT_LE(chain.expected_fpr(), 0.01);
}

TEST(ScalableCuckooFilter, EraseNeverTakesTheCopyOfAnotherKey) {
  // Rates near a half: almost every key has twins, in its own layer and in others.
  for (const unsigned growth : {1u, 2u, 4u}) {
    ScalableCuckooFilter chain(ScalableOptions{100, 0.6, growth, 4});
    std::unordered_map<std::uint64_t, int> model;
    std::mt19937_64 random(growth);
    std::uint64_t erased = 0;
    for (int i = 0; i < 60'000; ++i) {
      const std::uint64_t key = random() % 4000;
      const auto found = model.find(key);
      if (random() % 5 < 3) {
        if (chain.insert(key) == Insert::kAdded) ++model[key];
      } else if (found != model.end()) {
        ASSERT_TRUE(chain.erase(key));
        if (--found->second == 0) model.erase(found);
        ++erased;
      }
      if (i % 5000 == 0) {
        for (const auto& [key_of, n] : model) ASSERT_TRUE(chain.may_contain(key_of)) << i;
      }
    }
    EXPECT_GE(chain.layers().size(), 3u);
    EXPECT_GT(erased, 10'000u);
    for (const auto& [key, copies] : model) {
      for (int i = 0; i < copies; ++i) {
        ASSERT_TRUE(chain.may_contain(key));
        ASSERT_TRUE(chain.erase(key)) << key;
      }
    }
    EXPECT_EQ(chain.count(), 0u);
  }
}

TEST(ScalableCuckooFilter, PlacesThatErasingFreedAreUsedAgain) {
  ScalableCuckooFilter chain(ScalableOptions{1000, 0.01, 2, 4});
  fill(chain, 7000);
  const std::size_t layers = chain.layers().size();
  for (std::uint64_t round = 0; round < 20; ++round) {
    for (std::uint64_t i = 0; i < 3000; ++i) ASSERT_TRUE(chain.erase(round * 3000 + i));
    for (std::uint64_t i = 0; i < 3000; ++i) {
      ASSERT_EQ(chain.insert(7000 + round * 3000 + i), Insert::kAdded);
    }
  }
  EXPECT_EQ(chain.layers().size(), layers);
}

TEST(ScalableCuckooFilter, SameKeyIsStoredTwiceTheBucketSizeInAllLayersTogether) {
  ScalableCuckooFilter chain(ScalableOptions{100, 0.001, 2, 4});
  for (int i = 0; i < 3; ++i) ASSERT_EQ(chain.insert("twin"), Insert::kAdded);
  fill(chain, 1000);
  for (int i = 3; i < 8; ++i) ASSERT_EQ(chain.insert("twin"), Insert::kAdded);
  EXPECT_EQ(chain.insert("twin"), Insert::kTooManyCopies);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(chain.erase("twin"));
  EXPECT_FALSE(chain.may_contain("twin"));
}

TYPED_TEST(ScalableFilter, LoadedChainGrowsOnAsTheOriginal) {
  TypeParam chain(ScalableOptions{300, 0.01, 2, 4});
  fill(chain, 5000);
  auto loaded = TypeParam::load(image_of(chain));
  ASSERT_TRUE(loaded) << loaded.error().message;
  for (std::uint64_t i = 5000; i < 20'000; ++i) {
    ASSERT_EQ(loaded->insert(i), chain.insert(i));
  }
  EXPECT_EQ(*loaded, chain);
}

}  // namespace
}  // namespace nidus::filter

// SPDX-License-Identifier: Apache-2.0

// Scores: Redis' arithmetic of LRU clocks and LFU counters.

#include "engine/score.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>

#include <gtest/gtest.h>

namespace nidus::engine {
namespace {

constexpr Millis kNow = 1'700'000'000'000;
constexpr Millis kMinute = 60'000;

struct ItemDeleter {
  void operator()(Item* item) const { Item::destroy(item); }
};
using OwnedItem = std::unique_ptr<Item, ItemDeleter>;

OwnedItem item_with(std::uint32_t access, Millis expires_at = kNoExpiry) {
  return OwnedItem(Item::create("key", 0, expires_at, access));
}

TEST(Policy, NidusAndRedisNamesAreAccepted) {
  EXPECT_EQ(parse_policy("noeviction"), Policy::kNoEviction);
  EXPECT_EQ(parse_policy("lru"), Policy::kAllKeysLru);
  EXPECT_EQ(parse_policy("allkeys-lru"), Policy::kAllKeysLru);
  EXPECT_EQ(parse_policy("lfu"), Policy::kAllKeysLfu);
  EXPECT_EQ(parse_policy("random"), Policy::kAllKeysRandom);
  EXPECT_EQ(parse_policy("ttl"), Policy::kVolatileTtl);
  EXPECT_EQ(parse_policy("volatile-ttl"), Policy::kVolatileTtl);
  EXPECT_EQ(parse_policy("volatile-lfu"), Policy::kVolatileLfu);
  EXPECT_EQ(parse_policy("LRU!"), std::nullopt);
  EXPECT_EQ(parse_policy(""), std::nullopt);
}

TEST(Policy, NamesRoundTrip) {
  for (int i = 0; i <= static_cast<int>(Policy::kVolatileTtl); ++i) {
    const auto policy = static_cast<Policy>(i);
    EXPECT_EQ(parse_policy(policy_name(policy)), policy);
  }
}

TEST(Lru, IdleTimeIsMeasuredIn128Milliseconds) {
  const std::uint32_t access = initial_access(Policy::kAllKeysLru, kNow);
  EXPECT_EQ(idle_ms(access, kNow), 0);
  EXPECT_NEAR(static_cast<double>(idle_ms(access, kNow + 10'000)), 10'000, 128);
  const std::uint32_t later = touched_access(Policy::kAllKeysLru, access, kNow + 10'000, 0);
  EXPECT_EQ(idle_ms(later, kNow + 10'000), 0);
}

TEST(Lru, TheClockWrapsWithoutMakingAKeyYoung) {
  const Millis wrap = Millis{1} << 31;  // 2^24 units of 128 ms
  const std::uint32_t access = initial_access(Policy::kAllKeysLru, wrap - 256);
  EXPECT_NEAR(static_cast<double>(idle_ms(access, wrap + 256)), 512, 128);
}

TEST(Lru, TheLongerIdleKeyScoresLower) {
  const auto old_one = item_with(initial_access(Policy::kAllKeysLru, kNow - 5'000));
  const auto new_one = item_with(initial_access(Policy::kAllKeysLru, kNow - 1'000));
  EXPECT_LT(score(Policy::kAllKeysLru, *old_one, kNow, 0),
            score(Policy::kAllKeysLru, *new_one, kNow, 0));
}

TEST(Lfu, ANewKeyStartsAtFive) {
  EXPECT_EQ(frequency(initial_access(Policy::kAllKeysLfu, kNow), kNow), 5);
}

TEST(Lfu, AMinuteWithoutUseTakesOneAway) {
  const std::uint32_t access = initial_access(Policy::kAllKeysLfu, kNow);
  EXPECT_EQ(frequency(access, kNow + kMinute), 4);
  EXPECT_EQ(frequency(access, kNow + 5 * kMinute), 0);
  EXPECT_EQ(frequency(access, kNow + 500 * kMinute), 0);
}

TEST(Lfu, TheMinuteCounterWraps) {
  const Millis wrap = 65'536 * kMinute;
  const std::uint32_t access = initial_access(Policy::kAllKeysLfu, wrap - kMinute);
  EXPECT_EQ(frequency(access, wrap + kMinute), 3);
}

TEST(Lfu, AnIncrementHasProbabilityOneInTenTimesTheExcessPlusOne) {
  // Each counter value apart: draws are uniform, so the count of increments is binomial; the bound
  // is 6 standard deviations.
  std::mt19937_64 random(5);
  for (std::uint32_t counter : {0u, 4u, 5u, 6u, 10u, 50u, 254u}) {
    const std::uint32_t access = initial_access(Policy::kAllKeysLfu, kNow) - 5 + counter;
    ASSERT_EQ(frequency(access, kNow), counter);
    const int draws = 200'000;
    int increments = 0;
    for (int i = 0; i < draws; ++i) {
      const auto after = touched_access(Policy::kAllKeysLfu, access, kNow, random());
      increments += frequency(after, kNow) == counter + 1 ? 1 : 0;
    }
    const double p = counter <= 5 ? 1.0 : 1.0 / ((counter - 5) * 10.0 + 1);
    EXPECT_NEAR(increments, draws * p, 6 * std::sqrt(draws * p * (1 - p)) + 0.5) << counter;
  }
}

TEST(Lfu, TheCounterSaturatesAt255) {
  const std::uint32_t access = initial_access(Policy::kAllKeysLfu, kNow) - 5 + 255;
  EXPECT_EQ(frequency(touched_access(Policy::kAllKeysLfu, access, kNow, 0), kNow), 255);
}

TEST(Score, TheSoonestExpiryScoresLowest) {
  const auto soon = item_with(0, kNow + 1), late = item_with(0, kNow + 2);
  EXPECT_LT(score(Policy::kVolatileTtl, *soon, kNow, 0),
            score(Policy::kVolatileTtl, *late, kNow, 0));
}

TEST(Score, VolatilePoliciesSpareKeysWithoutExpiry) {
  const auto forever = item_with(0), expiring = item_with(0, kNow + 1000);
  for (Policy policy : {Policy::kVolatileLru, Policy::kVolatileLfu, Policy::kVolatileRandom,
                        Policy::kVolatileTtl}) {
    EXPECT_EQ(score(policy, *forever, kNow, 1), std::nullopt);
    EXPECT_NE(score(policy, *expiring, kNow, 1), std::nullopt);
  }
  for (Policy policy : {Policy::kAllKeysLru, Policy::kAllKeysLfu, Policy::kAllKeysRandom}) {
    EXPECT_NE(score(policy, *forever, kNow, 1), std::nullopt);
  }
  EXPECT_EQ(score(Policy::kNoEviction, *expiring, kNow, 1), std::nullopt);
}

}  // namespace
}  // namespace nidus::engine

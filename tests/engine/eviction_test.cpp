// SPDX-License-Identifier: Apache-2.0

// The memory limit: a flood of three times the limit stays within it, and the right keys leave.

#include <algorithm>
#include <string>

#include "keyspace_rig.hpp"

#include <gtest/gtest.h>

namespace nidus::engine {
namespace {

constexpr std::size_t kLimit = 8 << 20;
constexpr std::size_t kValue = 100;
constexpr std::uint64_t kFlood = 3 * kLimit / (kValue + 16);

bool write(KeyspaceRig& rig, const std::string& key, Millis expires_at = kNoExpiry) {
  const KeyRef ref = rig.keyspace.key(key);
  if (!rig.keyspace.make_room(rig.database(), ref.hash, rig.now)) return false;
  return rig.database().lock(ref, rig.now).set(std::string(kValue, 'v'), expires_at) ==
         WriteStatus::kOk;
}

std::size_t used(KeyspaceRig& rig) { return rig.keyspace.memory().live_bytes() + retired_bytes(); }

class EvictionFlood : public testing::TestWithParam<Policy> {};

TEST_P(EvictionFlood, StaysUnderOnePointZeroTwoOfTheLimit) {
  KeyspaceRig rig({.memory_limit_bytes = kLimit, .policy = GetParam()});
  const std::size_t others = retired_bytes();
  std::size_t most = 0;
  for (std::uint64_t n = 0; n < kFlood; ++n) {
    ASSERT_TRUE(write(rig, key_of(n), rig.now + 100'000 + static_cast<Millis>(n)));
    most = std::max(most, used(rig) - std::min(others, used(rig)));
    if (n % 32 == 0) {
      ThreadScope::quiescent();
      ++rig.now;
    }
  }
  EXPECT_LE(most, kLimit + kLimit / 50);
  EXPECT_GE(used(rig), kLimit - kLimit / 10) << "the limit is used";
  EXPECT_EQ(rig.database().size() + rig.keyspace.stats().evicted, kFlood);
  EXPECT_EQ(rig.get(key_of(kFlood - 1)), std::string(kValue, 'v')) << "the last key is there";
}

TEST_P(EvictionFlood, ALoweredLimitIsReachedByMaintenance) {
  KeyspaceRig rig({.memory_limit_bytes = kLimit, .policy = GetParam()});
  for (std::uint64_t n = 0; n < 50'000; ++n) ASSERT_TRUE(write(rig, key_of(n), rig.now + 100'000));
  rig.keyspace.set_memory_limit(kLimit / 4);
  rig.settle();
  EXPECT_LE(rig.keyspace.memory().live_bytes(), kLimit / 4 + kLimit / 200);
}

INSTANTIATE_TEST_SUITE_P(Policies, EvictionFlood,
                         testing::Values(Policy::kAllKeysLru, Policy::kAllKeysLfu,
                                         Policy::kAllKeysRandom, Policy::kVolatileLru,
                                         Policy::kVolatileLfu, Policy::kVolatileRandom,
                                         Policy::kVolatileTtl),
                         [](const auto& kind) {
                           std::string name(policy_name(kind.param));
                           std::erase(name, '-');
                           return name;
                         });

TEST(Eviction, LargeValuesKeepTheLimitToo) {
  KeyspaceRig rig({.memory_limit_bytes = kLimit, .policy = Policy::kAllKeysLru});
  std::size_t most = 0;
  for (std::uint64_t n = 0; n < 200; ++n) {
    const std::string key = key_of(n), value(100'000 + n * 4'000, 'v');
    const KeyRef ref = rig.keyspace.key(key);
    ASSERT_TRUE(rig.keyspace.make_room(rig.database(), ref.hash, rig.now, value.size()));
    ASSERT_EQ(rig.database().lock(ref, rig.now).set(value, kNoExpiry), WriteStatus::kOk);
    ThreadScope::quiescent();
    most = std::max(most, rig.keyspace.memory().live_bytes());
  }
  EXPECT_LE(most, kLimit + kLimit / 50);
  EXPECT_GE(most, kLimit / 2);
}

TEST(Eviction, NoEvictionRefusesAndKeepsEverything) {
  KeyspaceRig rig({.memory_limit_bytes = kLimit, .policy = Policy::kNoEviction});
  std::uint64_t stored = 0;
  while (write(rig, key_of(stored))) ASSERT_LT(++stored, kFlood);
  EXPECT_GT(stored, kFlood / 4);
  EXPECT_FALSE(write(rig, "one more"));
  EXPECT_GE(rig.keyspace.stats().out_of_memory, 1u);
  EXPECT_EQ(rig.keyspace.stats().evicted, 0u);
  EXPECT_EQ(rig.database().size(), stored);
  for (std::uint64_t n = 0; n < stored; ++n) ASSERT_NE(rig.get(key_of(n)), std::nullopt);
  for (std::uint64_t n = 0; n < 1'000; ++n) rig.erase(key_of(n));
  EXPECT_TRUE(write(rig, "one more")) << "room was made";
}

TEST(Eviction, AVolatilePolicyWithoutVolatileKeysRefuses) {
  KeyspaceRig rig({.memory_limit_bytes = kLimit, .policy = Policy::kVolatileLru});
  std::uint64_t stored = 0;
  while (write(rig, key_of(stored))) ASSERT_LT(++stored, kFlood);
  EXPECT_EQ(rig.keyspace.stats().evicted, 0u);
  EXPECT_EQ(rig.database().size(), stored);
}

TEST(Eviction, AVolatilePolicySparesEveryKeyWithoutExpiry) {
  KeyspaceRig rig({.memory_limit_bytes = kLimit, .policy = Policy::kVolatileTtl});
  for (std::uint64_t n = 0; n < 5'000; ++n) ASSERT_TRUE(write(rig, "forever" + std::to_string(n)));
  for (std::uint64_t n = 0; n < kFlood; ++n) {
    ASSERT_TRUE(write(rig, key_of(n), rig.now + 100'000));
  }
  for (std::uint64_t n = 0; n < 5'000; ++n) {
    ASSERT_NE(rig.get("forever" + std::to_string(n)), std::nullopt);
  }
}

/// How many of 1 000 hot keys, read every 2 000 writes, survive a flood.
int hot_survivors(Policy policy) {
  KeyspaceRig rig({.memory_limit_bytes = kLimit, .policy = policy});
  for (std::uint64_t n = 0; n < 1'000; ++n) write(rig, "hot" + std::to_string(n));
  for (std::uint64_t n = 0; n < kFlood; ++n) {
    write(rig, key_of(n));
    if (n % 2'000 != 0) continue;
    rig.now += 1'000;
    ThreadScope::quiescent();
    for (std::uint64_t h = 0; h < 1'000; ++h) rig.get("hot" + std::to_string(h));
  }
  int alive = 0;
  for (std::uint64_t h = 0; h < 1'000; ++h) alive += rig.get("hot" + std::to_string(h)) ? 1 : 0;
  return alive;
}

TEST(Eviction, LruAndLfuKeepHotKeysAndRandomDoesNot) {
  EXPECT_GE(hot_survivors(Policy::kAllKeysLru), 950);
  EXPECT_GE(hot_survivors(Policy::kAllKeysLfu), 950);
  EXPECT_LE(hot_survivors(Policy::kAllKeysRandom), 500);
}

TEST(Eviction, TheSoonestExpiriesLeaveFirst) {
  KeyspaceRig rig({.memory_limit_bytes = kLimit, .policy = Policy::kVolatileTtl});
  // Later keys expire later: of the first half hardly any should be left, of the last nearly all.
  for (std::uint64_t n = 0; n < kFlood; ++n) {
    write(rig, key_of(n), rig.now + 1'000'000 + static_cast<Millis>(n));
  }
  std::uint64_t early = 0, late = 0;
  for (std::uint64_t n = 0; n < 10'000; ++n) early += rig.get(key_of(n)) ? 1 : 0;
  for (std::uint64_t n = kFlood - 10'000; n < kFlood; ++n) late += rig.get(key_of(n)) ? 1 : 0;
  EXPECT_LE(early, 500u);
  EXPECT_GE(late, 9'500u);
}

TEST(Eviction, ExpiredKeysLeaveBeforeLivingOnes) {
  KeyspaceRig rig({.memory_limit_bytes = kLimit, .policy = Policy::kAllKeysLru});
  for (std::uint64_t n = 0; n < 30'000; ++n) write(rig, "dead" + std::to_string(n), rig.now + 1);
  rig.now += 200;
  for (std::uint64_t n = 0; n < 50'000; ++n) write(rig, key_of(n));
  const KeyspaceStats stats = rig.keyspace.stats();
  EXPECT_GT(stats.expired, stats.evicted);
}

}  // namespace
}  // namespace nidus::engine

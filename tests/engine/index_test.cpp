// SPDX-License-Identifier: Apache-2.0

// The index against std::unordered_map, with every invariant after every operation; weak hashes.

#include "engine/index.hpp"

#include <random>
#include <set>
#include <string>
#include <vector>

#include "index_rig.hpp"

#include <gtest/gtest.h>

namespace nidus::engine {
namespace {

constexpr std::uint64_t kGood = ~std::uint64_t{0};
constexpr std::uint64_t kTopOnly = 0xFF00000000000000;  // one bucket, one tag
constexpr std::uint64_t kLowOnly = 0x0000000000FFFFFF;  // splitting parts nothing
constexpr std::uint64_t kFewTags = 0xFFFFFFFFFFFF0003;  // three tags
constexpr std::uint64_t kFewBits = 0x0000000000C30011;  // some dozens of hashes
constexpr std::uint64_t kConstant = 0;

struct Kind {
  const char* name;
  std::uint64_t mask;
};

class IndexProperty : public testing::TestWithParam<Kind> {};

std::string key_of(std::uint64_t n) { return "key:" + std::to_string(n); }

void run_operations(IndexRig& rig, std::mt19937_64& random, int operations, std::uint64_t universe,
                    bool check_all) {
  for (int i = 0; i < operations; ++i) {
    const std::string key = key_of(random() % universe);
    const bool present = rig.truth.contains(key);
    switch (random() % 16) {
      case 0:
        rig.index.shrink(rig.hash(key));
        break;
      case 1:
        rig.index.shrink_directory();
        break;
      case 2:
      case 3:
      case 4:
      case 5:
      case 6:
      case 7:
      case 8:
        if (!rig.put(key, random() % 4 == 0 ? static_cast<Millis>(random() % 1000) : kNoExpiry)) {
          ASSERT_FALSE(present) << "a present key can always be replaced";
        }
        break;
      case 9:
      case 10:
      case 11:
      case 12:
        ASSERT_EQ(rig.erase(key), present);
        break;
      default:
        ASSERT_EQ(rig.find(key) != nullptr, present);
    }
    if (check_all) {
      ASSERT_NO_FATAL_FAILURE(rig.check());
    } else if (i % 4 == 0) {
      ASSERT_NO_FATAL_FAILURE(rig.check_segment_of(key));
    }
  }
  ThreadScope::quiescent();
}

TEST_P(IndexProperty, SmallTablesKeepEveryInvariantAfterEachOperation) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (std::uint64_t universe : {20u, 200u}) {
    IndexRig rig(GetParam().mask);
    ASSERT_NO_FATAL_FAILURE(run_operations(rig, random, 2'000, universe, true));
  }
}

TEST_P(IndexProperty, LargeTablesEqualAnUnorderedMap) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  IndexRig rig(GetParam().mask);
  for (std::uint64_t universe : {30'000u, 300u, 20'000u}) {  // grow, shrink, grow
    for (int part = 0; part < 3; ++part) {
      ASSERT_NO_FATAL_FAILURE(run_operations(rig, random, 4'000, universe, false));
      ASSERT_NO_FATAL_FAILURE(rig.check());
    }
    if (universe == 30'000) {
      for (std::uint64_t n = 300; n < 30'000; ++n) rig.erase(key_of(n));
    }
  }
}

TEST_P(IndexProperty, AFloodEndsInAStatusAndBoundedMemory) {
  IndexRig rig(GetParam().mask);
  std::size_t refused = 0;
  constexpr std::uint64_t kKeys = 20'000;
  for (std::uint64_t n = 0; n < kKeys; ++n) {
    if (!rig.put(key_of(n))) ++refused;
    if (n % 500 == 0) {
      ThreadScope::quiescent();
      // 8 bytes a slot at 60 % and more, halves that come out unequal, and the directory.
      ASSERT_LE(rig.memory.index_bytes(), 16'384 + rig.truth.size() * 40) << n;
    }
  }
  EXPECT_EQ(rig.truth.size() + refused, kKeys);
  ASSERT_NO_FATAL_FAILURE(rig.check());
  if (GetParam().mask == kGood) {
    EXPECT_EQ(refused, 0u);
  }
  if (GetParam().mask == kConstant) {
    EXPECT_EQ(rig.truth.size(), 16u) << "two buckets of eight";
  }
}

INSTANTIATE_TEST_SUITE_P(Hashes, IndexProperty,
                         testing::Values(Kind{"Good", kGood}, Kind{"TopOnly", kTopOnly},
                                         Kind{"LowOnly", kLowOnly}, Kind{"FewTags", kFewTags},
                                         Kind{"FewBits", kFewBits}, Kind{"Constant", kConstant}),
                         [](const auto& kind) { return kind.param.name; });

TEST(Index, FindBatchEqualsFind) {
  IndexRig rig;
  for (std::uint64_t n = 0; n < 5'000; n += 2) rig.put(key_of(n));
  for (std::size_t size : {0u, 1u, 2u, 63u, 64u, 65u, 500u}) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < size; ++i) names.push_back(key_of(i * 7 % 5'000));
    std::vector<KeyRef> keys;
    for (const auto& name : names) keys.push_back({name, rig.hash(name)});
    std::vector<const Item*> out(size);
    rig.index.find_batch(keys, out);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(out[i], rig.find(names[i]));
  }
}

TEST(Index, ProbeSaysWhereAKeyStands) {
  IndexRig rig;
  for (std::uint64_t n = 0; n < 3'000; ++n) rig.put(key_of(n));
  int second = 0;
  for (std::uint64_t n = 0; n < 3'000; ++n) {
    const std::string key = key_of(n);
    const Probe probe = rig.index.probe(rig.hash(key), key);
    ASSERT_EQ(probe.item, rig.find(key));
    ASSERT_TRUE(probe.bucket == 1 || probe.bucket == 2);
    const auto matches = probe.bucket == 1 ? probe.matches1 : probe.matches2;
    ASSERT_TRUE(matches >> probe.slot & 1);
    second += probe.bucket == 2 ? 1 : 0;
  }
  EXPECT_GT(second, 0);
  const Probe absent = rig.index.probe(rig.hash("no"), "no");
  EXPECT_EQ(absent.bucket, 0);
  EXPECT_EQ(absent.item, nullptr);
}

TEST(Index, RandomItemReachesEveryKeyOfASmallTable) {
  IndexRig rig;
  EXPECT_EQ(rig.index.random_item(1), nullptr);
  for (std::uint64_t n = 0; n < 50; ++n) rig.put(key_of(n));
  std::mt19937_64 random(3);
  std::set<const Item*> seen;
  for (int i = 0; i < 20'000; ++i) seen.insert(rig.index.random_item(random()));
  EXPECT_EQ(seen.size(), 50u);
  EXPECT_FALSE(seen.contains(nullptr));
}

TEST(Index, RandomItemFindsTheLastKeyOfALargeTable) {
  IndexRig rig;
  for (std::uint64_t n = 0; n < 20'000; ++n) rig.put(key_of(n));
  for (std::uint64_t n = 1; n < 20'000; ++n) rig.erase(key_of(n));
  for (std::uint64_t n = 0; n < 100; ++n) {
    EXPECT_EQ(rig.index.random_item(n * 0x9E3779B97F4A7C15ull), rig.find(key_of(0)));
  }
}

TEST(Index, DetachingLeavesAnEmptyIndexThatWorks) {
  IndexRig rig;
  for (std::uint64_t n = 0; n < 10'000; ++n) rig.put(key_of(n));
  std::vector<Segment*> segments;
  {
    const std::array<Index*, 1> whole{&rig.index};
    const Index::LockSet locks(whole);
    segments = rig.index.detach_all();
  }
  for (Segment* segment : segments) Segment::destroy(segment);
  for (auto& [key, item] : rig.truth) Item::destroy(item);
  rig.truth.clear();
  ASSERT_NO_FATAL_FAILURE(rig.check());
  EXPECT_LE(rig.memory.index_bytes(), 1'024u);
  for (std::uint64_t n = 0; n < 10'000; ++n) ASSERT_TRUE(rig.put(key_of(n)));
  ASSERT_NO_FATAL_FAILURE(rig.check());
}

}  // namespace
}  // namespace nidus::engine

// SPDX-License-Identifier: Apache-2.0

// ConcurrentMap on one thread: every variant equals std::unordered_map; its words; its memory.

#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "concurrent_map_variants.hpp"

namespace nidus::map {
namespace {

template <class M>
class ConcurrentMapContract : public testing::Test {};

using Variants = testing::Types<
    ConcurrentMap<std::uint64_t, std::uint64_t>, ConcurrentMap<std::uint32_t, Wide, FourSlots>,
    ConcurrentMap<std::uint64_t, std::uint64_t, Tagged<MapPolicy>>,
    ConcurrentMap<std::uint64_t, Wide, Tagged<FourSlots>>,
    ConcurrentMap<std::uint64_t, std::uint64_t, Scalar<WalkPolicy>>,
    ConcurrentMap<std::uint64_t, std::uint32_t, SecondHashPolicy>,
    ConcurrentMap<std::uint64_t, std::string>, ConcurrentMap<std::string, std::string>,
    ConcurrentMap<std::string, std::uint64_t, SecondHashPolicy>>;
TYPED_TEST_SUITE(ConcurrentMapContract, Variants);

TYPED_TEST(ConcurrentMapContract, RandomOperationsEqualThoseOfUnorderedMap) {
  using Key = typename TypeParam::key_type;
  using Value = typename TypeParam::mapped_type;
  const std::uint64_t seed_used = seed();
  SCOPED_TRACE(seed_used);
  std::mt19937_64 random(seed_used);
  TypeParam map;
  std::unordered_map<Key, Value> model;
  for (int step = 0; step < 60'000; ++step) {
    const Key key = make_key<Key>(random() % 6'000);
    const Value value = make_value<Value>(random() % 1'000);
    const bool here = model.contains(key);
    switch (random() % 10) {
      case 0:
      case 1:
      case 2:
        ASSERT_EQ(map.insert(key, value), model.emplace(key, value).second);
        break;
      case 3:
        ASSERT_EQ(map.insert_or_assign(key, value), !here);
        model[key] = value;
        break;
      case 4:
        ASSERT_EQ(map.upsert(
                      key, [&](Value& old) { old = value; }, value),
                  !here);
        model[key] = value;
        break;
      case 5:
        ASSERT_EQ(map.update(key, value), here);
        if (here) model[key] = value;
        break;
      case 6:
      case 7:
        ASSERT_EQ(map.erase(key), model.erase(key) == 1);
        break;
      case 8:
        ASSERT_EQ(map.contains(key), here);
        break;
      default:
        ASSERT_EQ(map.find(key), here ? std::optional<Value>(model.at(key)) : std::nullopt);
    }
    ASSERT_EQ(step % 1000 == 0 ? map.size() : model.size(), model.size());
  }
  std::size_t seen = 0;
  map.cfor_each([&](const Key& key, const Value& value) {
    ++seen;
    ASSERT_TRUE(model.contains(key));
    ASSERT_EQ(model.at(key), value);
  });
  EXPECT_EQ(seen, model.size());
}

TYPED_TEST(ConcurrentMapContract, BatchesOfEverySizeEqualSingleLookUps) {
  using Key = typename TypeParam::key_type;
  using Value = typename TypeParam::mapped_type;
  TypeParam map;
  for (std::uint64_t n = 0; n < 4'000; n += 2) map.insert(make_key<Key>(n), make_value<Value>(n));
  for (const std::size_t n : {0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000}) {
    std::vector<Key> keys;
    for (std::size_t i = 0; i < n; ++i) keys.push_back(make_key<Key>(i * 7 % 5'000));
    std::vector<std::optional<Value>> out(n, make_value<Value>(1));
    std::size_t here = 0;
    const std::size_t hits = map.find_batch(keys, out);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(out[i], map.find(keys[i]));
      here += out[i].has_value();
    }
    EXPECT_EQ(hits, here);
  }
}

TYPED_TEST(ConcurrentMapContract, AMapThatIsFilledAndClearedKeepsItsMemory) {
  using Key = typename TypeParam::key_type;
  using Value = typename TypeParam::mapped_type;
  TypeParam map;
  std::size_t bytes = 0;
  for (int round = 0; round < 12; ++round) {
    for (std::uint64_t n = 0; n < 2'000; ++n) map.insert(make_key<Key>(n), make_value<Value>(n));
    ASSERT_EQ(map.size(), 2'000u);
    map.clear();
    ASSERT_TRUE(map.empty());
    map.reserve(2'000);
    if (round < 2) bytes = map.memory_usage();
    ASSERT_EQ(map.memory_usage(), bytes);
  }
}

TEST(ConcurrentMap, AnEmptyMapIsUnderOneKibibyte) {
  EXPECT_LT((ConcurrentMap<std::uint64_t, std::uint64_t>().memory_usage()), 1024u);
  EXPECT_LT((ConcurrentMap<std::string, std::string>().memory_usage()), 1024u);
}

TEST(ConcurrentMap, StripesFollowItsCapacity) {
  ConcurrentMap<std::uint64_t, std::uint64_t> map;
  EXPECT_EQ(map.stripes(), 1u);
  map.reserve(1'000'000);
  EXPECT_GE(map.capacity(), 1'000'000u);
  EXPECT_GE(map.stripes(), 1'000'000u / 8192);
  const std::size_t bytes = map.memory_usage();
  for (std::uint64_t key = 0; key < 1'000'000; ++key) map.insert(key, key);
  EXPECT_EQ(map.memory_usage(), bytes) << "reserved means that it does not grow";
  EXPECT_LT(bytes, map.capacity() * 16 * 5 / 4 + (8u << 20));
}

TEST(ConcurrentMap, ReplacedBlocksServeTheNextOnes) {
  ConcurrentMap<std::uint64_t, std::uint64_t> map;
  for (std::uint64_t key = 0; key < 500'000; ++key) map.insert(key, key);
  EXPECT_LT(map.memory_usage(), map.capacity() * 16 * 5 / 4 + (8u << 20));
}

TEST(ConcurrentMap, EveryWordIsAnswered) {
  ConcurrentMap<std::string, int> map;
  EXPECT_TRUE(map.try_emplace("one", 1));
  EXPECT_FALSE(map.try_emplace(std::string("one"), 7));
  EXPECT_TRUE(map.try_emplace_with("two", [] { return 2; }));
  EXPECT_FALSE(map.insert_or_visit("two", 9, [](int& value) { value += 20; }));
  EXPECT_EQ(map.find(std::string_view("two")), 22);
  EXPECT_TRUE(map.visit("one", [](int& value) { ++value; }));
  int seen = 0;
  EXPECT_TRUE(map.cvisit(std::string_view("one"), [&](const int& value) { seen = value; }));
  EXPECT_EQ(seen, 2);
  EXPECT_FALSE(map.erase_if("one", [](int value) { return value > 5; }));
  EXPECT_TRUE(map.erase_if("one", [](int value) { return value < 5; }));
  EXPECT_FALSE(map.contains("one"));
  EXPECT_FALSE(map.visit("one", [](int&) { FAIL(); }));
  map.for_each([](const std::string&, int& value) { value = 5; });
  EXPECT_EQ(map.find("two"), 5);
  EXPECT_EQ(map.erase_if([](const std::string& key, int value) { return key == "two" && value; }),
            1u);
  EXPECT_TRUE(map.empty());
}

TEST(ConcurrentMap, KeysWithOneHashEndInALengthErrorWithBoundedMemory) {
  ConcurrentMap<std::uint64_t, std::uint64_t, ConstantFour> map;
  for (std::uint64_t key = 0; key < 8; ++key) EXPECT_TRUE(map.insert(key, key));
  for (int again = 0; again < 20; ++again) {
    EXPECT_THROW(map.insert(8, 8), std::length_error);
  }
  EXPECT_EQ(map.size(), 8u);
  for (std::uint64_t key = 0; key < 8; ++key) EXPECT_EQ(map.find(key), key);
  EXPECT_LT(map.memory_usage(), 1u << 20);
}

TEST(ConcurrentMap, ACallbackThatThrowsLeavesTheElementAndTheStripe) {
  ConcurrentMap<std::uint64_t, std::uint64_t> map;
  map.insert(1, 1);
  EXPECT_THROW(map.visit(1,
                         [](std::uint64_t& value) {
                           value = 2;
                           throw 0;
                         }),
               int);
  EXPECT_THROW(map.try_emplace_with(2, []() -> std::uint64_t { throw 0; }), int);
  EXPECT_EQ(map.find(1), 1u);
  EXPECT_FALSE(map.contains(2));
  EXPECT_TRUE(map.insert(2, 2));
}

TEST(ConcurrentMap, KeysAndValuesThatOnlyMoveAreTaken) {
  ConcurrentMap<std::uint64_t, std::unique_ptr<int>> map;
  for (std::uint64_t key = 0; key < 3'000; ++key) {
    EXPECT_TRUE(map.insert(key, std::make_unique<int>(static_cast<int>(key))));
  }
  for (std::uint64_t key = 0; key < 3'000; ++key) {
    EXPECT_TRUE(map.visit(key, [key](auto& value) { EXPECT_EQ(*value, static_cast<int>(key)); }));
  }
}

TEST(ConcurrentMap, AMemoryResourceGetsBackWhatItGave) {
  std::pmr::synchronized_pool_resource pool;
  ConcurrentMap<std::pmr::string, std::pmr::string, PmrTextPolicy> map(&pool);
  for (int n = 0; n < 2'000; ++n) {
    map.try_emplace(std::pmr::string(make_key<std::string>(n * 3ull)),
                    "a value that is not short at all");
  }
  map.for_each([&](const std::pmr::string&, std::pmr::string& value) {
    EXPECT_EQ(value.get_allocator().resource(), &pool);
  });
}

#ifndef NDEBUG
TEST(ConcurrentMapDeathTest, ACallbackThatCallsItsMapIsCaught) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  ConcurrentMap<std::uint64_t, std::uint64_t> map;
  ConcurrentMap<std::uint64_t, std::uint64_t> other;
  map.insert(1, 1);
  EXPECT_DEATH(map.visit(1, [&](std::uint64_t&) { map.contains(2); }), "may not call the map");
  EXPECT_TRUE(map.visit(1, [&](std::uint64_t& value) { other.insert(1, value); }));
}
#endif

}  // namespace
}  // namespace nidus::map

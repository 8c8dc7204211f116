// SPDX-License-Identifier: Apache-2.0

// Random operations on every variant of CuckooMap equal std::unordered_map, and its invariants hold;
// one log replayed on all of them gives the same contents.

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cuckoo_map_variants.hpp"

namespace nidus::map {
namespace {

using U64 = std::uint64_t;

template <class Map>
class CuckooMapProperty : public testing::Test {};
using Variants = testing::Types<
    CuckooMap<U64, U64>, CuckooMap<U64, U64, FourSlots>, CuckooMap<U64, U64, Scalar<MapPolicy>>,
    CuckooMap<std::int32_t, std::string, WalkPolicy>, CuckooMap<U64, U64, SecondHashPolicy>,
    CuckooMap<U64, std::uint32_t, Tagged<FourSlots>>, CuckooMap<std::string, U64>,
    CuckooMap<std::string, std::string, FourSlots>, CuckooMap<std::string, U64, PmrPolicy>>;
TYPED_TEST_SUITE(CuckooMapProperty, Variants);

template <class Map, class Oracle>
void expect_equal(const Map& map, const Oracle& oracle) {
  ASSERT_TRUE(map.table().consistent());
  ASSERT_EQ(map.size(), oracle.size());
  std::size_t seen = 0;
  for (const auto& [key, value] : map) {
    const auto at = oracle.find(key);
    ASSERT_NE(at, oracle.end());
    ASSERT_EQ(at->second, value);
    ++seen;
  }
  ASSERT_EQ(seen, oracle.size());
}

TYPED_TEST(CuckooMapProperty, RandomOperationsEqualUnorderedMap) {
  using Key = typename TypeParam::key_type;
  using Value = typename TypeParam::mapped_type;
  const std::uint64_t start = seed();
  SCOPED_TRACE(testing::Message() << "seed " << start);
  std::mt19937_64 random(start);
  TypeParam map;
  std::unordered_map<Key, Value> oracle;
  for (int step = 0; step < 60'000; ++step) {
    const std::uint64_t range = (step / 10'000) % 2 == 0 ? 3000 : 300;  // grows, then shrinks
    const Key key = make_key<Key>(random() % range);
    const Value value = make_key<Value>(static_cast<std::uint64_t>(step));
    switch (random() % 8) {
      case 0:
      case 1:
        ASSERT_EQ(map.try_emplace(key, value).second, oracle.try_emplace(key, value).second);
        break;
      case 2: {
        const auto [at, is_new] = map.insert_or_assign(key, value);
        ASSERT_EQ(is_new, oracle.insert_or_assign(key, value).second);
        ASSERT_EQ(at->second, value);
        break;
      }
      case 3:
      case 4:
        ASSERT_EQ(map.erase(key), oracle.erase(key));
        break;
      case 5:
        map[key] = oracle[key] = value;
        break;
      case 6:
        if (random() % 2000 == 0) map.shrink_to_fit();
        if (random() % 2000 == 0) map.reserve(map.size() * 3);
        if (random() % 20'000 == 0) {
          map.clear();
          oracle.clear();
        }
        break;
      default: {
        const auto found = map.find(key);
        const auto expected = oracle.find(key);
        ASSERT_EQ(found == map.end(), expected == oracle.end());
        if (expected != oracle.end()) {
          ASSERT_EQ(found->second, expected->second);
        }
      }
    }
    if (step % 2500 == 0) expect_equal(map, oracle);
  }
  expect_equal(map, oracle);
}

TYPED_TEST(CuckooMapProperty, OneLogGivesTheSameContentsOnEveryVariant) {
  using Key = typename TypeParam::key_type;
  using Value = typename TypeParam::mapped_type;
  std::mt19937_64 random(20260101);  // the same log for all: each variant equals the oracle
  TypeParam map;
  std::map<Key, Value> oracle;
  constexpr int kSteps = std::is_same_v<Key, U64> ? 1'000'000 : 200'000;
  for (int step = 0; step < kSteps; ++step) {
    const std::uint64_t draw = random();
    const Key key = make_key<Key>(draw % 2000);
    const Value value = make_key<Value>(draw >> 32);
    if ((draw >> 20 & 3) == 0) {
      map.erase(key);
      oracle.erase(key);
    } else {
      map.insert_or_assign(key, value);
      oracle.insert_or_assign(key, value);
    }
  }
  expect_equal(map, oracle);
}

TYPED_TEST(CuckooMapProperty, SameAtEverySizeNearAGrowthPoint) {
  using Key = typename TypeParam::key_type;
  TypeParam grown;
  std::uint64_t next = 0;
  for (int point = 0; point < 5; ++point) {
    const std::size_t before = grown.capacity();
    while (grown.capacity() == before) {
      grown.try_emplace(make_key<Key>(next), make_key<typename TypeParam::mapped_type>(next));
      ++next;
    }
    const std::uint64_t from = next > 8 ? next - 8 : 0;
    for (std::uint64_t n = from; n < next + 8; ++n) {
      TypeParam map;
      std::unordered_map<Key, typename TypeParam::mapped_type> oracle;
      for (std::uint64_t i = 0; i < n; ++i) {
        const auto value = make_key<typename TypeParam::mapped_type>(i * 7);
        map.emplace(make_key<Key>(i), value);
        oracle.emplace(make_key<Key>(i), value);
      }
      TypeParam copy(map);
      expect_equal(copy, oracle);
      TypeParam moved(std::move(copy));
      expect_equal(moved, oracle);
      ASSERT_TRUE(copy.empty() && copy.begin() == copy.end());  // a moved-from map is empty
      TypeParam again;  // written out and read in again, in the order of iteration
      for (const auto& [key, value] : moved) again.try_emplace(key, value);
      expect_equal(again, oracle);
      ASSERT_TRUE(again == map);
      moved.clear();
      ASSERT_EQ(moved.size(), 0u);
      ASSERT_FALSE(moved.contains(make_key<Key>(0)));
    }
  }
}

TYPED_TEST(CuckooMapProperty, BatchesEqualSingleLookUps) {
  using Key = typename TypeParam::key_type;
  using Value = typename TypeParam::mapped_type;
  constexpr std::size_t kKeys = 20'000;
  std::vector<std::pair<Key, Value>> entries;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    entries.emplace_back(make_key<Key>(i % (kKeys - 100)), make_key<Value>(i));
  }
  TypeParam map;
  ASSERT_EQ(map.insert_batch(entries), kKeys - 100);
  ASSERT_EQ(map.insert_batch(entries), 0u);
  ASSERT_TRUE(map.table().consistent());
  std::mt19937_64 random(5);
  for (const std::size_t n : {0, 1, 31, 32, 33, 63, 64, 65, 1000, 100'000}) {
    std::vector<Key> keys;
    for (std::size_t i = 0; i < n; ++i) keys.push_back(make_key<Key>(random() % (2 * kKeys)));
    std::vector<Value*> found(n);
    std::vector<const Value*> found_const(n);
    const auto here = std::make_unique<bool[]>(n + 1);
    const std::size_t hits = map.find_batch(std::span<const Key>(keys), std::span(found));
    ASSERT_EQ(hits, std::as_const(map).find_batch(keys, std::span(found_const)));
    ASSERT_EQ(hits, map.contains_batch(keys, std::span(here.get(), n)));
    std::size_t expected_hits = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = map.find(keys[i]);
      const Value* expected = at == map.end() ? nullptr : &at->second;
      ASSERT_EQ(found[i], expected);
      ASSERT_EQ(found_const[i], expected);
      ASSERT_EQ(here[i], expected != nullptr);
      expected_hits += expected != nullptr;
    }
    ASSERT_EQ(hits, expected_hits);
  }
}

}  // namespace
}  // namespace nidus::map

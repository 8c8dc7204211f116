// SPDX-License-Identifier: Apache-2.0

// The vocabulary of CuckooMap, and the faults that have bitten dictionaries in use.

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <memory_resource>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cuckoo_map_variants.hpp"

namespace nidus::map {
namespace {

using U64 = std::uint64_t;
using Numbers = CuckooMap<U64, U64>;
static_assert(std::forward_iterator<Numbers::iterator>);
static_assert(std::forward_iterator<Numbers::const_iterator>);
static_assert(std::is_convertible_v<Numbers::iterator, Numbers::const_iterator>);
static_assert(!std::is_convertible_v<Numbers::const_iterator, Numbers::iterator>);
static_assert(sizeof(PackedBucket<U64, U64, FourSlots>) == 64, "four slots are one line");
static_assert(sizeof(PackedBucket<U64, U64, MapPolicy>) == 128, "eight slots are two lines");

TEST(CuckooMap, SpeaksTheStandardVocabulary) {
  CuckooMap<std::string, int> map{{"one", 1}, {"two", 2}};
  EXPECT_FALSE(map.insert({"one", 7}).second);
  EXPECT_TRUE(map.emplace("three", 3).second);
  EXPECT_FALSE(map.try_emplace("three", 9).second);
  EXPECT_FALSE(map.insert_or_assign("two", 22).second);
  map["four"] += 4;
  ++map["four"];
  EXPECT_EQ(map.at("two"), 22);
  EXPECT_EQ(map["four"], 5);
  EXPECT_THROW(map.at("five"), std::out_of_range);
  EXPECT_EQ(map.count("one"), 1u);
  EXPECT_EQ(map.erase("one"), 1u);
  EXPECT_EQ(map.erase("one"), 0u);
  EXPECT_EQ(map.find("one"), map.end());
  EXPECT_EQ(erase_if(map, [](const auto& entry) { return entry.second == 22; }), 1u);
  EXPECT_EQ(map, (CuckooMap<std::string, int>{{"four", 5}, {"three", 3}}));
  CuckooMap<std::string, int> other;
  swap(map, other);
  EXPECT_TRUE(map.empty());
  other.clear();
  EXPECT_EQ(other.begin(), other.end());
}

TEST(CuckooMap, FindsStringsByViewAndLiteralWithoutMakingOne) {
  CuckooMap<std::string, int> map{{"key", 1}};
  EXPECT_TRUE(map.contains(std::string_view("key")));
  EXPECT_EQ(map.find("key")->second, 1);
  EXPECT_EQ(map.erase(std::string_view("key")), 1u);
}

TEST(CuckooMap, EveryNumberIsALegalKey) {
  Numbers numbers;
  CuckooMap<std::int8_t, int> small;
  std::set<U64> edges;
  for (int bit = 0; bit < 64; ++bit) {
    for (int d = -1; d <= 1; ++d) edges.insert((U64{1} << bit) + static_cast<U64>(d));
  }
  edges.insert({0, ~U64{0}, unmix(0), unmix(1 << 16), unmix(~U64{0})});
  for (const U64 key : edges) EXPECT_TRUE(numbers.try_emplace(key, ~key).second);
  for (int key = -128; key < 128; ++key) small[static_cast<std::int8_t>(key)] = key;
  std::set<U64> seen;
  for (const auto [key, value] : numbers) {
    EXPECT_EQ(value, ~key);
    seen.insert(key);
  }
  EXPECT_EQ(seen, edges);
  EXPECT_EQ(small.size(), 256u);
  for (const auto [key, value] : small) EXPECT_EQ(key, value);
  for (const U64 key : edges) EXPECT_EQ(numbers.erase(key), 1u);
  EXPECT_FALSE(numbers.contains(0));
}

TEST(CuckooMap, IndexArithmeticHoldsAt2To31And32And33Buckets) {
  PackedBucket<U64, U64, FourSlots> bucket;
  for (const unsigned bits : {31u, 32u, 33u, 40u}) {
    const U64 mask = (U64{1} << bits) - 1;
    for (U64 key = 1; key < 1000; ++key) {
      const U64 hash = mix(key * 0x123456789ABCDEFull);
      const U64 home = Geometry::bucket(hash, mask);
      ASSERT_LE(home, mask);
      const U64 away = Geometry::alternate(home, Geometry::tag(hash), mask);
      bucket.reset();
      bucket.occupy(1, hash, mask, false);
      bucket.occupy(3, hash, mask, true);
      ASSERT_EQ(bucket.find({}, 0, hash, mask, false), 1);
      ASSERT_EQ(bucket.find({}, 0, hash, mask, true), 3);
      ASSERT_EQ(mix(bucket.key(1, home, mask)), hash);
      ASSERT_EQ(mix(bucket.key(3, away, mask)), hash);
    }
    ASSERT_EQ(Numbers().table().buckets_for((U64{1} << bits) * 4), U64{1} << bits);
  }
}

TEST(CuckooMap, AConstantHashFillsTwoBucketsAndThenSaysSo) {
  CuckooMap<U64, int, ConstantFour> map;
  for (U64 key = 0; key < 8; ++key) ASSERT_TRUE(map.try_emplace(key, 1).second);
  const std::size_t before = map.bucket_count();
  EXPECT_THROW(map.try_emplace(8, 1), std::length_error);
  EXPECT_LE(map.bucket_count(), before * 4);  // two growths
  const std::size_t after = map.bucket_count();
  for (U64 key = 8; key < 1000; ++key) EXPECT_THROW(map.try_emplace(key, 1), std::length_error);
  EXPECT_EQ(map.bucket_count(), after) << "memory stays bounded";
  EXPECT_EQ(map.size(), 8u);
  for (U64 key = 0; key < 8; ++key) EXPECT_EQ(map.erase(key), 1u);
}

TEST(CuckooMap, AHoleInTheFirstBucketNeverLetsAKeyBeStoredTwice) {
  Numbers map;
  map.max_load_factor(1);
  map.reserve(4096);
  map.max_bucket_count(map.bucket_count());
  std::vector<U64> keys;
  for (U64 key = 0; map.load_factor() < 0.95f; ++key)
    keys.push_back(map.try_emplace(key).first->first);
  for (std::size_t i = 0; i < keys.size(); i += 3) map.erase(keys[i]);  // holes before guests
  for (std::size_t i = 0; i < keys.size(); ++i) map.try_emplace(keys[i], 1);
  std::multiset<U64> stored;
  for (const auto& entry : map) stored.insert(entry.first);
  EXPECT_EQ(stored.size(), keys.size());
  EXPECT_EQ(std::set<U64>(stored.begin(), stored.end()).size(), keys.size());
}

TEST(CuckooMap, AFullTableRefusesAndIsBitIdentical) {
  CuckooMap<U64, U64, FourSlots> map;
  map.max_load_factor(1);
  map.reserve(1 << 14);
  map.max_bucket_count(map.bucket_count());
  std::vector<U64> refused;
  for (U64 key = 0; refused.size() < 200; ++key) {
    try {
      map.try_emplace(key, key);
    } catch (const std::length_error&) {
      refused.push_back(key);
    }
  }
  EXPECT_GT(map.load_factor(), 0.95f);
  const auto words = [&map] {
    std::vector<U64> all;
    for (U64 i = 0; i < map.bucket_count(); ++i) {
      const auto& bucket = map.table().bucket(i);
      all.insert(all.end(), bucket.words.begin(), bucket.words.end());
      for (unsigned slot = 0; slot < 4; ++slot) all.push_back(*bucket.value(slot));
    }
    return all;
  };
  const auto before = words();
  unsigned failures = 0;
  for (const U64 key : refused) {
    try {
      map.try_emplace(key, 0);
    } catch (const std::length_error&) {
      ++failures;
    }
  }
  EXPECT_GT(failures, 0u);
  if (failures == refused.size()) {
    EXPECT_EQ(words(), before);
  }
  for (U64 key = 1 << 20; key < (1 << 20) + 10'000; ++key) {
    ASSERT_LE(map.table().buckets_read(key), 2u);
    ASSERT_FALSE(map.contains(key));
  }
}

TEST(CuckooMap, BytesStayTheSameThroughInsertClearReserve) {
  Numbers map;
  std::size_t bytes = 0;
  for (int round = 0; round < 1000; ++round) {
    for (U64 key = 0; key < 500; ++key) map.try_emplace(key + static_cast<U64>(round), key);
    map.clear();
    map.reserve(500);
    if (round == 1) bytes = map.memory_usage();
    if (round > 1) {
      ASSERT_EQ(map.memory_usage(), bytes);
    }
  }
  map.shrink_to_fit();
  EXPECT_EQ(map.memory_usage(), sizeof(map));
}

TEST(CuckooMap, ErasingWhileIteratingVisitsEachElementOnce) {
  Numbers map;
  for (U64 key = 0; key < 10'000; ++key) map[key] = key;
  std::set<U64> visited;
  for (auto at = map.begin(); at != map.end();) {
    EXPECT_TRUE(visited.insert(at->first).second);
    at = at->first % 3 == 0 ? map.erase(at) : std::next(at);
  }
  EXPECT_EQ(visited.size(), 10'000u);
  EXPECT_EQ(map.size(), 6666u);
  EXPECT_TRUE(map.table().consistent());
}

TEST(CuckooMap, ShrinksToWhatItsElementsNeed) {
  CuckooMap<std::string, U64> map;
  for (U64 key = 0; key < 20'000; ++key) map[std::to_string(key)] = key;
  for (U64 key = 1000; key < 20'000; ++key) map.erase(std::to_string(key));
  const std::size_t before = map.memory_usage();
  map.shrink_to_fit();
  EXPECT_LT(map.memory_usage() * 8, before);
  EXPECT_EQ(map.size(), 1000u);
  for (U64 key = 0; key < 1000; ++key) EXPECT_EQ(map.at(std::to_string(key)), key);
}

TEST(CuckooMap, ArgumentsMayReferToItsOwnElements) {
  CuckooMap<std::string, std::string> map{{"0", std::string(100, 'x')}};
  for (int i = 1; i < 2000; ++i) {  // through every displacement and growth on the way
    map.try_emplace(std::to_string(i), map.find(std::to_string(i - 1))->second);
  }
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(map.at(std::to_string(i)), std::string(100, 'x'));
}

TEST(CuckooMap, PmrGivesAllMemoryAndReachesTheElements) {
  std::pmr::monotonic_buffer_resource memory;
  CuckooMap<std::pmr::string, std::pmr::string, PmrTextPolicy> map(&memory);
  const std::string text = "text that does not fit in a short string";
  for (int i = 0; i < 1000; ++i) {
    map.try_emplace(std::pmr::string(text + std::to_string(i)), text);
  }
  for (const auto& [key, value] : map) {
    ASSERT_EQ(key.get_allocator().resource(), &memory);
    ASSERT_EQ(value.get_allocator().resource(), &memory);
  }
  std::pmr::monotonic_buffer_resource elsewhere;
  CuckooMap<std::pmr::string, std::pmr::string, PmrTextPolicy> moved(std::move(map), &elsewhere);
  EXPECT_EQ(moved.size(), 1000u);
  EXPECT_EQ(moved.begin()->second.get_allocator().resource(), &elsewhere);
  EXPECT_EQ(std::string_view(moved.at(std::pmr::string(text + "7"))), text);
}

TEST(CuckooMap, InsertingAScanOrderIntoAnEmptyTableIsNotQuadratic) {
  Numbers source;
  for (U64 key = 0; key < 200'000; ++key) source[key] = key;
  Numbers target;
  std::size_t reads = 0;
  for (const auto [key, value] : source) {
    reads += target.empty() ? 1 : target.table().buckets_read(key);
    target.try_emplace(key, value);
    ASSERT_LE(target.capacity(), 200'000u * 4);
  }
  EXPECT_LT(reads, 200'000u * 3 / 2);
  EXPECT_EQ(target, source);
}

}  // namespace
}  // namespace nidus::map

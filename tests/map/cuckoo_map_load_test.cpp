// SPDX-License-Identifier: Apache-2.0

// How full a CuckooMap gets and how many buckets a look-up reads there: counted, not timed, so that
// the figures are the same on every machine. The bounds are those that the documentation promises.

#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "cuckoo_map_variants.hpp"

namespace nidus::map {
namespace {

using U64 = std::uint64_t;
using Eight = CuckooMap<U64, U64>;
using Four = CuckooMap<U64, U64, FourSlots>;

constexpr U64 kSlots = 1 << 17;

template <class Map>
Map fixed_table() {
  Map map;
  map.max_load_factor(1);
  map.reserve(kSlots);
  map.max_bucket_count(map.bucket_count());
  return map;
}

struct Reads {
  double hit, miss;
};

/// Mean buckets read by 100 000 look-ups of keys that are here, and of keys that are not.
template <class Map>
Reads mean_reads(const Map& map, const std::vector<U64>& keys) {
  constexpr U64 kLookUps = 100'000;
  U64 hit = 0, miss = 0;
  for (U64 i = 0; i < kLookUps; ++i) {
    hit += map.table().buckets_read(keys[i * 7919 % keys.size()]);
    miss += map.table().buckets_read((U64{1} << 50) + i);
  }
  return {static_cast<double>(hit) / kLookUps, static_cast<double>(miss) / kLookUps};
}

template <class Map>
void check_reads(double load, double most) {
  Map map = fixed_table<Map>();
  std::vector<U64> keys;
  const auto wanted = static_cast<U64>(load * static_cast<double>(kSlots));
  for (U64 key = 0; keys.size() < wanted; ++key) {
    map.try_emplace(key, key);
    keys.push_back(key);
  }
  Reads reads = mean_reads(map, keys);
  EXPECT_LE(reads.hit, most) << "fresh, load " << load;
  EXPECT_LE(reads.miss, most) << "fresh, load " << load;

  std::mt19937_64 random(99);
  U64 next = keys.size();
  for (int step = 0; step < 2'000'000; ++step) {  // fifteen lives of the table
    U64& key = keys[random() % keys.size()];
    ASSERT_EQ(map.erase(key), 1u);
    key = next++;
    ASSERT_TRUE(map.try_emplace(key, key).second);
  }
  ASSERT_TRUE(map.table().consistent());
  reads = mean_reads(map, keys);
  EXPECT_LE(reads.hit, most) << "after churn, load " << load;
  EXPECT_LE(reads.miss, most) << "after churn, load " << load;
}

TEST(CuckooMapLoad, EightSlotsReadAtMost1Point1BucketsAtThreeQuarters) {
  check_reads<Eight>(.75, 1.1);
}
TEST(CuckooMapLoad, EightSlotsReadAtMost1Point2BucketsAt95Percent) { check_reads<Eight>(.95, 1.2); }
TEST(CuckooMapLoad, FourSlotsReadAtMost1Point2BucketsAtThreeQuarters) {
  check_reads<Four>(.75, 1.2);
}
TEST(CuckooMapLoad, FourSlotsReadAtMost1Point35BucketsAt95Percent) { check_reads<Four>(.95, 1.35); }

template <class Map>
double first_failure() {
  Map map = fixed_table<Map>();
  try {
    for (U64 key = 0;; ++key) map.try_emplace(key, key);
  } catch (const std::length_error&) {
    return static_cast<double>(map.size()) / static_cast<double>(kSlots);
  }
}

TEST(CuckooMapLoad, FourSlotsReach95PercentAndEightReach99) {
  EXPECT_GE(first_failure<Four>(), 0.95);
  EXPECT_GE(first_failure<Eight>(), 0.99);
  EXPECT_GE((first_failure<CuckooMap<U64, U64, Tagged<FourSlots>>>()), 0.95);
  EXPECT_GE((first_failure<CuckooMap<U64, U64, SecondHashPolicy>>()), 0.99);
}

TEST(CuckooMapLoad, AnEntryTakesAtMost17Point7BytesAt95Percent) {
  // 0.78 of the 22.7 bytes of the flat tables, with 8-byte keys and values
  Eight map = fixed_table<Eight>();
  for (U64 key = 0; map.load_factor() < 0.95f; ++key) map.try_emplace(key, key);
  EXPECT_LE(static_cast<double>(map.memory_usage()) / static_cast<double>(map.size()), 17.7);
}

TEST(CuckooMapLoad, TenCyclesOfInsertsAndErasesLeaveTheCostOfAMissUnchanged) {
  Eight map = fixed_table<Eight>();
  std::vector<U64> keys{0};
  double first = 0;
  for (U64 cycle = 0; cycle < 10; ++cycle) {
    const U64 base = cycle * kSlots;
    for (U64 key = base; key < base + kSlots * 9 / 10; ++key) map.try_emplace(key, key);
    for (U64 key = base; key < base + kSlots * 9 / 10; ++key) map.erase(key);
    const double miss = mean_reads(map, keys).miss;
    if (cycle == 0) first = miss;
    EXPECT_LE(miss, first + 0.02) << cycle;
  }
  EXPECT_TRUE(map.empty());
}

}  // namespace
}  // namespace nidus::map

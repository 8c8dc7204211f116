// SPDX-License-Identifier: Apache-2.0

// Paths of displacement: as short as a search of all moves finds them, and executable from their
// empty end without ever losing a key.

#include <nidus/map/path_search.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include <nidus/map/geometry.hpp>

#include <gtest/gtest.h>

namespace nidus::map {
namespace {

/// Buckets of tags; 0 is empty.
struct TagTable {
  static constexpr unsigned kSlots = 8;
  std::uint64_t mask;
  std::vector<std::array<std::uint16_t, kSlots>> buckets;

  explicit TagTable(std::uint64_t bucket_mask) : mask(bucket_mask), buckets(bucket_mask + 1) {}
  int empty_slot(std::uint64_t bucket) const {
    for (unsigned s = 0; s < kSlots; ++s) {
      if (buckets[bucket][s] == 0) return static_cast<int>(s);
    }
    return -1;
  }
  std::uint64_t alternate(std::uint64_t bucket, unsigned slot) const {
    EXPECT_NE(buckets[bucket][slot], 0) << "an empty slot has no key to move";
    return Geometry::alternate(bucket, buckets[bucket][slot], mask);
  }
  std::multiset<std::uint16_t> tags() const {
    std::multiset<std::uint16_t> all;
    for (const auto& bucket : buckets) all.insert(bucket.begin(), bucket.end());
    return all;
  }
};

TagTable random_table(std::mt19937_64& random, std::uint64_t mask, unsigned empty_percent_x10) {
  TagTable table(mask);
  for (auto& bucket : table.buckets) {
    for (auto& tag : bucket) {
      const bool empty = random() % 1000 < empty_percent_x10;
      tag = empty ? std::uint16_t{0} : static_cast<std::uint16_t>(random() % 65535 + 1);
    }
  }
  return table;
}

/// The fewest moves that free a slot in one of the two buckets, by visiting every bucket once.
int fewest_moves(const TagTable& table, std::uint64_t bucket1, std::uint64_t bucket2) {
  std::map<std::uint64_t, int> depth{{bucket1, 0}, {bucket2, 0}};
  std::vector<std::uint64_t> queue{bucket1, bucket2};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::uint64_t bucket = queue[head];
    if (table.empty_slot(bucket) >= 0) return depth[bucket];
    for (unsigned s = 0; s < TagTable::kSlots; ++s) {
      const std::uint64_t next = table.alternate(bucket, s);
      if (depth.emplace(next, depth[bucket] + 1).second) queue.push_back(next);
    }
  }
  return -1;
}

TEST(PathSearch, FindsPathsAsShortAsABruteForceSearch) {
  std::mt19937_64 random(11);
  int found = 0, longest = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::uint64_t mask = (std::uint64_t{2} << (random() % 8)) - 1;
    const TagTable table = random_table(random, mask, static_cast<unsigned>(random() % 30));
    const std::uint64_t bucket1 = random() & mask;
    const auto tag = static_cast<std::uint16_t>(random() % 65535 + 1);
    const std::uint64_t bucket2 = Geometry::alternate(bucket1, tag, mask);
    const Path path = find_path(table, bucket1, bucket2);
    const int fewest = fewest_moves(table, bucket1, bucket2);
    if (path.length == 0) {
      // The search sees all places two moves away; beyond that it may give up.
      ASSERT_TRUE(fewest < 0 || fewest > 2) << fewest;
      continue;
    }
    ++found;
    ASSERT_LE(path.length, kMaxPathMoves + 1);
    ASSERT_EQ(static_cast<int>(path.length) - 1, fewest);
    longest = std::max(longest, fewest);
  }
  EXPECT_GT(found, 10'000);
  EXPECT_GE(longest, 3) << "the states were too easy";
}

TEST(PathSearch, APathExecutedFromItsEmptyEndLosesNoKey) {
  std::mt19937_64 random(12);
  int moves = 0;
  for (int round = 0; round < 5'000; ++round) {
    const std::uint64_t mask = (std::uint64_t{4} << (random() % 7)) - 1;
    TagTable table = random_table(random, mask, 1 + static_cast<unsigned>(random() % 20));
    const std::uint64_t bucket1 = random() & mask;
    const auto tag = static_cast<std::uint16_t>(random() % 65535 + 1);
    const Path path = find_path(table, bucket1, Geometry::alternate(bucket1, tag, mask));
    if (path.length == 0) continue;
    auto expected = table.tags();
    for (std::size_t i = path.length - 1; i > 0; --i, ++moves) {
      const Place from = path.places[i - 1], to = path.places[i];
      auto& source = table.buckets[from.bucket][from.slot];
      auto& target = table.buckets[to.bucket][to.slot];
      ASSERT_EQ(target, 0) << "a move overwrites a key";
      ASSERT_NE(source, 0);
      ASSERT_EQ(Geometry::alternate(from.bucket, source, mask), to.bucket);
      target = source;
      source = 0;
    }
    const Place place = path.places[0];
    ASSERT_EQ(table.buckets[place.bucket][place.slot], 0);
    ASSERT_TRUE(place.bucket == bucket1 || place.bucket == Geometry::alternate(bucket1, tag, mask));
    table.buckets[place.bucket][place.slot] = tag;
    expected.erase(expected.find(0));
    expected.insert(tag);
    ASSERT_EQ(table.tags(), expected);
  }
  EXPECT_GT(moves, 1'000);
}

TEST(PathSearch, AnEmptySlotInEitherBucketNeedsNoMove) {
  std::mt19937_64 random(13);
  TagTable table = random_table(random, 15, 0);
  table.buckets[9][6] = 0;
  const Path first = find_path(table, 9, 4);
  EXPECT_EQ(first.length, 1u);
  EXPECT_EQ(first.places[0].bucket, 9u);
  EXPECT_EQ(first.places[0].slot, 6u);
  const Path second = find_path(table, 4, 9);
  EXPECT_EQ(second.length, 1u);
  EXPECT_EQ(second.places[0].bucket, 9u);
}

TEST(PathSearch, PrefersTheFirstBucket) {
  TagTable table(15);
  EXPECT_EQ(find_path(table, 3, 8).places[0].bucket, 3u);
}

TEST(PathSearch, AFullTableHasNoPath) {
  std::mt19937_64 random(14);
  for (std::uint64_t mask : {1u, 3u, 255u, 4095u}) {
    const TagTable table = random_table(random, mask, 0);
    EXPECT_EQ(find_path(table, 0, 1).length, 0u) << mask;
  }
}

}  // namespace
}  // namespace nidus::map

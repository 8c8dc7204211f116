// SPDX-License-Identifier: Apache-2.0

// ClassicCuckoo: the textbook forms reach the textbook's loads, their trace tells what happened, and a
// failure changes nothing.

#include <nidus/map/classic_cuckoo.hpp>

#include <cstdint>
#include <map>
#include <random>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>

namespace nidus::map {
namespace {

using U64 = std::uint64_t;
using Kind = ClassicStep::Kind;

template <class Table>
double first_failure(std::size_t slots_a_bucket, std::size_t tables, std::size_t budget, U64 seed) {
  ClassicOptions options;
  options.buckets = 65'536 / slots_a_bucket / tables;
  options.kick_budget = budget;
  options.rehashes = 0;
  options.grows = false;
  options.seed = seed;
  Table table(options);
  std::mt19937_64 keys(seed);
  while (table.insert(keys())) {
  }
  return table.load();
}

/// The mean over 20 seeds: the load of the first failure scatters by some hundredths.
template <class Table>
double mean_first_failure(std::size_t slots_a_bucket, std::size_t tables, std::size_t budget) {
  double sum = 0;
  for (U64 seed = 1; seed <= 20; ++seed) {
    sum += first_failure<Table>(slots_a_bucket, tables, budget, seed);
  }
  return sum / 20;
}

TEST(ClassicCuckoo, ReachesThePublishedLoadsBeforeItsFirstFailure) {
  // thresholds for boundless budgets: .5, .897, .9768, .9956 (two choices), .918, .9768 (three, four)
  EXPECT_GE((mean_first_failure<ClassicCuckoo<2, 1>>(1, 2, 2048)), .46);
  EXPECT_GE((mean_first_failure<ClassicCuckoo<2, 2>>(2, 2, 256)), .83);
  EXPECT_GE((mean_first_failure<ClassicCuckoo<2, 2>>(2, 2, 2048)), .87);
  EXPECT_GE((mean_first_failure<ClassicCuckoo<2, 4, 0, true>>(4, 1, 256)), .93);
  EXPECT_GE((mean_first_failure<ClassicCuckoo<2, 4, 0, true>>(4, 1, 2048)), .965);
  EXPECT_GE((mean_first_failure<ClassicCuckoo<2, 8, 0, true>>(8, 1, 256)), .975);
  EXPECT_GE((mean_first_failure<ClassicCuckoo<2, 8, 0, true>>(8, 1, 2048)), .99);
  EXPECT_GE((mean_first_failure<ClassicCuckoo<3, 1, 0, true>>(1, 1, 256)), .84);
  EXPECT_GE((mean_first_failure<ClassicCuckoo<3, 1, 0, true>>(1, 1, 2048)), .89);
  EXPECT_GE((mean_first_failure<ClassicCuckoo<4, 1, 0, true>>(1, 1, 256)), .895);
  EXPECT_GE((mean_first_failure<ClassicCuckoo<4, 1, 0, true>>(1, 1, 2048)), .95);
}

TEST(ClassicCuckoo, RandomOperationsEqualUnorderedSet) {
  ClassicOptions options;
  options.buckets = 3;
  options.kick_budget = 20;
  ClassicCuckoo<2, 1, 2> table(options);
  std::unordered_set<U64> oracle;
  std::mt19937_64 random(3);
  for (int step = 0; step < 50'000; ++step) {
    const U64 key = random() % 700;  // 0 among them
    if (random() % 3 != 0) {
      ASSERT_TRUE(table.insert(key));
      oracle.insert(key);
    } else {
      ASSERT_EQ(table.erase(key), oracle.erase(key) == 1);
    }
    ASSERT_EQ(table.size(), oracle.size());
    const U64 asked = random() % 700;
    ASSERT_EQ(table.contains(asked), oracle.contains(asked));
  }
}

TEST(ClassicCuckoo, TheTraceReplayedGivesTheTable) {
  ClassicOptions options;
  options.buckets = 64;
  options.rehashes = 0;
  options.grows = false;
  ClassicCuckoo<2, 1, 3> table(options);
  std::map<U64, std::size_t> where;  // key -> bucket, as the trace tells
  std::vector<U64> stash;
  std::size_t inserted = 0;
  for (U64 key = 0;; ++key) {
    std::vector<ClassicStep> steps;
    const bool placed = table.insert(key, [&](const ClassicStep& step) { steps.push_back(step); });
    if (!placed) {
      EXPECT_EQ(steps.back().kind, Kind::kFailed);
      EXPECT_EQ(steps.back().key, key);
      break;
    }
    ++inserted;
    for (const auto& step : steps) {
      if (step.kind == Kind::kPlaced) where[step.key] = step.to;
      if (step.kind == Kind::kKicked) {
        ASSERT_EQ(where.at(step.key), step.from);
        where.erase(step.key);
      }
      if (step.kind == Kind::kStashed) stash.push_back(step.key);
    }
  }
  EXPECT_EQ(stash.size(), 3u);
  EXPECT_EQ(where.size() + stash.size(), inserted);
  for (const auto& [key, bucket] : where) EXPECT_EQ(table.at(bucket, 0), key);
}

TEST(ClassicCuckoo, AFailedInsertionLeavesEveryKeyInItsSlot) {
  ClassicOptions options;
  options.buckets = 32;
  options.rehashes = 5;
  options.grows = false;
  ClassicCuckoo<2, 2> table(options);
  const auto slots = [&table] {
    std::vector<std::optional<U64>> all;
    for (std::size_t i = 0; i < table.buckets(); ++i) {
      for (unsigned slot = 0; slot < 2; ++slot) all.push_back(table.at(i, slot));
    }
    return all;
  };
  U64 key = 0;
  std::vector<std::optional<U64>> before;
  do {
    before = slots();
  } while (table.insert(key++));
  EXPECT_EQ(slots(), before);
  EXPECT_GT(table.load(), 0.8);
}

TEST(ClassicCuckoo, RehashesBeforeItGrowsAndSaysBoth) {
  ClassicOptions options;
  options.buckets = 16;
  options.kick_budget = 16;
  options.rehashes = 3;
  ClassicCuckoo<2, 1> table(options);
  std::map<Kind, int> seen;
  for (U64 key = 0; key < 1000; ++key) {
    ASSERT_TRUE(table.insert(key, [&](const ClassicStep& step) { ++seen[step.kind]; }));
  }
  EXPECT_GT(seen[Kind::kRehashed], 0);
  EXPECT_GT(seen[Kind::kGrown], 0);
  EXPECT_EQ(seen[Kind::kFailed], 0);
  for (U64 key = 0; key < 1000; ++key) ASSERT_TRUE(table.contains(key));
}

TEST(ClassicCuckoo, TheSameSeedGivesTheSameTable) {
  ClassicOptions options;
  options.seed = 77;
  ClassicCuckoo<3, 1, 0, true> one(options), two(options);
  for (U64 key = 0; key < 400; ++key) ASSERT_EQ(one.insert(key), two.insert(key));
  for (std::size_t i = 0; i < one.buckets(); ++i) ASSERT_EQ(one.at(i, 0), two.at(i, 0));
}

}  // namespace
}  // namespace nidus::map

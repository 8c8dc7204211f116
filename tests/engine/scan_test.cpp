// SPDX-License-Identifier: Apache-2.0

// SCAN's guarantee: a key that is there from start to end is visited, whatever the table does.

#include <random>
#include <set>
#include <string>
#include <unordered_set>

#include "keyspace_rig.hpp"

#include <gtest/gtest.h>

namespace nidus::engine {
namespace {

std::string stable(std::uint64_t n) { return "stable:" + std::to_string(n); }

TEST(Scan, AnEmptyDatabaseEndsAtOnce) {
  KeyspaceRig rig;
  EXPECT_EQ(rig.database().scan(0, 10, rig.now, [](const Item&) { FAIL(); }), 0u);
}

TEST(Scan, VisitsEveryKeyOnceWhileNothingChanges) {
  KeyspaceRig rig;
  for (std::uint64_t n = 0; n < 20'000; ++n) rig.set(key_of(n), "v");
  for (std::size_t count : {1u, 10u, 1'000u, 100'000u}) {
    std::set<std::string> seen;
    std::size_t visits = 0, pages = 0, largest = 0;
    std::uint64_t cursor = 0;
    do {
      std::size_t page = 0;
      cursor = rig.database().scan(cursor, count, rig.now, [&](const Item& item) {
        seen.emplace(item.key());
        ++page;
      });
      visits += page;
      largest = std::max(largest, page);
      ASSERT_LT(++pages, 100'000u);
    } while (cursor != 0);
    EXPECT_EQ(seen.size(), 20'000u);
    EXPECT_EQ(visits, 20'000u);
    EXPECT_LE(largest, 4 * count + 30) << "count is a hint, but not an empty one";
  }
}

TEST(Scan, AnyCursorEnds) {
  KeyspaceRig rig;
  for (std::uint64_t n = 0; n < 5'000; ++n) rig.set(key_of(n), "v");
  std::mt19937_64 random(9);
  for (int i = 0; i < 200; ++i) {
    std::uint64_t cursor = i == 0 ? ~std::uint64_t{0} : random();
    const std::size_t count = i % 2 == 0 ? ~std::size_t{0} : 100;
    int pages = 0;
    do {
      cursor = rig.database().scan(cursor, count, rig.now, [](const Item&) {});
      ASSERT_LT(++pages, 10'000);
    } while (cursor != 0);
  }
}

TEST(Scan, CursorsFitIntoADouble) {
  KeyspaceRig rig;
  for (std::uint64_t n = 0; n < 50'000; ++n) rig.set(key_of(n), "v");
  std::uint64_t cursor = 0;
  do {
    cursor = rig.database().scan(cursor, 100, rig.now, [](const Item&) {});
    ASSERT_LT(cursor, std::uint64_t{1} << 53);
  } while (cursor != 0);
}

TEST(Scan, ExpiredKeysAreNotVisited) {
  KeyspaceRig rig;
  rig.set("a", "v", rig.now + 1);
  rig.set("b", "v");
  rig.now += 1;
  std::set<std::string> seen;
  rig.database().scan(0, 10, rig.now, [&](const Item& item) { seen.emplace(item.key()); });
  EXPECT_EQ(seen, std::set<std::string>{"b"});
}

/// Scans while `change` runs between pages; every stable key must appear, and no unknown one.
template <class Change>
void scan_while(KeyspaceRig& rig, std::uint64_t stable_keys, std::size_t count, Change&& change) {
  std::unordered_set<std::string> seen;
  std::uint64_t cursor = 0;
  std::uint64_t page = 0;
  do {
    cursor = rig.database().scan(cursor, count, rig.now, [&](const Item& item) {
      const std::string key(item.key());
      ASSERT_TRUE(key.starts_with("stable:") || key.starts_with("key:")) << key;
      seen.insert(key);
    });
    change(page++);
    ASSERT_LT(page, 100'000u);
  } while (cursor != 0);
  for (std::uint64_t n = 0; n < stable_keys; ++n) ASSERT_TRUE(seen.contains(stable(n))) << n;
}

constexpr std::uint64_t kStable = 10'000, kOthers = 90'000;

TEST(Scan, StableKeysAppearWhileTheTableGrows) {
  KeyspaceRig rig;
  for (std::uint64_t n = 0; n < kStable; ++n) rig.set(stable(n), "v");
  const std::size_t before = rig.database().index().segment_count();
  std::uint64_t next = 0;
  scan_while(rig, kStable, 100, [&](std::uint64_t) {
    for (int i = 0; i < 2'000 && next < kOthers; ++i) rig.set(key_of(next++), "v");
  });
  EXPECT_EQ(next, kOthers);
  EXPECT_GE(rig.database().index().segment_count(), 4 * before);
}

TEST(Scan, StableKeysAppearWhileTheTableShrinks) {
  KeyspaceRig rig;
  for (std::uint64_t n = 0; n < kStable; ++n) rig.set(stable(n), "v");
  for (std::uint64_t n = 0; n < kOthers; ++n) rig.set(key_of(n), "v");
  const std::size_t before = rig.database().index().segment_count();
  std::uint64_t next = 0;
  scan_while(rig, kStable, 100, [&](std::uint64_t) {
    for (int i = 0; i < 1'000 && next < kOthers; ++i) rig.erase(key_of(next++));
    ThreadScope::quiescent();
    for (int i = 0; i < 16; ++i) rig.keyspace.maintain(rig.now, 1'000);
  });
  EXPECT_LE(rig.database().index().segment_count(), before / 4);
}

TEST(Scan, StableKeysAppearWhileTheTableDoublesShrinksAndDisplaces) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  constexpr std::uint64_t kMany = 2 * kOthers + kStable;  // 128 segments, and 16 without them
  for (std::size_t count : {100u, 500u}) {
    KeyspaceRig rig;
    for (std::uint64_t n = 0; n < kStable; ++n) rig.set(stable(n), "v");
    std::uint64_t live = 0;
    std::size_t most = 0, least = ~std::size_t{0};
    bool growing = true;
    scan_while(rig, kStable, count, [&](std::uint64_t) {
      const std::uint64_t step = random() % 16'000;
      for (std::uint64_t i = 0; i < step; ++i) {
        if (growing) {
          rig.set(key_of(live++), "v");
        } else {
          rig.erase(key_of(--live));
        }
        if (live == 0 || live == kMany) {
          growing = live == 0;
          for (int m = 0; m < 32; ++m) rig.keyspace.maintain(rig.now, 1'000);
          least = std::min(least, rig.database().index().segment_count());
          most = std::max(most, rig.database().index().segment_count());
        }
      }
      ThreadScope::quiescent();
      if (random() % 4 == 0) rig.keyspace.maintain(rig.now, 200);
    });
    if (count == 100) {
      EXPECT_GE(most, 8 * least) << "the table did not shrink far enough to prove anything";
    }
  }
}

/// Segments split and join at every page, at random, while the scan goes on.
TEST(Scan, StableKeysAppearThroughSplitsAndJoinsOfTheScannedSegment) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 8; ++round) {
    KeyspaceRig rig;
    constexpr std::uint64_t kFew = 1'000;
    for (std::uint64_t n = 0; n < kFew; ++n) rig.set(stable(n), "v");
    std::uint64_t live = 0;
    scan_while(rig, kFew, 20, [&](std::uint64_t page) {
      if (page > 2'000) return;  // lets the scan end
      const std::uint64_t goal = random() % 2 == 0 ? 0 : random() % 6'000;
      while (live < goal) rig.set(key_of(live++), "v");
      while (live > goal) rig.erase(key_of(--live));
      for (int m = 0; m < 4; ++m) rig.keyspace.maintain(rig.now, 1'000);
      ThreadScope::quiescent();
    });
  }
}

}  // namespace
}  // namespace nidus::engine

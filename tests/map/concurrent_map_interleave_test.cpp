// SPDX-License-Identifier: Apache-2.0

// Forced interleavings of ConcurrentMap: a thread stops at a pause point while others act. Built
//   with
// NIDUS_PAUSE_POINTS; NIDUS_MUTANT=kGeometryBeforeVersion plants the fault that the first test is
// for.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>
#include <nidus/sync/pause_point.hpp>

#include "concurrent_map_variants.hpp"

namespace nidus::map {
namespace {

using sync::PausePoint;

/// What the stopping thread does when it comes to the point, once.
thread_local PausePoint watched_point;
thread_local std::function<void()> meanwhile;

class ConcurrentMapInterleave : public testing::Test {
 protected:
  ConcurrentMapInterleave() {
    if (const char* mutant = std::getenv("NIDUS_MUTANT");
        mutant != nullptr && std::string_view(mutant) == "kGeometryBeforeVersion") {
      sync::planted_mutant = sync::Mutant::kGeometryBeforeVersion;
    }
    sync::pause_hook = [](PausePoint at) {
      if (!meanwhile || at != watched_point) return;
      const auto act = std::exchange(meanwhile, nullptr);
      std::thread(act).join();
    };
  }
  ~ConcurrentMapInterleave() override {
    meanwhile = nullptr;
    sync::pause_hook = nullptr;
    sync::planted_mutant = sync::Mutant::kNone;
  }
  /// When this thread comes to the point, another thread runs `act` from beginning to end.
  static void at(PausePoint point, std::function<void()> act) {
    watched_point = point;
    meanwhile = std::move(act);
  }
};

using Map = ConcurrentMap<std::uint64_t, std::uint64_t>;

void insert_range(Map& map, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t key = from; key < to; ++key) map.insert(key, key);
}

TEST_F(ConcurrentMapInterleave, AReaderStoppedBeforeTheVersionWhileTheMapDoublesFindsEveryKey) {
  for (std::uint64_t key = 0; key < 40; ++key) {
    Map map;
    insert_range(map, 0, 40);
    at(PausePoint::kReaderAfterDirectory, [&map] { insert_range(map, 40, 2'000); });
    EXPECT_EQ(map.find(key), key);
    EXPECT_FALSE(meanwhile) << "the reader did not come to the point";
  }
}

TEST_F(ConcurrentMapInterleave, AReaderOfABatchStoppedBeforeAVersionFindsEveryKey) {
  Map map;
  insert_range(map, 0, 40);
  std::vector<std::uint64_t> keys;
  for (std::uint64_t key = 0; key < 40; ++key) keys.push_back(key);
  std::vector<std::optional<std::uint64_t>> out(keys.size());
  at(PausePoint::kReaderAfterDirectory, [&map] { insert_range(map, 40, 2'000); });
  EXPECT_EQ(map.find_batch(keys, out), keys.size());
}

TEST_F(ConcurrentMapInterleave, AWriterThatKnowsASegmentBeforeItSplitsWritesWhereTheKeyLives) {
  for (std::uint64_t key = 100; key < 140; ++key) {
    Map map;
    insert_range(map, 0, 40);
    at(PausePoint::kWriterBeforeLock, [&map] { insert_range(map, 1'000, 3'000); });
    EXPECT_TRUE(map.insert(key, key));
    EXPECT_EQ(map.find(key), key);
    EXPECT_EQ(map.size(), 2'041u);
  }
}

/// While a split is under way, readers of its range wait; they then find what was there.
void expect_found_during_split(PausePoint point) {
  Map map;
  insert_range(map, 0, 50);
  std::atomic<std::uint64_t> wrong = 0;
  std::atomic<bool> splitting = false;
  std::thread reader([&] {
    while (!splitting) std::this_thread::yield();
    for (std::uint64_t key = 0; key < 50; ++key) wrong += map.find(key) != key;
  });
  watched_point = point;
  meanwhile = [&] {
    splitting = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  insert_range(map, 50, 200);
  EXPECT_FALSE(meanwhile) << "no segment was split";
  reader.join();
  EXPECT_EQ(wrong, 0u);
}

TEST_F(ConcurrentMapInterleave, AReaderDuringASplitFindsWhatWasThere) {
  expect_found_during_split(PausePoint::kSplitBeforePublish);
  expect_found_during_split(PausePoint::kSplitAfterPublish);
}

TEST_F(ConcurrentMapInterleave, VersionsWrapWithoutHarm) {
  sync::first_version = (std::uint64_t{1} << 61) - 50;
  Map map;
  sync::first_version = 0;
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> wrong = 0;
  map.insert(1, 1);
  std::thread reader([&] {
    while (!done) wrong += !map.contains(1);
  });
  for (std::uint64_t n = 0; n < 200; ++n) {
    map.insert_or_assign(1, n);
    wrong += map.find(1) != n;
    std::this_thread::yield();
  }
  done = true;
  reader.join();
  EXPECT_EQ(wrong, 0u);
  insert_range(map, 2, 1'000);
  for (std::uint64_t key = 2; key < 1'000; ++key) EXPECT_EQ(map.find(key), key);
}

}  // namespace
}  // namespace nidus::map

// SPDX-License-Identifier: Apache-2.0

// ConcurrentMap under threads: values that tell when they are torn, keys that must be there, sums.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nidus/base/platform.hpp>

#include "concurrent_map_variants.hpp"

namespace nidus::map {
namespace {

constexpr std::uint64_t kScale = NIDUS_TSAN ? 4 : 40;  // of the work where it is not the point

TEST(ConcurrentMapThreads, EightThreadsAdd800000ToOneKey) {
  ConcurrentMap<std::uint64_t, std::uint64_t> map;
  on_threads(8, [&](unsigned) {
    for (int n = 0; n < 100'000; ++n)
      map.upsert(
          7, [](std::uint64_t& sum) { ++sum; }, 1u);
  });
  EXPECT_EQ(map.find(7), 800'000u);
  EXPECT_EQ(map.size(), 1u);
}

template <class Map>
void expect_no_torn_reads() {
  Map map;
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> torn = 0;
  for (std::uint64_t key = 0; key < 32; ++key) map.insert(key, Wide::of(key));
  on_threads(8, [&](unsigned t) {
    if (t < 2) {
      for (std::uint64_t n = 0; n < 2'000 * kScale; ++n) {
        const std::uint64_t key = n % 32;
        if (n % 5 == 0) map.erase(key);
        map.insert_or_assign(key, Wide::of(n + t));
      }
      done = true;
    } else {
      std::uint64_t n = t;
      do {
        map.cvisit(n++ % 32, [&](const Wide& value) { torn += !value.whole(); });
      } while (!done);
    }
  });
  EXPECT_EQ(torn, 0u);
}

TEST(ConcurrentMapThreads, SixReadersOfTwoWritersSeeNoTornValue) {
  expect_no_torn_reads<ConcurrentMap<std::uint64_t, Wide>>();
  expect_no_torn_reads<ConcurrentMap<std::uint64_t, Wide, Tagged<FourSlots>>>();
}

TEST(ConcurrentMapThreads, TheFactoryOfAKeyRunsOnce) {
  ConcurrentMap<std::uint64_t, std::uint64_t> map;
  constexpr std::uint64_t kKeys = 5'000;
  std::vector<std::atomic<int>> made(kKeys);
  std::atomic<std::uint64_t> inserted = 0;
  on_threads(8, [&](unsigned t) {
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      inserted += map.try_emplace_with(key, [&, key] {
        ++made[key];
        return t * kKeys + key;
      });
    }
  });
  EXPECT_EQ(inserted, kKeys);
  for (const auto& times : made) EXPECT_EQ(times, 1);
}

/// Stable keys stay while others come and go and the map grows from nothing.
template <class Map>
void expect_stable_keys_are_found() {
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;
  Map map;
  constexpr std::uint64_t kStable = 500;
  std::vector<Key> stable;
  for (std::uint64_t n = 0; n < kStable; ++n) {
    stable.push_back(make_key<Key>(n));
    map.insert(stable.back(), make_value<Value>(n));
  }
  std::atomic<int> writers = 2;
  std::atomic<std::uint64_t> lost = 0;
  std::atomic<std::uint64_t> visits_wrong = 0;
  on_threads(5, [&](unsigned t) {
    if (t < 2) {
      const std::uint64_t count = 5'000 * kScale;
      const std::uint64_t base = kStable + t * count;
      for (std::uint64_t n = base; n < base + count; ++n) {
        map.insert(make_key<Key>(n), make_value<Value>(n));
        if (n % 3 == 0) map.erase(make_key<Key>(n - 1));
      }
      --writers;
    } else if (t == 2) {
      do {
        for (std::uint64_t n = 0; n < kStable; ++n)
          lost += map.find(stable[n]) != make_value<Value>(n);
      } while (writers > 0);
    } else if (t == 3) {
      std::vector<std::optional<Value>> out(kStable);
      do {
        lost += kStable - map.find_batch(stable, out);
      } while (writers > 0);
    } else {
      do {
        std::vector<int> seen(kStable);
        map.cfor_each([&](const Key& key, const Value&) {
          for (std::uint64_t n = 0; n < kStable; n += 200) seen[n] += key == stable[n];
        });
        for (std::uint64_t n = 0; n < kStable; n += 200) visits_wrong += seen[n] != 1;
      } while (writers > 0);
    }
  });
  EXPECT_EQ(lost, 0u);
  EXPECT_EQ(visits_wrong, 0u) << "a stable key is visited exactly once";
  std::size_t counted = 0;
  map.cfor_each([&](const Key&, const Value&) { ++counted; });
  EXPECT_EQ(map.size(), counted);
}

TEST(ConcurrentMapThreads, StableKeysAreFoundWhileTheMapGrows) {
  expect_stable_keys_are_found<ConcurrentMap<std::uint64_t, std::uint64_t>>();
}
TEST(ConcurrentMapThreads, StableKeysAreFoundWhileATaggedMapGrows) {
  expect_stable_keys_are_found<ConcurrentMap<std::uint64_t, std::uint64_t, Tagged<FourSlots>>>();
}
TEST(ConcurrentMapThreads, StableKeysAreFoundWhileAMapOfStringsGrows) {
  expect_stable_keys_are_found<ConcurrentMap<std::string, std::string>>();
}

TEST(ConcurrentMapThreads, InsertsAndErasesOfManyThreadsAddUp) {
  ConcurrentMap<std::uint64_t, std::uint64_t> map;
  std::atomic<std::int64_t> balance = 0;
  on_threads(8, [&](unsigned t) {
    std::uint64_t x = t + 1;
    for (std::uint64_t n = 0; n < 10'000 * kScale; ++n) {
      x = x * 6364136223846793005ull + 1442695040888963407ull;
      const std::uint64_t key = x >> 52;
      if ((x >> 20 & 1) != 0) {
        balance += map.insert(key, key);
      } else {
        balance -= map.erase(key);
      }
    }
  });
  EXPECT_EQ(static_cast<std::int64_t>(map.size()), balance);
  map.cfor_each([](std::uint64_t key, std::uint64_t value) { EXPECT_EQ(key, value); });
}

TEST(ConcurrentMapThreads, AClearBesideInsertsLeavesNoGhosts) {
  ConcurrentMap<std::uint64_t, std::string> map;
  on_threads(4, [&](unsigned t) {
    for (std::uint64_t n = 0; n < 1'000 * kScale; ++n) {
      if (t == 0 && n % 500 == 0) map.clear();
      map.insert(n * 4 + t, std::to_string(n));
    }
  });
  std::size_t counted = 0;
  map.cfor_each([&](std::uint64_t key, const std::string& value) {
    ++counted;
    EXPECT_EQ(value, std::to_string(key / 4));
  });
  EXPECT_EQ(map.size(), counted);
}

}  // namespace
}  // namespace nidus::map

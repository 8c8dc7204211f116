// SPDX-License-Identifier: Apache-2.0
#pragma once

// Roles that use one keyspace at once, each checking what it sees. The same roles run in turn on
// one thread, or each on a thread of its own; whoever fails on one thread has no race to blame.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/keyspace.hpp"
#include "engine/thread.hpp"
#include "index_rig.hpp"

#include <gtest/gtest.h>

namespace nidus::engine {

/// A value that says whether it is whole and belongs to its key: version, size, then bytes that
/// follow from both and the key.
inline std::string checked_value(std::string_view key, std::uint64_t version, std::size_t bytes) {
  std::string value = std::to_string(version) + ":" + std::to_string(bytes) + ":";
  std::uint64_t state = test_hash(key, ~std::uint64_t{0}) ^ version * 0x9E3779B97F4A7C15ull;
  for (std::size_t i = 0; i < bytes; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    value.push_back(static_cast<char>(state >> 56));
  }
  return value;
}
/// The version of a whole value; 0 (and a failure) for any other.
inline std::uint64_t version_of(std::string_view key, std::string_view value) {
  const std::string head(value.substr(0, 40));
  char* end = nullptr;
  const std::uint64_t version = std::strtoull(head.c_str(), &end, 10);
  const std::uint64_t bytes = *end == ':' ? std::strtoull(end + 1, nullptr, 10) : 0;
  const bool whole = bytes < 100'000 && value == checked_value(key, version, bytes);
  EXPECT_TRUE(whole) << "a torn or foreign value under " << key;
  return whole ? version : 0;
}

struct Shared {
  explicit Shared(KeyspaceOptions options) : keyspace(options) {}
  Keyspace keyspace;
  std::atomic<Millis> now{1'700'000'000'000};
  Database& database(int number = 0) { return keyspace.database(number); }
};

class Role {
 public:
  Role(Shared& shared, std::uint64_t seed) : shared_(shared), random_(seed) {}
  virtual ~Role() = default;
  virtual void step() = 0;
  /// After all roles have ended.
  virtual void finish() {}

 protected:
  std::uint64_t random(std::uint64_t below) { return random_() % below; }
  Millis now() const { return shared_.now.load(); }
  KeyRef key(std::string_view bytes) const { return shared_.keyspace.key(bytes); }
  WriteStatus set(std::string_view name, std::uint64_t version, Millis expires_at = kNoExpiry,
                  int database = 0) {
    return shared_.database(database)
        .lock(key(name), now())
        .set(checked_value(name, version, random(random(50) == 0 ? 3'000 : 120)), expires_at);
  }
  bool erase(std::string_view name) { return shared_.database().lock(key(name), now()).erase(); }
  /// The version, 0 if the key is absent.
  std::uint64_t get(std::string_view name, int database = 0) {
    const Item* item = shared_.database(database).find(key(name), now());
    return item == nullptr ? 0 : version_of(name, item->value());
  }

  Shared& shared_;
  std::mt19937_64 random_;
};

using Roles = std::vector<std::unique_ptr<Role>>;

inline std::chrono::milliseconds stress_time() {
  const char* ms = std::getenv("NIDUS_STRESS_MS");
  return std::chrono::milliseconds(ms == nullptr ? 1'500 : std::atoi(ms));
}

inline void run_on_one_thread(Roles& roles, int turns) {
  for (int turn = 0; turn < turns && !testing::Test::HasFailure(); ++turn) {
    for (auto& role : roles) role->step();
    ThreadScope::quiescent();
  }
}

inline void run_on_threads(Roles& roles) {
  const auto end = std::chrono::steady_clock::now() + stress_time();
  std::vector<std::thread> threads;
  for (auto& role : roles) {
    threads.emplace_back([&role, end] {
      const ThreadScope scope;
      for (unsigned n = 0; std::chrono::steady_clock::now() < end; ++n) {
        role->step();
        if (n % 8 == 0) ThreadScope::quiescent();
        if (n % 64 == 0 && testing::Test::HasFailure()) return;
      }
    });
  }
  ThreadScope::offline();
  for (auto& thread : threads) thread.join();
  ThreadScope::online();
}

/// Nobody else runs: every invariant, and the account of memory against what is there.
inline void check_at_rest(Shared& shared) {
  reclaim_now();
  for (int i = 0; i < 200 && shared.keyspace.maintain(shared.now, 1'000'000); ++i) reclaim_now();
  const Index::Hasher hasher{&shared.keyspace, [](const void* keyspace, std::string_view key) {
                               return static_cast<const Keyspace*>(keyspace)->hash(key);
                             }};
  std::size_t item_bytes = 0;
  for (int d = 0; d < kDatabases; ++d) {
    std::unordered_set<std::string_view> seen;
    std::string faults;
    shared.database(d).index().for_each_segment(0, [&](Segment& segment) {
      faults = segment_faults(segment, hasher, seen);
      return faults.empty();
    });
    ASSERT_EQ(faults, "") << "database " << d;
    ASSERT_EQ(seen.size(), shared.database(d).size());
    for (const std::string_view key : seen) {
      const Item* item = shared.database(d).find(shared.keyspace.key(key), 0, Touch::kNo);
      ASSERT_NE(item, nullptr);
      item_bytes += item->allocated_bytes();
    }
  }
  EXPECT_EQ(shared.keyspace.memory().item_bytes(), item_bytes);
}

}  // namespace nidus::engine

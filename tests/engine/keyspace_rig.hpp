// SPDX-License-Identifier: Apache-2.0
#pragma once

// A keyspace on one registered thread, with the few calls that most tests need.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/keyspace.hpp"
#include "engine/thread.hpp"

namespace nidus::engine {

inline constexpr Millis kNow = 1'700'000'000'000;

class KeyspaceRig {
 public:
  explicit KeyspaceRig(KeyspaceOptions options = {}) : keyspace(options) {}

  WriteStatus set(std::string_view key, std::string_view value, Millis expires_at = kNoExpiry) {
    return database().lock(keyspace.key(key), now).set(value, expires_at);
  }
  bool erase(std::string_view key) { return database().lock(keyspace.key(key), now).erase(); }
  std::optional<std::string> get(std::string_view key) {
    const Item* item = database().find(keyspace.key(key), now);
    return item == nullptr ? std::nullopt : std::optional<std::string>(item->value());
  }
  Database& database() { return keyspace.database(0); }
  /// Lets the background work until it has nothing left.
  void settle() {
    for (int i = 0; i < 100; ++i) {
      ThreadScope::quiescent();
      reclaim_now();
      if (!keyspace.maintain(now, 1'000'000) && i >= 12) break;
    }
    reclaim_now();
  }

 private:
  ThreadScope scope_;

 public:
  Millis now = kNow;
  Keyspace keyspace;
};

inline std::string key_of(std::uint64_t n) { return "key:" + std::to_string(n); }

}  // namespace nidus::engine

// SPDX-License-Identifier: Apache-2.0
#pragma once

// WATCH: which keys do clients wait on, and has one of them been written? A write looks here only
// when somebody watches at all (one relaxed load otherwise). The registry is striped by the key's
// hash; a watch is a flag that the first write of its key sets.
//
// Thread-safety: every call from every thread. Lock order: a key's index stripe before a registry
// stripe (touch() is called under the former).

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nidus::engine {

/// What one client watches; shared with the registry, so that a write may mark it at any time.
class WatchFlag {
 public:
  bool dirty() const {
    // acquire: pairs with the release in mark()
    return dirty_.load(std::memory_order_acquire);
  }
  void mark() {
    // release: pairs with the acquire in dirty()
    dirty_.store(true, std::memory_order_release);
  }

 private:
  std::atomic<bool> dirty_{false};
};

class WatchRegistry {
 public:
  using Flag = std::shared_ptr<WatchFlag>;

  /// From now on a write of the key marks the flag. Watching twice is harmless.
  void watch(int database, std::string_view key, std::uint64_t hash, const Flag& flag);
  /// Forgets every watch of this flag on this key.
  void unwatch(int database, std::string_view key, std::uint64_t hash, const Flag& flag);

  /// Called by every write under the key's stripe.
  void touch(int database, std::string_view key, std::uint64_t hash) {
    // relaxed: a watch taken after this write began need not see it; one taken before it is
    // ordered by the key's stripe, which WATCH takes too
    if (count_.load(std::memory_order_relaxed) != 0) touch_slow(database, key, hash);
  }
  /// Marks those watched keys of the database for which is_there says so (they are being cleared).
  void touch_all(int database,
                 const std::function<bool(std::string_view key, std::uint64_t hash)>& is_there);

 private:
  static constexpr std::size_t kStripes = 64;
  struct Stripe {
    std::mutex mutex;
    struct Watched {
      std::uint64_t hash = 0;
      std::vector<Flag> flags;
    };
    std::unordered_map<std::string, Watched> keys;
  };
  void touch_slow(int database, std::string_view key, std::uint64_t hash);
  static std::string name(int database, std::string_view key);
  Stripe& stripe(std::uint64_t hash) { return stripes_[hash % kStripes]; }

  std::atomic<std::uint64_t> count_{0};
  std::array<Stripe, kStripes> stripes_;
};

}  // namespace nidus::engine

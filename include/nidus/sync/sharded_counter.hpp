// SPDX-License-Identifier: Apache-2.0
#pragma once

// A counter that many threads bump without sharing a line: each thread adds to its own shard, a
// reader sums them. The sum is exact when nobody counts meanwhile.

#include <array>
#include <atomic>
#include <cstdint>

#include <nidus/base/platform.hpp>
#include <nidus/sync/thread_index.hpp>

namespace nidus::sync {

class ShardedCounter {
 public:
  /// Thread-safety: any thread. Cost: a load and a store of the thread's own line while there are
  /// no more threads than shards.
  void add(std::int64_t n) {
    // relaxed: a statistic; pairs with nothing
    shards_[thread_index() % kShards].value.fetch_add(n, std::memory_order_relaxed);
  }
  std::int64_t sum() const {
    std::int64_t total = 0;
    // relaxed: a statistic; pairs with nothing
    for (const auto& shard : shards_) total += shard.value.load(std::memory_order_relaxed);
    return total;
  }
  void reset() {
    // relaxed: a statistic; pairs with nothing
    for (auto& shard : shards_) shard.value.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kShards = 32;
  struct alignas(kCacheLineBytes) Shard {
    std::atomic<std::int64_t> value{0};
  };
  std::array<Shard, kShards> shards_;
};

}  // namespace nidus::sync

// SPDX-License-Identifier: Apache-2.0
#pragma once

// A counter that many threads bump without sharing a line: each of the first threads has a shard of
// its own, which only it writes; all later ones share shard 0. A reader sums them.
//
// Thread-safety: every call from every thread. The sum is exact when nobody counts meanwhile.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <nidus/base/platform.hpp>
#include <nidus/sync/thread_index.hpp>

namespace nidus::sync {

class ShardedCounter {
 public:
  static constexpr std::size_t kShards = 64;

  /// Cost: a load and a store of the thread's own line; an atomic addition beyond 63 threads.
  /// Returns what the shard holds afterwards.
  std::int64_t add(std::int64_t n) {
    const std::uint32_t thread = thread_index();
    if (thread >= kShards) {
      // relaxed: a statistic; pairs with nothing
      return shards_[0].value.fetch_add(n, std::memory_order_relaxed) + n;
    }
    auto& value = shards_[thread].value;
    // relaxed: only this thread writes the shard; a reader takes it as a statistic
    const std::int64_t sum = value.load(std::memory_order_relaxed) + n;
    value.store(sum, std::memory_order_relaxed);  // relaxed: same
    return sum;
  }

  /// The sum since the construction or the last reset().
  std::int64_t sum() const {
    // relaxed: a statistic; pairs with nothing
    return total() - base_.load(std::memory_order_relaxed);
  }

  /// Counts from 0 again. The shards stay as they are: they belong to their threads.
  void reset() {
    // relaxed: a statistic; pairs with nothing
    base_.store(total(), std::memory_order_relaxed);
  }

 private:
  std::int64_t total() const {
    std::int64_t total = 0;
    // relaxed: a statistic; pairs with nothing
    for (const auto& shard : shards_) total += shard.value.load(std::memory_order_relaxed);
    return total;
  }

  struct alignas(kCacheLineBytes) Shard {
    std::atomic<std::int64_t> value{0};
  };
  std::array<Shard, kShards> shards_;
  std::atomic<std::int64_t> base_{0};
};

}  // namespace nidus::sync

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one audited account of the engine's memory: items (as the allocator rounds them) and the
// index (segments and directories). What has been retired and waits for its readers is counted by
// thread.hpp. Connections' buffers are the server's account, kept apart so that slow readers never
// evict data.
//
// Thread-safety: every call from every thread.
// Invariant: over_limit() misses at most the slack of every other thread: each thread gathers its
// own part and adds it to the common total when it exceeds the slack (a 1024th of the limit, at
// most 64 KiB), so that writers share no line. The sums are exact.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <nidus/base/platform.hpp>
#include <nidus/sync/sharded_counter.hpp>

namespace nidus::engine {

class MemoryAccount {
 public:
  void add_items(std::int64_t bytes) {
    items_.add(bytes);
    pass_on(bytes);
  }
  void add_index(std::int64_t bytes) {
    index_.add(bytes);
    pass_on(bytes);
  }

  std::size_t item_bytes() const { return non_negative(items_.sum()); }
  std::size_t index_bytes() const { return non_negative(index_.sum()); }
  /// Items and index; not what waits for readers.
  std::size_t live_bytes() const { return item_bytes() + index_bytes(); }
  /// The highest total seen, to the slack.
  std::size_t peak_bytes() const {
    // relaxed: a statistic
    return std::max(peak_.load(std::memory_order_relaxed), live_bytes());
  }

  std::size_t limit() const {
    // relaxed: a setting; pairs with nothing
    return limit_.load(std::memory_order_relaxed);
  }
  /// 0: no limit.
  void set_limit(std::size_t bytes) {
    // relaxed (both): settings; pair with nothing
    limit_.store(bytes, std::memory_order_relaxed);
    slack_.store(
        bytes == 0 ? kMaxSlack : std::min(kMaxSlack, static_cast<std::int64_t>(bytes / 1024)),
        std::memory_order_relaxed);
  }
  /// Would so many more bytes exceed the limit?
  bool over_limit(std::size_t more_bytes = 0) const {
    const std::size_t limit_bytes = limit();
    if (limit_bytes == 0) return false;
    const std::uint32_t thread = sync::thread_index();
    // relaxed (both): statistics; eviction looks again at each write
    const std::int64_t mine =
        thread < pending_.size() ? pending_[thread].bytes.load(std::memory_order_relaxed) : 0;
    return total_.load(std::memory_order_relaxed) + mine + static_cast<std::int64_t>(more_bytes) >
           static_cast<std::int64_t>(limit_bytes);
  }

 private:
  static constexpr std::int64_t kMaxSlack = 64 << 10;
  static std::size_t non_negative(std::int64_t n) {
    return n < 0 ? 0 : static_cast<std::size_t>(n);
  }

  void pass_on(std::int64_t bytes) {
    const std::uint32_t thread = sync::thread_index();
    if (thread < pending_.size()) {
      // relaxed (all): only this thread uses its part
      auto& pending = pending_[thread].bytes;
      const std::int64_t sum = pending.load(std::memory_order_relaxed) + bytes;
      const std::int64_t slack = slack_.load(std::memory_order_relaxed);
      if (sum <= slack && sum >= -slack) {
        pending.store(sum, std::memory_order_relaxed);  // relaxed: same
        return;
      }
      pending.store(0, std::memory_order_relaxed);  // relaxed: same
      bytes = sum;
    }
    // relaxed: a statistic
    const std::int64_t now = total_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (now > static_cast<std::int64_t>(peak_.load(std::memory_order_relaxed))) {  // relaxed: same
      peak_.store(static_cast<std::size_t>(now), std::memory_order_relaxed);       // relaxed: same
    }
  }

  struct alignas(kCacheLineBytes) Pending {
    std::atomic<std::int64_t> bytes{0};
  };

  std::atomic<std::size_t> limit_{0};
  std::atomic<std::int64_t> slack_{kMaxSlack};
  std::atomic<std::size_t> peak_{0};
  alignas(kCacheLineBytes) std::atomic<std::int64_t> total_{0};
  std::array<Pending, sync::ShardedCounter::kShards> pending_;
  sync::ShardedCounter items_;
  sync::ShardedCounter index_;
};

}  // namespace nidus::engine

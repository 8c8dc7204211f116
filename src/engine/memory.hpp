// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one audited account of the engine's memory: items (as the allocator rounds them), the index
// (segments and directories), and what has been retired and waits for its readers. The limit
// applies to the sum. Connections' buffers are the server's account, kept apart so that slow
// readers never evict data.
//
// Thread-safety: every call from every thread. Each thread keeps its own part and passes it on when
// it exceeds kSlackBytes; so the sum may lag by kSlackBytes a thread.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <nidus/sync/sharded_counter.hpp>

namespace nidus::engine {

class MemoryAccount {
 public:
  void add_items(std::int64_t bytes) {
    items_.add(bytes);
    add(bytes);
  }
  void add_index(std::int64_t bytes) {
    index_.add(bytes);
    add(bytes);
  }

  std::size_t item_bytes() const { return non_negative(items_.sum()); }
  std::size_t index_bytes() const { return non_negative(index_.sum()); }
  /// Items and index; not what waits for readers.
  std::size_t live_bytes() const { return item_bytes() + index_bytes(); }
  std::size_t peak_bytes() const {
    // relaxed: a statistic
    return peak_.load(std::memory_order_relaxed);
  }

  std::size_t limit() const {
    // relaxed: a setting; pairs with nothing
    return limit_.load(std::memory_order_relaxed);
  }
  void set_limit(std::size_t bytes) {
    // relaxed: a setting; pairs with nothing
    limit_.store(bytes, std::memory_order_relaxed);
  }
  bool over_limit() const {
    const std::size_t limit_bytes = limit();
    // relaxed: a statistic
    return limit_bytes != 0 && total_.load(std::memory_order_relaxed) >
                                   static_cast<std::int64_t>(limit_bytes);
  }

 private:
  static std::size_t non_negative(std::int64_t n) {
    return n < 0 ? 0 : static_cast<std::size_t>(n);
  }
  void add(std::int64_t bytes) {
    // relaxed: a statistic; eviction looks again at each write
    const std::int64_t now = total_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (now > static_cast<std::int64_t>(peak_.load(std::memory_order_relaxed))) {  // relaxed: same
      peak_.store(static_cast<std::size_t>(now), std::memory_order_relaxed);       // relaxed: same
    }
  }

  std::atomic<std::size_t> limit_{0};
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::int64_t> total_{0};
  sync::ShardedCounter items_;
  sync::ShardedCounter index_;
};

}  // namespace nidus::engine

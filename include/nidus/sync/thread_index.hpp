// SPDX-License-Identifier: Apache-2.0
#pragma once

// A small dense number for each living thread, re-used after the thread ends: the owner of a lock,
// the shard of a counter.

#include <cstdint>
#include <mutex>
#include <vector>

namespace nidus::sync {
namespace detail {

struct ThreadSlotPool {
  std::mutex mutex;
  std::vector<std::uint32_t> free;
  std::uint32_t next = 1;
};

inline ThreadSlotPool& thread_slot_pool() {
  // Leaked on purpose: threads may end after static destruction has begun.
  static ThreadSlotPool* pool = new ThreadSlotPool;
  return *pool;
}

struct ThreadSlot {
  ThreadSlot() {
    auto& pool = thread_slot_pool();
    const std::lock_guard lock(pool.mutex);
    if (pool.free.empty()) {
      index = pool.next++;
    } else {
      index = pool.free.back();
      pool.free.pop_back();
    }
  }
  ~ThreadSlot() {
    auto& pool = thread_slot_pool();
    const std::lock_guard lock(pool.mutex);
    pool.free.push_back(index);
  }
  ThreadSlot(const ThreadSlot&) = delete;
  ThreadSlot& operator=(const ThreadSlot&) = delete;
  std::uint32_t index;
};

/// 0 until the thread has asked for its number.
inline constinit thread_local std::uint32_t cached_thread_index = 0;

inline std::uint32_t first_thread_index() {
  thread_local ThreadSlot slot;
  return cached_thread_index = slot.index;
}

}  // namespace detail

/// At least 1 and unique among living threads. Cost: one thread-local load after the first call.
inline std::uint32_t thread_index() {
  const std::uint32_t index = detail::cached_thread_index;
  return index != 0 ? index : detail::first_thread_index();
}

}  // namespace nidus::sync

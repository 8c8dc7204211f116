// SPDX-License-Identifier: Apache-2.0
#pragma once

// Threads and the reclaiming of memory under readers. A thread that uses the engine holds a
// ThreadScope. Pointers that it reads stay valid until it says quiescent() (or goes offline), and
// what a writer retires is freed once every registered thread has done so (liburcu, QSBR).
//
// Thread-safety: a ThreadScope belongs to its thread. Reclaim: retire() may be called by any
// registered thread; memory is freed by the thread that retired it, at a later quiescent state, so
// that the allocator stays on its fast path; a thread that ends leaves its rest to the reclaimer's
// own thread.

#include <chrono>
#include <cstddef>

namespace nidus::engine {

class ThreadScope {
 public:
  ThreadScope();
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

  /// No pointer from the engine is held: call after each batch. Cost: a few loads.
  static void quiescent();
  /// Around a wait of unknown length (epoll): the thread holds nothing until online().
  static void offline();
  static void online();
};

/// Frees object by free_it(object) when no thread can hold it any more. `bytes` is what it will
/// give back, for the account of memory that waits.
void retire(void* object, std::size_t bytes, void (*free_it)(void*));

/// Bytes retired and not yet freed, of all threads.
std::size_t retired_bytes();

/// Starts the grace period of what this thread has retired, without waiting for a batch to fill.
void hand_over_retired();

/// Gives memory that the allocator keeps for this thread back to the system. Call now and then, when
/// there is time: freed buffers of a burst stay otherwise. Cost: one look at each page of the
/// thread's heap.
void release_free_memory();

/// As reclaim_now(), but waits at most so long; what is still held then is freed later.
void reclaim_for(std::chrono::milliseconds at_most);

/// Waits until what this thread retired is freed. Counts as a quiescent state of this thread.
void reclaim_now();

}  // namespace nidus::engine

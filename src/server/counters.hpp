// SPDX-License-Identifier: Apache-2.0
#pragma once

// Figures that each server thread keeps of its own work and INFO adds up. Every counter has one
// writer, its thread, so that counting is a plain load and store without a locked instruction.
//
// Thread-safety: add() and set() by the owning thread; get() by every thread.

#include <atomic>
#include <cstdint>

namespace nidus::server {

class Counter {
 public:
  void add(std::uint64_t n) {
    // relaxed: a statistic with one writer; nothing is published by it
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void subtract(std::uint64_t n) { add(~n + 1); }
  void raise_to(std::uint64_t n) {
    if (n > get()) set(n);
  }
  void set(std::uint64_t n) {
    // relaxed: a statistic with one writer; nothing is published by it
    value_.store(n, std::memory_order_relaxed);
  }
  std::uint64_t get() const {
    // relaxed: a statistic; it may lag
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// What one thread counts. On its own cache lines, as its neighbours' counters move all the time.
struct alignas(128) WorkerCounters {
  Counter connections_received, connections_rejected;
  Counter requests;
  Counter input_bytes, output_bytes;
  Counter buffer_bytes;  // held now by clients of this thread: queries, replies, arguments
  Counter largest_input_bytes, largest_output_bytes;
  Counter query_limit_disconnections, output_limit_disconnections;
};

}  // namespace nidus::server

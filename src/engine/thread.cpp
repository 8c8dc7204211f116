// SPDX-License-Identifier: Apache-2.0

// Reclaiming memory under readers with liburcu's QSBR: retired objects are gathered into batches;
// a batch is handed to call_rcu(), whose thread gives it back after a grace period; the thread that
// retired it frees it at its next quiescent state. See thread.hpp.

#include "engine/thread.hpp"

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <urcu-qsbr.h>

namespace nidus::engine {
namespace {

constexpr std::size_t kBatchObjects = 256;
constexpr std::size_t kBatchBytes = std::size_t{256} << 10;

struct Retired {
  void* object;
  void (*free_it)(void*);
};

std::atomic<std::int64_t> waiting_bytes{0};

struct ThreadState;

struct Batch {
  rcu_head head;  // first: call_rcu() gives it back
  Batch* next = nullptr;
  std::shared_ptr<ThreadState> owner;
  std::vector<Retired> objects;
  std::size_t bytes = 0;

  void free_all() {
    for (const Retired& retired : objects) retired.free_it(retired.object);
    // relaxed: a statistic
    waiting_bytes.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
    objects.clear();
    bytes = 0;
  }
};

struct ThreadState : std::enable_shared_from_this<ThreadState> {
  std::atomic<Batch*> ready{nullptr};  // a stack of batches whose grace period is over
  std::atomic<bool> ended{false};
  std::unique_ptr<Batch> filling = std::make_unique<Batch>();
  std::vector<std::unique_ptr<Batch>> spare;
  int scopes = 0;

  void free_ready() {
    // acquire: pairs with the release in give_back()
    Batch* batch = ready.exchange(nullptr, std::memory_order_acquire);
    while (batch != nullptr) {
      std::unique_ptr<Batch> owned(batch);
      batch = owned->next;
      owned->free_all();
      owned->owner.reset();
      if (spare.size() < 16) spare.push_back(std::move(owned));
    }
  }

  void hand_over();
};

/// Runs in the library's thread, after the grace period.
void give_back(rcu_head* head) {
  auto* batch = reinterpret_cast<Batch*>(head);
  ThreadState& state = *batch->owner;
  // seq_cst: either this sees that the thread has ended, or the thread's last look at `ready`
  // sees this batch
  Batch* top = state.ready.load(std::memory_order_seq_cst);
  do {
    batch->next = top;
  } while (!state.ready.compare_exchange_weak(top, batch, std::memory_order_seq_cst));
  if (!state.ended.load(std::memory_order_seq_cst)) return;  // seq_cst: see above
  const std::shared_ptr<ThreadState> keep = batch->owner;
  keep->free_ready();
}

void ThreadState::hand_over() {
  if (filling->objects.empty()) return;
  Batch* batch = filling.release();
  batch->owner = shared_from_this();
  if (spare.empty()) {
    filling = std::make_unique<Batch>();
  } else {
    filling = std::move(spare.back());
    spare.pop_back();
  }
  call_rcu(&batch->head, give_back);
}

struct ThreadHandle {
  std::shared_ptr<ThreadState> state = std::make_shared<ThreadState>();
};

ThreadState& this_thread() {
  thread_local ThreadHandle handle;
  return *handle.state;
}

}  // namespace

ThreadScope::ThreadScope() {
  if (this_thread().scopes++ == 0) rcu_register_thread();
}

ThreadScope::~ThreadScope() {
  ThreadState& state = this_thread();
  if (--state.scopes != 0) return;
  state.hand_over();
  state.ended.store(true, std::memory_order_seq_cst);  // seq_cst: see give_back()
  rcu_unregister_thread();
  state.free_ready();
  state.spare.clear();
}

void ThreadScope::quiescent() {
  rcu_quiescent_state();
  ThreadState& state = this_thread();
  // relaxed: a hint; free_ready() acquires
  if (state.ready.load(std::memory_order_relaxed) != nullptr) state.free_ready();
}

void ThreadScope::offline() {
  ThreadState& state = this_thread();
  if (state.ready.load(std::memory_order_relaxed) != nullptr) state.free_ready();  // relaxed: same
  rcu_thread_offline();
}

void ThreadScope::online() { rcu_thread_online(); }

void retire(void* object, std::size_t bytes, void (*free_it)(void*)) {
  ThreadState& state = this_thread();
  assert(state.scopes > 0 && "retire() needs a ThreadScope");
  // relaxed: a statistic
  waiting_bytes.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  state.filling->objects.push_back({object, free_it});
  state.filling->bytes += bytes;
  if (state.filling->objects.size() >= kBatchObjects || state.filling->bytes >= kBatchBytes) {
    state.hand_over();
  }
}

std::size_t retired_bytes() {
  const std::int64_t bytes = waiting_bytes.load(std::memory_order_relaxed);  // relaxed: statistic
  return bytes < 0 ? 0 : static_cast<std::size_t>(bytes);
}

void reclaim_now() {
  ThreadState& state = this_thread();
  state.hand_over();
  rcu_barrier();
  state.free_ready();
}

}  // namespace nidus::engine

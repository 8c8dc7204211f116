// SPDX-License-Identifier: Apache-2.0

// Reclaiming memory under readers with liburcu's QSBR: retired objects are gathered into batches; a
// thread of this file, the reclaimer, waits for a grace period for all batches of one moment and
// gives each back; the thread that retired it frees it at its next quiescent state. (liburcu's own
// call_rcu() sleeps 10 ms at a time, too long under a memory limit.) See thread.hpp.

#include "engine/thread.hpp"

#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <mimalloc.h>
#include <urcu-qsbr.h>

#include <nidus/base/platform.hpp>

namespace nidus::engine {
namespace {

constexpr std::size_t kBatchObjects = 256;
constexpr std::size_t kBatchBytes = std::size_t{256} << 10;

// A thread that has retired more waits for the readers at its next quiescent state, for a while: who
// replaces large values faster than they can be freed is slowed down.
constexpr std::size_t kMostHeldBytes = std::size_t{64} << 20;
constexpr std::chrono::milliseconds kPatience{20};

struct Retired {
  void* object;
  void (*free_it)(void*);
};

std::atomic<std::int64_t> waiting_bytes{0};

/// A grace period orders every thread's reads before it with the freeing behind it, by barriers in
/// assembly that ThreadSanitizer cannot see; there, the same order once more, by an atomic.
void show_grace_period_to_tsan() {
#if NIDUS_TSAN
  static std::atomic<int> order{0};
  // acq_rel: each call pairs with all before it
  order.fetch_add(1, std::memory_order_acq_rel);
#endif
}

struct ThreadState;

struct Batch {
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
  std::atomic<std::size_t> held_bytes{0};  // retired by this thread and not yet freed

  /// `own`: the caller is the thread itself, which alone may keep the empty batches.
  void free_ready(bool own) {
    // acquire: pairs with the release in give_back()
    Batch* batch = ready.exchange(nullptr, std::memory_order_acquire);
    while (batch != nullptr) {
      std::unique_ptr<Batch> owned(batch);
      batch = owned->next;
      held_bytes.fetch_sub(owned->bytes, std::memory_order_relaxed);  // relaxed: a bound
      owned->free_all();
      owned->owner.reset();
      if (own && spare.size() < 16) spare.push_back(std::move(owned));
    }
  }

  void hand_over();
};

/// Runs in the reclaimer, after the grace period.
void give_back(Batch* batch) {
  const std::shared_ptr<ThreadState> state = batch->owner;
  // seq_cst: either this sees that the thread has ended, or the thread's last look at `ready`
  // sees this batch
  Batch* top = state->ready.load(std::memory_order_seq_cst);
  do {
    batch->next = top;
    // seq_cst: see above
  } while (!state->ready.compare_exchange_weak(top, batch, std::memory_order_seq_cst));
  if (state->ended.load(std::memory_order_seq_cst)) state->free_ready(false);  // seq_cst: above
}

class Reclaimer {
 public:
  /// Leaked on purpose: threads may retire until the process ends.
  static Reclaimer& instance() {
    static Reclaimer* reclaimer = new Reclaimer;
    return *reclaimer;
  }

  void submit(Batch* batch) {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) wake_.notify_one();
    waiting_.push_back(batch);
  }

  /// Waits until everything submitted before is given back, or the time is up. The caller is offline.
  void wait_for_all(std::chrono::milliseconds at_most) {
    std::unique_lock lock(mutex_);
    const std::uint64_t round = started_ + (waiting_.empty() ? 0 : 1);
    ++hurrying_;
    wake_.notify_one();
    done_.wait_for(lock, at_most, [&] { return finished_ >= round; });
    --hurrying_;
  }

 private:
  // Between two rounds, so that one grace period serves many batches.
  static constexpr std::chrono::milliseconds kPause{2};

  Reclaimer() {
    std::thread([this] { run(); }).detach();
  }

  void run() {
    std::vector<Batch*> round;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return !waiting_.empty(); });
      round.swap(waiting_);
      ++started_;
      lock.unlock();
      synchronize_rcu();
      show_grace_period_to_tsan();
      for (Batch* batch : round) give_back(batch);
      round.clear();
      lock.lock();
      finished_ = started_;
      done_.notify_all();
      wake_.wait_for(lock, kPause, [this] { return hurrying_ != 0; });
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<Batch*> waiting_;
  std::uint64_t started_ = 0, finished_ = 0;  // rounds
  int hurrying_ = 0;                          // threads in wait_for_all()
};

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
  Reclaimer::instance().submit(batch);
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
  ThreadState& state = this_thread();
  if (state.scopes++ != 0) return;
  // seq_cst: see give_back(); a thread may leave and come back
  state.ended.store(false, std::memory_order_seq_cst);
  rcu_register_thread();
}

ThreadScope::~ThreadScope() {
  ThreadState& state = this_thread();
  if (--state.scopes != 0) return;
  state.hand_over();
  state.ended.store(true, std::memory_order_seq_cst);  // seq_cst: see give_back()
  show_grace_period_to_tsan();
  rcu_unregister_thread();
  state.free_ready(true);
  state.spare.clear();
}

void ThreadScope::quiescent() {
  show_grace_period_to_tsan();
  rcu_quiescent_state();
  ThreadState& state = this_thread();
  // relaxed: a hint; free_ready() acquires
  if (state.ready.load(std::memory_order_relaxed) != nullptr) state.free_ready(true);
  // relaxed: a bound
  if (state.held_bytes.load(std::memory_order_relaxed) > kMostHeldBytes) [[unlikely]] {
    reclaim_for(kPatience);
  }
}

void ThreadScope::offline() {
  ThreadState& state = this_thread();
  // relaxed: a hint; free_ready() acquires
  if (state.ready.load(std::memory_order_relaxed) != nullptr) state.free_ready(true);
  show_grace_period_to_tsan();
  rcu_thread_offline();
}

void ThreadScope::online() { rcu_thread_online(); }

void retire(void* object, std::size_t bytes, void (*free_it)(void*)) {
  ThreadState& state = this_thread();
  assert(state.scopes > 0 && "retire() needs a ThreadScope");
  // relaxed: a statistic
  waiting_bytes.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  state.held_bytes.fetch_add(bytes, std::memory_order_relaxed);  // relaxed: a bound
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

void hand_over_retired() { this_thread().hand_over(); }

void release_free_memory() {
  hand_over_retired();  // a quiet thread's last batch would wait for ever
  mi_collect(true);
}

void reclaim_now() { reclaim_for(std::chrono::hours(1)); }

void reclaim_for(std::chrono::milliseconds at_most) {
  ThreadState& state = this_thread();
  state.hand_over();
  show_grace_period_to_tsan();
  rcu_thread_offline();
  Reclaimer::instance().wait_for_all(at_most);
  rcu_thread_online();
  state.free_ready(true);
}

}  // namespace nidus::engine

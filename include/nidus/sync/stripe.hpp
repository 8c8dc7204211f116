// SPDX-License-Identifier: Apache-2.0
#pragma once

// A stripe is a lock for writers together with a version for readers, in one word, beside the
// number of the owning thread so that a thread that holds the stripe may enter it again.
//
//   word: version (61 bits) | dead | locked | exclusive
//
// Thread-safety: every call from every thread, within what State says.
// State: free -> locked (one writer) -> free with the next version. A writer that changes several
//   stripes as one unit sets `exclusive`: then readers wait too. dead is final: what the stripe
//   guarded has been replaced, and whoever finds it dead looks for the successor.
// Validate: a reader takes a ticket, reads, and asks still_valid(ticket). Every write changes the
//   version before it unlocks; a writer that moves something calls bump() after it stands in its
//   new place and before it leaves the old one. So "not found" with a valid ticket is true. What a
//   reader does find needs no validation.
// Lock order: several stripes are locked in the order of their addresses.
// Invariant: the version never decreases, but for its wrap after 2^61 writes.

#include <atomic>
#include <cassert>
#include <cstdint>
#include <thread>

#include <nidus/base/platform.hpp>
#include <nidus/sync/pause_point.hpp>
#include <nidus/sync/thread_index.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nidus::sync {

/// Tells the core that this is a spin loop.
inline void spin_hint() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins for a while, then lets others run: a waiting thread may share its core with the owner.
class Backoff {
 public:
  void wait() {
    if (++turns_ < 64) {
      spin_hint();
    } else {
      std::this_thread::yield();
    }
  }

 private:
  int turns_ = 0;
};

class Stripe {
 public:
  using Ticket = std::uint64_t;

  // --- writers ---

  /// Waits until the stripe is this thread's. Requires: held_by_me() is false.
  void lock(bool exclusive = false) {
    Backoff backoff;
    while (!try_lock(exclusive)) backoff.wait();
  }

  bool try_lock(bool exclusive = false) {
    // relaxed: the exchange below orders
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    if ((word & kLocked) != 0) return false;
    const std::uint64_t next = word | kLocked | (exclusive ? kExclusive : 0);
    // acquire: pairs with the release in unlock(); seq_cst for exclusive: the mark must be visible
    // before this thread's first change
    if (!word_.compare_exchange_strong(
            word, next, exclusive ? std::memory_order_seq_cst : std::memory_order_acquire,
            std::memory_order_relaxed)) {
      return false;
    }
    // relaxed: only the owner itself must see its own number
    owner_.store(thread_index(), std::memory_order_relaxed);
    return true;
  }

  /// Ends a write: readers with older tickets look again if they found nothing.
  void unlock() {
    // relaxed: this thread wrote it or nobody's number matters
    owner_.store(0, std::memory_order_relaxed);
    // relaxed: only the holder writes the word while it is locked
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    // release: pairs with the acquire in try_lock() and ticket()
    word_.store((word & ~(kLocked | kExclusive)) + kVersion, std::memory_order_release);
  }

  /// Ends a hold that changed nothing.
  void unlock_unchanged() {
    // relaxed: see unlock()
    owner_.store(0, std::memory_order_relaxed);
    // relaxed: only the holder writes the word while it is locked
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    // release: pairs with the acquire in try_lock() and ticket()
    word_.store(word & ~(kLocked | kExclusive), std::memory_order_release);
  }

  /// Between "it stands in its new place" and "it leaves the old one". Requires: held.
  void bump() {
    // relaxed: only the holder writes the word while it is locked
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    // release: what was stored before is seen by a reader that sees this version; the caller's
    // next stores are releases themselves, so that whoever sees them sees this version too
    word_.store(word + kVersion, std::memory_order_release);
  }

  /// What the stripe guards has been replaced for good. Requires: held.
  void mark_dead() {
    // release: pairs with the acquire in still_valid(): who sees it finds the successor
    word_.fetch_or(kDead, std::memory_order_release);
  }

  bool held_by_me() const {
    // relaxed: a thread always sees its own last store
    return owner_.load(std::memory_order_relaxed) == thread_index();
  }

  bool dead() const {
    // acquire: pairs with mark_dead()
    return (word_.load(std::memory_order_acquire) & kDead) != 0;
  }

  // --- readers ---

  /// Waits while several stripes are being changed as one unit, then gives the version.
  Ticket ticket() const {
    // acquire: pairs with the releases in unlock() and bump()
    std::uint64_t word = word_.load(std::memory_order_acquire);
    if ((word & kExclusive) != 0 && !held_by_me() && !mutant(Mutant::kReaderIgnoresExclusive))
        [[unlikely]] {
      word = wait_until_free_of(kExclusive);
    }
    return word & ~kLocked;
  }

  /// True if nothing has left its place, and no write has ended, since the ticket.
  bool still_valid(Ticket ticket) const {
    // acquire: the caller's reads come before, being acquires or followed by an acquire fence
    return (word_.load(std::memory_order_acquire) & ~kLocked) == ticket;
  }

  /// For reads of several stripes as of one moment: waits for a write under way, too.
  Ticket quiet_ticket() const {
    // acquire: pairs with the release in unlock()
    const std::uint64_t word = word_.load(std::memory_order_acquire);
    if ((word & (kExclusive | kLocked)) == 0 || held_by_me()) return word;
    if (mutant(Mutant::kBatchIgnoresWriters)) return word;
    return wait_until_free_of(kExclusive | kLocked);
  }

  /// True if no write has begun since the quiet ticket.
  bool still_quiet(Ticket ticket) const {
    // acquire: as in still_valid()
    return word_.load(std::memory_order_acquire) == ticket;
  }

  static bool dead(Ticket ticket) { return (ticket & kDead) != 0; }

 private:
  static constexpr std::uint64_t kExclusive = 1;
  static constexpr std::uint64_t kLocked = 2;
  static constexpr std::uint64_t kDead = 4;
  static constexpr std::uint64_t kVersion = 8;

  NIDUS_NOINLINE std::uint64_t wait_until_free_of(std::uint64_t flags) const {
    Backoff backoff;
    for (;;) {
      // acquire: pairs with the release in unlock()
      const std::uint64_t word = word_.load(std::memory_order_acquire);
      if ((word & flags) == 0) return word;
      backoff.wait();
    }
  }

  std::atomic<std::uint64_t> word_{version_of_new_stripes() * kVersion};
  std::atomic<std::uint32_t> owner_{0};
};

}  // namespace nidus::sync

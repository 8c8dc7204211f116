// SPDX-License-Identifier: Apache-2.0

// The cache contract: when memory is short, the key with the lowest score leaves. Victims come
// first from the two buckets that the new key itself may use, so that its place becomes free at
// once, then from a bucket pair at a random place; only where few keys may leave at all (a volatile
// policy) are whole segments searched.
//
// Thread-safety: any thread that holds no Entry. Stripes are only tried: whoever is busy is passed.
// Invariant: with a limit, live bytes exceed it by at most one write a thread, and what waits for
// readers by at most a 128th of it.

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>

#include "engine/keyspace.hpp"
#include "engine/thread.hpp"

namespace nidus::engine {
namespace {

struct Victim {
  Bucket* bucket = nullptr;
  unsigned slot = 0;
  const Item* item = nullptr;
  std::uint64_t score = 0;
};

std::uint64_t next_random() {
  thread_local std::uint64_t state = std::random_device{}() | std::uint64_t{1} << 40;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/// Lowers `best` to the lowest score of one bucket; expired items come before all others.
void consider(Bucket& bucket, Policy policy, Millis now, Victim& best) {
  for (unsigned slot = 0; slot < Bucket::kSlots; ++slot) {
    const std::uint64_t word = bucket.load(slot);
    if (slot_word::tag(word) == 0) continue;
    const Item* item = slot_word::item(word);
    const auto value = item->expired(now) ? 0 : score(policy, *item, now, next_random());
    if (!value || (best.item != nullptr && *value >= best.score)) continue;
    best = {&bucket, slot, item, *value};
  }
}

/// Both buckets of a hash in its segment.
Victim lowest_candidate(Segment& segment, std::uint64_t hash, Policy policy, Millis now) {
  const std::uint64_t first = Geometry::bucket(hash, segment.bucket_mask);
  const std::uint64_t second = Geometry::alternate(first, Geometry::tag(hash), segment.bucket_mask);
  for (const std::uint64_t bucket : {first, second}) {  // their headers arrive side by side
    for (unsigned slot = 0; slot < Bucket::kSlots; ++slot) {
      const std::uint64_t word = segment.buckets[bucket].load(slot);
      if (slot_word::tag(word) != 0) lanes::prefetch(slot_word::item(word));
    }
  }
  Victim best;
  consider(segment.buckets[first], policy, now, best);
  consider(segment.buckets[second], policy, now, best);
  return best;
}

Victim lowest_of_segment(Segment& segment, Policy policy, Millis now) {
  Victim best;
  for (std::uint64_t b = 0; b <= segment.bucket_mask; ++b) {
    consider(segment.buckets[b], policy, now, best);
  }
  return best;
}

bool may_hold_victims(const Segment& segment, Policy policy) {
  // relaxed (both): hints
  return only_volatile(policy) ? segment.expiring.load(std::memory_order_relaxed) != 0
                               : segment.keys.load(std::memory_order_relaxed) != 0;
}

}  // namespace

/// Evicts one key from the segment of `hash`; false if it is busy or holds none that may leave.
bool Keyspace::evict_one(Database& database, std::uint64_t hash, Millis now) {
  const Policy policy = this->policy();
  Segment* segment = database.index_.segment_for(hash);
  if (!may_hold_victims(*segment, policy)) return false;
  const bool nested = segment->stripe.held_by_me();
  if (!nested && !segment->stripe.try_lock()) return false;
  bool evicted = false;
  if (!segment->stripe.dead()) {
    Victim victim = lowest_candidate(*segment, hash, policy, now);
    if (victim.item == nullptr) victim = lowest_of_segment(*segment, policy, now);
    if (victim.item != nullptr) {
      const KeyRef key = this->key(victim.item->key());
      segment->remove(*victim.bucket, victim.slot);
      removed(database, key, victim.item,
              victim.item->expired(now) ? Mutation::Kind::kExpired : Mutation::Kind::kEvicted);
      evicted = true;
    }
  }
  if (!nested) {
    if (evicted) {
      segment->stripe.unlock();
    } else {
      segment->stripe.unlock_unchanged();
    }
  }
  return evicted;
}

/// Evicts one key wherever one may leave, starting at a random place; false if there is none.
bool Keyspace::evict_anywhere(std::uint64_t random, Millis now) {
  const Policy policy = this->policy();
  for (std::size_t i = 0; i < databases_.size(); ++i) {
    Database& database = *databases_[(random + i) % databases_.size()];
    if (only_volatile(policy) ? database.expiring() == 0 : database.size() == 0) continue;
    // Random places first: they are cheap and fair; then every segment once.
    for (int tries = 0; tries < 8; ++tries) {
      if (evict_one(database, next_random(), now)) return true;
    }
    std::uint64_t hash = random;
    for (std::size_t left = database.index_.segment_count() + 1; left-- > 0;) {
      if (evict_one(database, hash, now)) return true;
      hash = database.index_.segment_for(hash)->end();  // on from the first behind the last
    }
  }
  return false;
}

/// Backpressure: whoever writes faster than readers let go of what was evicted waits, the longer the
/// more there is; never for long, because a reader may be in one long command.
void Keyspace::wait_for_readers() {
  const std::size_t step = memory_.limit() / 128 + 1;
  const std::size_t waiting = retired_bytes();
  // A thread that holds stripes of a transaction must not wait for readers: they may wait for it.
  if (waiting < step || Index::this_thread_holds_locks()) return;
  constexpr std::size_t kMostMs = 50;
  reclaim_for(std::chrono::milliseconds(std::min(waiting / step, kMostMs)));
}

bool Keyspace::evict_until_fits(Database& database, std::uint64_t hash, Millis now,
                                std::size_t bytes) {
  // What a clear() left goes before any key that is still there, and before a write is refused.
  // relaxed: a hint
  while (memory_.over_limit(bytes) && detached_segments_.load(std::memory_order_relaxed) != 0) {
    if (free_detached(Deadline::min())) continue;
    if (Index::this_thread_holds_locks()) break;
    wait_for_detached();
  }
  bool at_home = policy() != Policy::kNoEviction;
  while (memory_.over_limit(bytes)) {
    // The new key's own buckets give up one victim; more would empty them while others overflow.
    const bool evicted = at_home && evict_one(database, hash, now);
    at_home = false;
    if (evicted) continue;
    if (policy() == Policy::kNoEviction || !evict_anywhere(next_random(), now)) {
      if (!memory_.over_limit()) break;  // it fits once; the next write makes room for it
      counters_.out_of_memory.add(1);
      return false;
    }
    wait_for_readers();
  }
  wait_for_readers();
  return true;
}

/// After the limit was lowered: down to it, as far as the time goes.
void Keyspace::evict_down(Millis now, Deadline deadline) {
  while (memory_.over_limit() && policy() != Policy::kNoEviction) {
    for (int i = 0; i < 32 && memory_.over_limit(); ++i) {
      if (!evict_anywhere(next_random(), now)) return;
    }
    if (std::chrono::steady_clock::now() >= deadline) return;
  }
}

}  // namespace nidus::engine

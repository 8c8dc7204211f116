// SPDX-License-Identifier: Apache-2.0

// What happens without a client: expired keys leave, tables shrink after a flood was deleted, the
// memory limit is held after it was lowered, cleared databases are freed. All of it in slices of a
// given time; see Keyspace::maintain().
//
// Invariant: a segment's next_expiry is never later than its earliest expiry, so a segment is read
// only when something in it may have expired.

#include <algorithm>
#include <utility>

#include "engine/keyspace.hpp"
#include "engine/thread.hpp"

namespace nidus::engine {
namespace {

bool time_is_up(std::chrono::steady_clock::time_point deadline) {
  return std::chrono::steady_clock::now() >= deadline;
}

/// Worth a look: nearly empty and not of the smallest size.
bool nearly_empty(const Segment& segment) {
  // relaxed: a hint
  return segment.keys.load(std::memory_order_relaxed) * 4 <= segment.slots() &&
         segment.bucket_mask + 1 > Segment::kMinBuckets;
}

}  // namespace

/// Removes what has expired in one segment, whose stripe is held.
void Keyspace::expire_in(Database& database, Segment& segment, Millis now) {
  Millis earliest = kNoExpiry;
  for (std::uint64_t b = 0; b <= segment.bucket_mask; ++b) {
    Bucket& bucket = segment.buckets[b];
    if (b + 1 <= segment.bucket_mask) {
      for (unsigned slot = 0; slot < Bucket::kSlots; ++slot) {
        const std::uint64_t ahead = segment.buckets[b + 1].load(slot);
        if (slot_word::tag(ahead) != 0) lanes::prefetch(slot_word::item(ahead));
      }
    }
    for (unsigned slot = 0; slot < Bucket::kSlots; ++slot) {
      const std::uint64_t word = bucket.load(slot);
      if (slot_word::tag(word) == 0) continue;
      const Item* item = slot_word::item(word);
      if (!item->expired(now)) {
        earliest = std::min(earliest, item->expires_at());
        continue;
      }
      const KeyRef key = this->key(item->key());
      segment.remove(bucket, slot);
      removed(database, key, item, Mutation::Kind::kExpired);
    }
  }
  // relaxed: only the holder of the stripe writes it; readers take it as a hint
  segment.next_expiry.store(earliest, std::memory_order_relaxed);
}

/// One pass over a database from sweep_hash_ on; false if the time ran out first.
bool Keyspace::sweep(Database& database, Millis now, Deadline deadline) {
  Index& index = database.index_;
  for (unsigned looked = 0;; ++looked) {
    Segment* segment = index.segment_for(sweep_hash_);
    bool worked = false;
    // relaxed: a hint; an expiry that is being added is found in the next pass
    if (segment->next_expiry.load(std::memory_order_relaxed) <= now) {
      index.for_each_segment(sweep_hash_, [&](Segment& held) {
        expire_in(database, held, now);
        return false;
      });
      worked = true;
    }
    if (nearly_empty(*segment)) worked |= index.shrink(sweep_hash_);
    sweep_hash_ = index.segment_for(sweep_hash_)->end();
    if (sweep_hash_ == 0) return true;
    if ((worked || looked % 64 == 63) && time_is_up(deadline)) return false;
  }
}

bool Keyspace::maintain(Millis now, std::int64_t budget_us) {
  const std::unique_lock only_one(maintain_mutex_, std::try_to_lock);
  if (!only_one.owns_lock()) return false;
  const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(budget_us);
  evict_down(now, deadline);
  free_detached(deadline);
  for (int i = 0; i < kDatabases; ++i) {
    Database& database = *databases_[sweep_database_];
    if (!sweep(database, now, deadline)) return true;
    database.index_.shrink_directory();
    sweep_database_ = (sweep_database_ + 1) % databases_.size();
    if (time_is_up(deadline)) break;
  }
  // relaxed: a hint
  return detached_segments_.load(std::memory_order_relaxed) != 0;
}

// --- what clear() leaves ---

void Keyspace::bury(std::vector<Segment*> segments) {
  std::size_t bytes = 0;
  for (const Segment* segment : segments) bytes += segment->bytes();
  auto unreferenced = std::make_shared<std::atomic<bool>>(false);
  auto* ticket = new std::shared_ptr<std::atomic<bool>>(unreferenced);
  // A grace period from here on, no reader can hold what the segments hold.
  retire(ticket, bytes, [](void* object) {
    auto* passed = static_cast<std::shared_ptr<std::atomic<bool>>*>(object);
    (*passed)->store(true, std::memory_order_release);  // release: pairs with free_detached()
    delete passed;
  });
  // At once: the ticket is small, what hangs on it is not. And before the segments are listed:
  // wait_for_detached() relies on it.
  hand_over_retired();
  const std::lock_guard lock(detached_mutex_);
  // relaxed: a hint
  detached_segments_.fetch_add(segments.size(), std::memory_order_relaxed);
  detached_.push_back({std::move(segments), std::move(unreferenced)});
}

void Keyspace::wait_for_detached() {
  std::vector<std::shared_ptr<std::atomic<bool>>> tickets;
  {
    const std::lock_guard lock(detached_mutex_);
    for (const Detached& detached : detached_) tickets.push_back(detached.unreferenced);
  }
  // Their grace periods have begun; they end in here, while a ticket's own thread may be asleep.
  reclaim_now();
  // release: pairs with free_detached()
  for (const auto& ticket : tickets) ticket->store(true, std::memory_order_release);
}

void Keyspace::free_segment(Segment* segment) {
  std::int64_t bytes = 0;
  for (std::uint64_t b = 0; b <= segment->bucket_mask; ++b) {
    for (unsigned slot = 0; slot < Bucket::kSlots; ++slot) {
      const std::uint64_t word = segment->buckets[b].load(slot);
      if (slot_word::tag(word) == 0) continue;
      bytes += static_cast<std::int64_t>(slot_word::item(word)->allocated_bytes());
      Item::destroy(slot_word::item(word));
    }
  }
  memory_.add_items(-bytes);
  Segment::destroy(segment);
}

bool Keyspace::free_detached(Deadline deadline) {
  // relaxed: a hint; most calls end here
  if (detached_segments_.load(std::memory_order_relaxed) == 0) return true;
  bool freed = false;
  do {
    Segment* segment = nullptr;
    {
      const std::lock_guard lock(detached_mutex_);
      for (Detached& detached : detached_) {
        // acquire: pairs with the release above: every reader has passed
        if (!detached.unreferenced->load(std::memory_order_acquire)) continue;
        if (detached.segments.empty()) continue;
        segment = detached.segments.back();
        detached.segments.pop_back();
        detached_segments_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a hint
        break;
      }
      std::erase_if(detached_, [](const Detached& d) { return d.segments.empty(); });
    }
    if (segment == nullptr) return freed;
    free_segment(segment);
    freed = true;
  } while (!time_is_up(deadline));
  return true;
}

}  // namespace nidus::engine

// SPDX-License-Identifier: Apache-2.0

// How the index changes its shape: a full segment is replaced by one of twice the buckets or, at
// full size, by two; nearly empty ones shrink or are joined; the directory doubles and halves. A
// change always builds complete successors first, shows them in the directory, and then marks the
// old segment dead; readers of the old one go on meanwhile.
//
// Invariant: growth is refused when it cannot help: a segment that is not well filled, or whose
// keys do not part, holds keys whose hashes agree too much. So memory stays bounded by the number
// of keys, whatever the hash.

#include <algorithm>
#include <bit>
#include <new>

#include <nidus/sync/pause_point.hpp>

#include "engine/block_arena.hpp"
#include "engine/index.hpp"
#include "engine/thread.hpp"

namespace nidus::engine {

namespace {
// The set of stripes that this thread holds, for growth under a transaction.
thread_local Index::LockSet* current_lock_set = nullptr;
}  // namespace

Index::LockSet*& lock_set_of_this_thread() { return current_lock_set; }

Index::Index(Hasher hasher, MemoryAccount& memory) : hasher_(hasher), memory_(memory) {
  Segment* segment = Segment::create(Segment::kMinBuckets, 0, 0);
  memory_.add_index(static_cast<std::int64_t>(segment->bytes()));
  Directory* directory = make_directory(1);
  show(*directory, segment);
  directory_.store(directory, std::memory_order_release);  // release: pairs with segment_for()
}

Index::~Index() {
  Directory* directory = directory_.load(std::memory_order_acquire);  // acquire: the last owner
  for (std::size_t i = 0; i < directory->size();) {
    Segment* segment = directory->entries()[i].load(std::memory_order_acquire);  // acquire: same
    i += std::size_t{1} << (directory->bits - segment->local_bits);
    memory_.add_index(-static_cast<std::int64_t>(segment->bytes()));
    Segment::destroy(segment);
  }
  memory_.add_index(-static_cast<std::int64_t>(directory->bytes()));
  free_lines(directory);
}

Index::Directory* Index::make_directory(unsigned bits) {
  const std::size_t bytes =
      sizeof(Directory) + (std::size_t{1} << bits) * sizeof(std::atomic<Segment*>);
  auto* directory = new (allocate_lines(bytes)) Directory{bits, 64 - bits};
  for (std::size_t i = 0; i < directory->size(); ++i) {
    new (directory->entries() + i) std::atomic<Segment*>(nullptr);
  }
  memory_.add_index(static_cast<std::int64_t>(bytes));
  return directory;
}

void Index::retire_directory(Directory* directory) {
  memory_.add_index(-static_cast<std::int64_t>(directory->bytes()));
  retire(directory, directory->bytes(), free_lines);
}

void Index::retire_segment(Segment* segment) {
  memory_.add_index(-static_cast<std::int64_t>(segment->bytes()));
  retire(segment, segment->bytes(), [](void* p) { Segment::destroy(static_cast<Segment*>(p)); });
}

/// Enters a segment at all positions of its prefix.
void Index::show(Directory& directory, Segment* segment) {
  const std::size_t first = segment->prefix >> directory.shift;
  const std::size_t count = std::size_t{1} << (directory.bits - segment->local_bits);
  for (std::size_t i = first; i < first + count; ++i) {
    // release: pairs with segment_for(): the segment is complete
    directory.entries()[i].store(segment, std::memory_order_release);
  }
}

/// Places the keys of `from` into the new segments `to` by the bit in which these differ.
bool Index::fill(std::span<Segment* const> from, std::span<Segment* const> to) {
  const unsigned shift = 64 - to[0]->local_bits;
  for (const Segment* source : from) {
    for (std::uint64_t b = 0; b <= source->bucket_mask; ++b) {
      std::array<const Item*, Segment::kSlots> items;
      std::size_t count = 0;
      for (unsigned s = 0; s < Segment::kSlots; ++s) {
        if (b + 2 <= source->bucket_mask) {  // two buckets ahead: their items' headers and keys
          const std::uint64_t ahead = source->buckets[b + 2].load(s);
          if (slot_word::tag(ahead) != 0) lanes::prefetch(slot_word::item(ahead));
        }
        const std::uint64_t word = source->buckets[b].load(s);
        if (slot_word::tag(word) != 0) items[count++] = slot_word::item(word);
      }
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t hash = hasher_(*items[i]);
        const std::size_t which = to.size() == 1 ? 0 : (hash >> shift) & 1;
        if (!to[which]->place(hash, items[i])) return false;
      }
    }
  }
  return true;
}

/// Shows `fresh` (locked by this thread) instead of `old` (locked too), doubling the directory when
/// it is too coarse. False, and nothing changed, if that would make it out of all proportion.
bool Index::publish(std::span<Segment* const> old, std::span<Segment* const> fresh) {
  sync::pause_point(sync::PausePoint::kSplitBeforePublish);
  {
    const std::lock_guard lock(directory_mutex_);
    // relaxed: only written under the mutex
    Directory* directory = directory_.load(std::memory_order_relaxed);
    if (fresh[0]->local_bits > directory->bits) {
      // relaxed: a bound, not a count that must be exact
      const std::size_t segments = segments_.load(std::memory_order_relaxed);
      if (directory->size() > 64 * (segments + 1)) return false;
      Directory* larger = make_directory(directory->bits + 1);
      for (std::size_t i = 0; i < directory->size(); ++i) {
        // relaxed (all three): under the mutex, and not published yet
        Segment* segment = directory->entries()[i].load(std::memory_order_relaxed);
        larger->entries()[2 * i].store(segment, std::memory_order_relaxed);
        larger->entries()[2 * i + 1].store(segment, std::memory_order_relaxed);
      }
      for (Segment* segment : fresh) show(*larger, segment);
      directory_.store(larger, std::memory_order_release);  // release: pairs with segment_for()
      retire_directory(directory);
    } else {
      for (Segment* segment : fresh) show(*directory, segment);
    }
    segments_.fetch_add(fresh.size() - old.size(), std::memory_order_relaxed);  // relaxed: count
  }
  sync::pause_point(sync::PausePoint::kSplitAfterPublish);
  for (Segment* segment : old) segment->stripe.mark_dead();
  return true;
}

bool Index::grow(Locked& locked) {
  Segment* old = locked.segment_;
  const std::uint32_t keys = old->keys.load(std::memory_order_relaxed);  // relaxed: we hold it
  if (keys * 5 < old->slots() * 3) return false;  // under 60 %: the hash is at fault
  const bool split = old->bucket_mask + 1 == Segment::kMaxBuckets;
  if (split && old->local_bits >= kMaxLocalBits) return false;
  std::array<Segment*, 2> fresh{};
  const std::size_t count = split ? 2 : 1;
  const std::uint32_t buckets = split ? Segment::kMaxBuckets : 2 * (old->bucket_mask + 1);
  const unsigned bits = old->local_bits + (split ? 1 : 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t prefix = old->prefix + (i == 0 ? 0 : std::uint64_t{1} << (64 - bits));
    fresh[i] = Segment::create(buckets, prefix, bits);
    fresh[i]->stripe.lock(locked.nested_);
  }
  const std::array<Segment*, 1> olds{old};
  const std::span<Segment* const> successors(fresh.data(), count);
  bool helped = fill(olds, successors);
  if (helped && split) {
    // relaxed: ours alone
    const std::uint32_t first = fresh[0]->keys.load(std::memory_order_relaxed);
    helped = std::min(first, keys - first) >= keys / 8;
  }
  for (Segment* segment : successors) {
    memory_.add_index(static_cast<std::int64_t>(segment->bytes()));
  }
  if (!helped || !publish(olds, successors)) {
    for (Segment* segment : successors) {
      memory_.add_index(-static_cast<std::int64_t>(segment->bytes()));
      Segment::destroy(segment);
    }
    return false;
  }
  const std::size_t mine = count == 1 ? 0 : locked.hash_ >> (64 - bits) & 1;
  locked.segment_ = fresh[mine];
  if (locked.nested_) {
    lock_set_of_this_thread()->replace(old, fresh[0], fresh[1]);
  } else if (count == 2) {
    fresh[1 - mine]->stripe.unlock();
  }
  old->stripe.unlock();
  retire_segment(old);
  return true;
}

bool Index::shrink(std::uint64_t hash) {
  Segment* segment = segment_for(hash);
  if (segment->stripe.held_by_me()) return false;
  // relaxed: a hint, looked at again under the stripes
  const std::uint32_t keys = segment->keys.load(std::memory_order_relaxed);
  const bool full_size = segment->bucket_mask + 1 == Segment::kMaxBuckets;
  const bool join = full_size && segment->local_bits > 0;
  if (keys * 4 > segment->slots() || segment->bucket_mask + 1 == Segment::kMinBuckets) return false;
  std::array<Segment*, 2> old{segment, nullptr};
  std::size_t count = 1;
  if (join) {
    old[1] = segment_for(segment->prefix ^ (std::uint64_t{1} << (64 - segment->local_bits)));
    if (old[1]->local_bits != segment->local_bits || old[1]->stripe.held_by_me()) return false;
    count = 2;
  }
  // Whoever holds one stripe and wants another only tries: no order is needed.
  std::size_t held = 0;
  std::uint32_t total = 0;
  for (; held < count; ++held) {
    if (!old[held]->stripe.try_lock()) break;
    total += old[held]->keys.load(std::memory_order_relaxed);  // relaxed: we hold it
  }
  const bool still =
      held == count && !old[0]->stripe.dead() &&
      (count == 1 || (!old[1]->stripe.dead() && old[1]->bucket_mask == old[0]->bucket_mask));
  const std::uint32_t buckets = join ? Segment::kMaxBuckets : (segment->bucket_mask + 1) / 2;
  if (!still || total * 2 > buckets * Segment::kSlots) {
    for (std::size_t i = 0; i < held; ++i) old[i]->stripe.unlock_unchanged();
    return false;
  }
  const std::uint64_t prefix = join ? std::min(old[0]->prefix, old[1]->prefix) : segment->prefix;
  Segment* fresh = Segment::create(buckets, prefix, segment->local_bits - (join ? 1 : 0));
  fresh->stripe.lock();
  const std::span<Segment* const> olds(old.data(), count);
  const std::span<Segment* const> successor(&fresh, 1);
  memory_.add_index(static_cast<std::int64_t>(fresh->bytes()));
  const bool done = fill(olds, successor) && publish(olds, successor);
  fresh->stripe.unlock();
  for (Segment* s : olds) s->stripe.unlock();
  if (done) {
    for (Segment* s : olds) retire_segment(s);
  } else {
    memory_.add_index(-static_cast<std::int64_t>(fresh->bytes()));
    Segment::destroy(fresh);
  }
  return done;
}

void Index::shrink_directory() {
  const std::lock_guard lock(directory_mutex_);
  for (;;) {
    Directory* directory = directory_.load(std::memory_order_relaxed);  // relaxed: under the mutex
    if (directory->bits == 1) return;
    for (std::size_t i = 0; i < directory->size(); i += 2) {
      // relaxed: under the mutex
      if (directory->entries()[i].load(std::memory_order_relaxed)->local_bits == directory->bits) {
        return;
      }
    }
    Directory* smaller = make_directory(directory->bits - 1);
    for (std::size_t i = 0; i < smaller->size(); ++i) {
      // relaxed (both): under the mutex, and not published yet
      smaller->entries()[i].store(directory->entries()[2 * i].load(std::memory_order_relaxed),
                                  std::memory_order_relaxed);
    }
    directory_.store(smaller, std::memory_order_release);  // release: pairs with segment_for()
    retire_directory(directory);
  }
}

std::vector<Segment*> Index::detach_all() {
  std::vector<Segment*> old;
  Segment* fresh = Segment::create(Segment::kMinBuckets, 0, 0);
  fresh->stripe.lock(true);
  const std::lock_guard lock(directory_mutex_);
  Directory* directory = directory_.load(std::memory_order_relaxed);  // relaxed: under the mutex
  for (std::size_t i = 0; i < directory->size();) {
    // relaxed: under the mutex
    Segment* segment = directory->entries()[i].load(std::memory_order_relaxed);
    i += std::size_t{1} << (directory->bits - segment->local_bits);
    memory_.add_index(-static_cast<std::int64_t>(segment->bytes()));
    old.push_back(segment);
  }
  Directory* smallest = make_directory(1);
  show(*smallest, fresh);
  memory_.add_index(static_cast<std::int64_t>(fresh->bytes()));
  directory_.store(smallest, std::memory_order_release);  // release: pairs with segment_for()
  segments_.store(1, std::memory_order_relaxed);          // relaxed: a count
  for (Segment* segment : old) segment->stripe.mark_dead();
  for (std::size_t i = 0; i < old.size(); ++i) {
    lock_set_of_this_thread()->replace(old[i], i == 0 ? fresh : nullptr, nullptr);
    old[i]->stripe.unlock();
  }
  retire_directory(directory);
  return old;
}

}  // namespace nidus::engine

// SPDX-License-Identifier: Apache-2.0
#pragma once

// A segment: the buckets of one range of hashes, with one stripe. Both buckets of a key lie in it,
// so whatever a writer does to a key needs this one stripe, and a full segment is replaced alone.
//
//   slot word: tag (16) | item address / 8 (45) | spare | guest | mark
//     tag    0: no key here (the mark may still be set)
//     guest  the key stands in its second bucket
//     mark   of the BUCKET, not of the slot's key: slot c's mark says "a key of class c whose first
//            bucket is this one may stand in its second"; so most misses read one line
//
// Thread-safety: readers probe without the stripe (see sync/stripe.hpp, Validate); writers hold it.
// Publish: a slot word is stored with release after the item is complete.
// Invariant: a mark is set before its key leaves the first bucket; every key stands once, or, while
//   it is being moved, twice.

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <nidus/base/platform.hpp>
#include <nidus/lanes/slots.hpp>
#include <nidus/map/geometry.hpp>
#include <nidus/map/path_search.hpp>
#include <nidus/sync/stripe.hpp>

#include "engine/item.hpp"

namespace nidus::engine {

using map::Geometry;

namespace slot_word {
inline constexpr std::uint64_t kMark = 1;
inline constexpr std::uint64_t kGuest = 2;
inline constexpr std::uint64_t kAddress = ((std::uint64_t{1} << 48) - 1) & ~std::uint64_t{7};

inline std::uint16_t tag(std::uint64_t word) {
  return static_cast<std::uint16_t>(word >> lanes::kTagShift);
}
inline bool guest(std::uint64_t word) { return (word & kGuest) != 0; }
inline Item* item(std::uint64_t word) { return reinterpret_cast<Item*>(word & kAddress); }
inline std::uint64_t make(const Item* item, std::uint16_t tag, bool is_guest) {
  return reinterpret_cast<std::uint64_t>(item) |
         (static_cast<std::uint64_t>(tag) << lanes::kTagShift) | (is_guest ? kGuest : 0);
}
}  // namespace slot_word

struct alignas(kCacheLineBytes) Bucket {
  static constexpr unsigned kSlots = lanes::kSlotsPerBucket;
  std::array<std::atomic<std::uint64_t>, kSlots> slots;

  const std::uint64_t* words() const { return reinterpret_cast<const std::uint64_t*>(this); }
  std::uint64_t load(unsigned slot) const {
    // acquire: pairs with the release in store(): the item behind the word is complete
    return slots[slot].load(std::memory_order_acquire);
  }
  bool marked(unsigned overflow_class) const {
    return (load(overflow_class) & slot_word::kMark) != 0;
  }
  unsigned match(std::uint16_t tag) const { return lanes::Slots::match(words(), tag); }
  int empty_slot() const {
    const unsigned empty = match(0);
    return empty == 0 ? -1 : std::countr_zero(empty);
  }

  // Writers, under the stripe:
  /// Puts a key's word into a slot, keeping the bucket's mark there. 0 empties the slot.
  void store(unsigned slot, std::uint64_t word) {
    // relaxed: only the holder of the stripe writes
    const std::uint64_t mark = slots[slot].load(std::memory_order_relaxed) & slot_word::kMark;
    // release: pairs with the acquire in load()
    slots[slot].store((word & ~slot_word::kMark) | mark, std::memory_order_release);
  }
  void set_mark(unsigned overflow_class, bool on) {
    // relaxed: only the holder of the stripe writes
    const std::uint64_t word = slots[overflow_class].load(std::memory_order_relaxed);
    // release: whoever sees a later store of this writer sees the mark
    slots[overflow_class].store((word & ~slot_word::kMark) | (on ? slot_word::kMark : 0),
                                std::memory_order_release);
  }
};
static_assert(sizeof(Bucket) == kCacheLineBytes);

struct alignas(kCacheLineBytes) Segment {
  static constexpr unsigned kSlots = Bucket::kSlots;
  static constexpr std::uint32_t kMinBuckets = 4;
  static constexpr std::uint32_t kMaxBuckets = 256;  // 16 KiB, 2048 slots

  /// Errors: std::bad_alloc.
  static Segment* create(std::uint32_t buckets, std::uint64_t prefix, unsigned local_bits);
  /// Frees the segment, not its items.
  static void destroy(Segment* segment);
  static std::size_t bytes_for(std::uint32_t buckets) {
    return sizeof(Segment) + std::size_t{buckets} * sizeof(Bucket);
  }
  std::size_t bytes() const { return bytes_for(bucket_mask + 1); }

  sync::Stripe stripe;
  Bucket* buckets = nullptr;
  std::uint32_t bucket_mask = 0;
  std::uint32_t local_bits = 0;  // how many leading bits all hashes here share
  std::uint64_t prefix = 0;      // the lowest hash of the range
  std::atomic<std::uint32_t> keys{0};
  std::atomic<std::uint32_t> expiring{0};
  std::atomic<Millis> next_expiry{kNoExpiry};  // no key here expires before it
  std::uint32_t departures = 0;                // guests that left since the marks were last exact

  /// The first hash behind the segment's range; 0 behind the last segment.
  std::uint64_t end() const {
    return local_bits == 0 ? 0 : prefix + (std::uint64_t{1} << (64 - local_bits));
  }
  Bucket& first_bucket(std::uint64_t hash) const {
    return buckets[Geometry::bucket(hash, bucket_mask)];
  }
  std::uint32_t slots() const { return (bucket_mask + 1) * kSlots; }

  // The view that map::find_path() searches; under the stripe.
  int empty_slot(std::uint64_t bucket) const { return buckets[bucket].empty_slot(); }
  std::uint64_t alternate(std::uint64_t bucket, unsigned slot) const {
    return Geometry::alternate(bucket, slot_word::tag(buckets[bucket].load(slot)), bucket_mask);
  }

  /// Places a key that is not here yet; false when no path to an empty slot exists (or the segment
  /// is so full that the search is not worth it). Requires: the stripe.
  bool place(std::uint64_t hash, const Item* item);
  /// Empties a slot. Requires: the stripe; the slot holds a key.
  void remove(Bucket& bucket, unsigned slot);
  /// Counts a key in or out.
  void account(const Item& item, int sign);
  /// Makes the overflow marks exact again. Cost: one pass over the slots; no item is read.
  void refresh_marks();

 private:
  void move(map::Place from, map::Place to);
};

}  // namespace nidus::engine

// SPDX-License-Identifier: Apache-2.0
#pragma once

// A segment of a ConcurrentMap: the buckets of one range of hashes and the stripe that guards them.
// Both buckets of a key lie in its segment, so whatever is done to a key needs this one stripe, and
// a full segment is replaced alone.
//
//   hash: [ directory index, from the top | ... | bucket (bits 16..) | tag (16) ]
//
// Segment is what readers and writers share and lives as long as the map; SegmentBuckets is one
// thread's view of its buckets: what CuckooTable is to CuckooMap, for buckets that others read.
//
// Thread-safety: fields other than the stripe and the atomics are read and written under the
//   stripe.
// Validate: a reader takes a quiet ticket, then reads range and block, then buckets, and asks
//   still_quiet(). What it read in between is true at one moment, or is thrown away.
// Invariant: a guest's class is marked in its first bucket; a mark without a guest costs a look.

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <nidus/lanes/shared_words.hpp>
#include <nidus/lanes/slots.hpp>
#include <nidus/map/geometry.hpp>
#include <nidus/map/path_search.hpp>
#include <nidus/map/policy.hpp>
#include <nidus/sync/stripe.hpp>

namespace nidus::map {

/// Where a segment's buckets are: address and number in one word, so that a reader has both or
/// none.
template <class Bucket>
struct Block {
  Bucket* buckets;
  unsigned log2;

  std::uint64_t mask() const { return (std::uint64_t{1} << log2) - 1; }
  std::uintptr_t word() const { return reinterpret_cast<std::uintptr_t>(buckets) | log2; }
  static Block of(std::uintptr_t word) {
    return {reinterpret_cast<Bucket*>(word & ~std::uintptr_t{63}),
            static_cast<unsigned>(word & 63)};
  }
};

template <class Bucket>
struct alignas(kCacheLineBytes) Segment {
  sync::Stripe stripe;
  std::atomic<std::uintptr_t> block{nothing()};
  std::atomic<std::uint64_t> prefix{0};       // of the hashes that live here,
  std::atomic<std::uint64_t> prefix_mask{0};  // in these upper bits
  std::atomic<std::uint64_t> size{0};
  std::uint32_t departures = 0;  // guests that left since the marks were exact

  bool covers(std::uint64_t hash) const {
    // acquire, twice: before the buckets are read; pairs with set_range()
    const std::uint64_t bits = prefix_mask.load(std::memory_order_acquire);
    return ((hash ^ prefix.load(std::memory_order_acquire)) & bits) == 0;  // acquire: same
  }
  Block<Bucket> load_block() const {
    // acquire: pairs with set_block(): the bytes of the block are initialised
    return Block<Bucket>::of(block.load(std::memory_order_acquire));
  }
  void set_block(Block<Bucket> to) {
    block.store(to.word(), std::memory_order_release);  // release: after the block's contents
  }
  void set_range(std::uint64_t first, std::uint64_t bits) {
    prefix.store(first, std::memory_order_release);      // release: after the lock was taken
    prefix_mask.store(bits, std::memory_order_release);  // release: same
  }
  bool has_buckets() const {
    // relaxed: asked by the holder of the stripe
    return block.load(std::memory_order_relaxed) != nothing();
  }
  std::uint64_t count() const {
    return size.load(std::memory_order_relaxed);  // relaxed: a statistic, or under the stripe
  }
  void set_count(std::uint64_t n) {
    size.store(n, std::memory_order_relaxed);  // relaxed: only the holder of the stripe writes
  }

  /// What an empty segment looks up in: one bucket without a key or a mark. Nobody writes it.
  NIDUS_NOINLINE static std::uintptr_t nothing() {
    alignas(kCacheLineBytes) static constinit std::byte bytes[sizeof(Bucket)] = {};
    return reinterpret_cast<std::uintptr_t>(&bytes);
  }
};

/// A place in a segment; slot kAbsent: none.
struct Spot {
  static constexpr int kAbsent = -1;
  std::uint64_t bucket;
  int slot;
  explicit operator bool() const { return slot >= 0; }
};

template <class Bucket, class Allocator>
struct Functions {
  [[no_unique_address]] typename Bucket::Hasher hasher;
  [[no_unique_address]] typename Bucket::Equality equality;
  [[no_unique_address]] Allocator allocator;
};

template <class B, class Policy, class Allocator, bool kOptimistic>
class SegmentBuckets {
 public:
  using Bucket = B;
  static constexpr unsigned kSlots = B::kSlots;
  /// Whether the second bucket of a key can be told without a hash that might throw.
  static constexpr bool kSureAlternate =
      B::kNothrowHash || Policy::kAlternate == Alternate::kPartialKey;

  SegmentBuckets(Block<B> block, const Functions<B, Allocator>& functions)
      : buckets_(block.buckets), mask_(block.mask()), functions_(functions) {}

  std::uint64_t mask() const { return mask_; }
  std::uint64_t slots() const { return (mask_ + 1) * kSlots; }
  B& bucket(std::uint64_t index) const { return buckets_[index]; }
  std::uint64_t first(std::uint64_t hash) const { return Geometry::bucket(hash, mask_); }
  std::uint64_t second(std::uint64_t hash) const {
    if constexpr (Policy::kAlternate == Alternate::kSecondHash) {
      return Geometry::alternate_by_hash(first(hash), hash, mask_);
    } else {
      return Geometry::alternate(first(hash), Geometry::tag(hash), mask_);
    }
  }
  bool overflows(std::uint64_t hash) const {
    return buckets_[first(hash)].marked(Geometry::overflow_class(Geometry::tag(hash)));
  }
  void prefetch(std::uint64_t index) const {
    for (std::size_t at = 0; at < (sizeof(B) < 128 ? sizeof(B) : 128); at += kCacheLineBytes) {
      lanes::prefetch(reinterpret_cast<const char*>(buckets_ + index) + at);
    }
  }

  // --- reading: under the stripe, or to be validated ---

  template <class K>
  Spot find(const K& key, std::uint64_t hash) const {
    const Spot home = find_in(first(hash), false, key, hash);
    if (home || !overflows(hash)) [[likely]]
      return home;
    return find_in(second(hash), true, key, hash);
  }
  template <class K>
  Spot find_in(std::uint64_t index, bool is_second, const K& key, std::uint64_t hash) const {
    const B& bucket = buckets_[index];
    if constexpr (B::kExact || !kOptimistic) {
      return {index, bucket.find(functions_.equality, key, hash, mask_, is_second)};
    } else {  // as TaggedBucket::find, of keys that others may write
      using Lanes = typename B::Lanes;
      unsigned found = Lanes::template match_tags<kSlots>(bucket.tags.data(), Geometry::tag(hash));
      for (; found != 0; found &= found - 1) {
        const int slot = std::countr_zero(found);
        decltype(B::Slot::key) stored;
        load_member(bucket.at(static_cast<unsigned>(slot))->key, stored);
        if (functions_.equality(stored, key)) [[likely]]
          return {index, slot};
      }
      return {index, Spot::kAbsent};
    }
  }
  /// The value there, which may be torn until the version is checked, as bytes.
  template <class Value>
  void load_value(Spot at, std::byte (&bytes)[sizeof(Value)]) const {
    lanes::load_object<kValueWord<Value>, sizeof(Value)>(value(at), bytes);
  }

  auto* value(Spot at) const { return buckets_[at.bucket].value(static_cast<unsigned>(at.slot)); }
  bool guest(Spot at) const { return buckets_[at.bucket].guest(static_cast<unsigned>(at.slot)); }
  decltype(auto) key(Spot at) const {
    return buckets_[at.bucket].key(static_cast<unsigned>(at.slot), at.bucket, mask_);
  }
  std::uint64_t hash_of(Spot at) const {
    return buckets_[at.bucket].hash_of(functions_.hasher, static_cast<unsigned>(at.slot), at.bucket,
                                       mask_);
  }
  /// Calls visit(spot) for every key; it may vacate the spot.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint64_t i = 0; i <= mask_; ++i) {
      for (unsigned used = buckets_[i].used(); used != 0; used &= used - 1) {
        visit(Spot{i, std::countr_zero(used)});
      }
    }
  }

  // The view that find_path() and find_walk() search.
  int empty_slot(std::uint64_t index) const {
    const unsigned empty = buckets_[index].empty();
    return empty == 0 ? Spot::kAbsent : std::countr_zero(empty);
  }
  std::uint64_t alternate(std::uint64_t index, unsigned slot) const {
    return buckets_[index].alternate(functions_.hasher, slot, index, mask_);
  }

  // --- changing: under the stripe ---

  void reset() const {
    for (std::uint64_t i = 0; i <= mask_; ++i) buckets_[i].reset();
  }

  /// An empty slot for a new key, its first bucket before its second, others displaced if need be.
  Spot place(std::uint64_t hash) const;

  /// Puts an element into an empty slot.
  template <class K, class Value>
  void put(Spot at, std::uint64_t hash, K&& key, Value&& value) const {
    B& bucket = buckets_[at.bucket];
    const auto slot = static_cast<unsigned>(at.slot);
    if constexpr (kOptimistic) {
      if constexpr (!B::kExact) store_member(bucket.at(slot)->key, key);
      store_value(at, value);
    } else {
      Allocator allocator = functions_.allocator;
      bucket.construct(allocator, slot, std::forward<K>(key), std::forward<Value>(value));
    }
    occupy(at, hash);
  }
  template <class Value>
  void store_value(Spot at, const Value& value) const {
    lanes::store_object<kValueWord<Value>, sizeof(Value)>(this->value(at), &value);
  }
  /// Empties a slot. True if its key was a guest: its mark may be stale now.
  bool remove(Spot at) const {
    B& bucket = buckets_[at.bucket];
    const auto slot = static_cast<unsigned>(at.slot);
    const bool was_guest = bucket.guest(slot);
    if constexpr (!kOptimistic) {
      Allocator allocator = functions_.allocator;
      bucket.destroy(allocator, slot);
    }
    bucket.vacate(slot);
    return was_guest;
  }
  /// Takes an element from another view's slot into an empty one of this view.
  void take(const SegmentBuckets& from, Spot source, Spot to, std::uint64_t hash) const {
    from.bucket(source.bucket)
        .hand_over(static_cast<unsigned>(source.slot), [&](auto& key, auto& value) {
          put(to, hash, std::move(key), std::move(value));
        });
    from.remove(source);
  }

  /// Sends guests home where there is room, and makes the marks exact.
  void tidy() const;

 private:
  template <class Value>
  static constexpr std::size_t kValueWord = lanes::word_bytes(sizeof(Value),
                                                              B::kExact ? 8 : alignof(Value));
  template <class T>
  static void load_member(const T& from, T& to) {
    lanes::load_object<lanes::word_bytes(sizeof(T), alignof(T)), sizeof(T)>(&from, &to);
  }
  template <class T>
  static void store_member(T& to, const T& from) {
    lanes::store_object<lanes::word_bytes(sizeof(T), alignof(T)), sizeof(T)>(&to, &from);
  }

  void occupy(Spot at, std::uint64_t hash) const {
    const std::uint64_t home = first(hash);
    const bool guest = at.bucket != home;
    if (guest) buckets_[home].set_mark(Geometry::overflow_class(Geometry::tag(hash)));
    buckets_[at.bucket].occupy(static_cast<unsigned>(at.slot), hash, mask_, guest);
  }
  void move(Spot from, Spot to) const;
  int send_a_guest_home(std::uint64_t index) const;

  B* buckets_;
  std::uint64_t mask_;
  const Functions<B, Allocator>& functions_;
};

template <class B, class P, class A, bool kOptimistic>
void SegmentBuckets<B, P, A, kOptimistic>::move(Spot from, Spot to) const {
  const bool goes_home = guest(from);
  const auto tag = buckets_[from.bucket].tag(static_cast<unsigned>(from.slot));
  buckets_[from.bucket].hand_over(static_cast<unsigned>(from.slot), [&](auto& key, auto& value) {
    if constexpr (B::kExact) {
      put(to, hash_of(from), std::move(key), std::move(value));
    } else {  // the tag is all of the hash that its new bucket keeps
      B& target = buckets_[to.bucket];
      const auto slot = static_cast<unsigned>(to.slot);
      if constexpr (kOptimistic) {
        store_member(target.at(slot)->key, key);
        store_value(to, value);
      } else {
        A allocator = functions_.allocator;
        target.construct(allocator, slot, std::move(key), std::move(value));
      }
      if (!goes_home) buckets_[from.bucket].set_mark(Geometry::overflow_class(tag));
      target.occupy(slot, tag, mask_, !goes_home);
    }
  });
  remove(from);
}

template <class B, class P, class A, bool kOptimistic>
int SegmentBuckets<B, P, A, kOptimistic>::send_a_guest_home(std::uint64_t index) const {
  for (unsigned guests = buckets_[index].guests(); guests != 0; guests &= guests - 1) {
    const int slot = std::countr_zero(guests);
    const std::uint64_t home = alternate(index, static_cast<unsigned>(slot));
    if (const int empty = empty_slot(home); empty >= 0) {
      move({index, slot}, {home, empty});
      return slot;
    }
  }
  return Spot::kAbsent;
}

template <class B, class P, class A, bool kOptimistic>
Spot SegmentBuckets<B, P, A, kOptimistic>::place(std::uint64_t hash) const {
  const std::uint64_t home = first(hash);
  if (const int slot = empty_slot(home); slot >= 0) return {home, slot};
  if (const int slot = send_a_guest_home(home); slot >= 0) return {home, slot};
  const auto take = [this](const auto& path) -> Spot {
    if (path.length == 0) return {0, Spot::kAbsent};
    for (std::size_t i = path.length - 1; i-- > 0;) {
      move({path.places[i].bucket, static_cast<int>(path.places[i].slot)},
           {path.places[i + 1].bucket, static_cast<int>(path.places[i + 1].slot)});
    }
    return {path.places[0].bucket, static_cast<int>(path.places[0].slot)};
  };
  if constexpr (P::kSearch == Search::kRandomWalk) {
    std::uint64_t state = hash | 1;
    auto random = [&state] {  // xorshift64: which way the walk turns
      state ^= state << 13;
      state ^= state >> 7;
      return state ^= state << 17;
    };
    return take(find_walk(*this, home, second(hash), random));
  } else {
    return take(find_path<P::kSearchBuckets>(*this, home, second(hash)));
  }
}

template <class B, class P, class A, bool kOptimistic>
void SegmentBuckets<B, P, A, kOptimistic>::tidy() const {
  for (std::uint64_t i = 0; i <= mask_; ++i) buckets_[i].clear_marks();
  for (std::uint64_t i = 0; i <= mask_; ++i) {
    for (unsigned guests = buckets_[i].guests(); guests != 0; guests &= guests - 1) {
      const int slot = std::countr_zero(guests);
      const std::uint64_t home = alternate(i, static_cast<unsigned>(slot));
      if (const int empty = empty_slot(home); empty >= 0) {
        move({i, slot}, {home, empty});
      } else {
        const auto tag = buckets_[i].tag(static_cast<unsigned>(slot));
        buckets_[home].set_mark(Geometry::overflow_class(tag));
      }
    }
  }
}

}  // namespace nidus::map

// SPDX-License-Identifier: Apache-2.0
#pragma once

// A bucket for keys of any type: 16-bit tags, compared as one vector, filter the keys that are
// compared for real.
//
//   | tag 0 .. tag kSlots-1 | marks | guests | key 0, value 0 | key 1, value 1 | ...
//
//     tag    0: no key here
//     marks  bit c: a key of class c whose first bucket is this one may stand in its second
//     guests bit i: the key of slot i stands in its second bucket

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <nidus/map/geometry.hpp>
#include <nidus/map/hash.hpp>
#include <nidus/map/packed_bucket.hpp>
#include <nidus/map/policy.hpp>

namespace nidus::map {

namespace detail {
template <class Key, class Value>
struct Pair {
  Key key;
  Value value;
};
template <class Key, class Value, unsigned kSlots>
inline constexpr std::size_t kTaggedAlignment =
    bucket_alignment((2 * kSlots + 2 + alignof(Pair<Key, Value>) - 1) / alignof(Pair<Key, Value>) *
                             alignof(Pair<Key, Value>) +
                         kSlots * sizeof(Pair<Key, Value>),
                     alignof(Pair<Key, Value>) > 8 ? alignof(Pair<Key, Value>) : 8);
}  // namespace detail

template <class Key, class Value, class Policy>
struct alignas(detail::kTaggedAlignment<Key, Value, Policy::kSlots>) TaggedBucket {
  static constexpr unsigned kSlots = Policy::kSlots;
  static constexpr unsigned kAllSlots = (1u << kSlots) - 1;
  static constexpr std::uint64_t kMinBuckets = 2;
  static constexpr bool kExact = false;  // a match of tags is a candidate
  using Lanes = typename Policy::Lanes;
  using KeyReference = const Key&;
  using Hasher = typename Policy::template Hash<Key>;
  using Equality = typename Policy::template Equal<Key>;
  using Slot = detail::Pair<Key, Value>;
  static constexpr bool kNothrowHash = std::is_nothrow_invocable_v<const Hasher&, const Key&>;
  static constexpr bool kTrivial =
      std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value>;
  static constexpr bool kNothrowMove =
      std::is_nothrow_move_constructible_v<Key> && std::is_nothrow_move_constructible_v<Value>;
  static constexpr bool kCopies =
      std::is_copy_constructible_v<Key> && std::is_copy_constructible_v<Value>;
  static constexpr bool kSecondHash = Policy::kAlternate == Alternate::kSecondHash;

  template <class K>
  static std::uint64_t hash(const Hasher& hasher, const K& key) {
    return mix(static_cast<std::uint64_t>(hasher(key)));
  }

  unsigned empty() const { return Lanes::template match_tags<kSlots>(tags.data(), 0); }
  unsigned used() const { return ~empty() & kAllSlots; }
  unsigned guests() const { return used() & guest_bits; }
  bool guest(unsigned slot) const { return ((guest_bits >> slot) & 1) != 0; }
  std::uint16_t tag(unsigned slot) const { return tags[slot]; }
  bool marked(unsigned cls) const { return ((Lanes::load(marks) >> cls) & 1) != 0; }
  bool any_mark() const { return marks != 0; }
  void set_mark(unsigned cls) { Lanes::store(marks, static_cast<std::uint8_t>(marks | 1u << cls)); }
  void clear_marks() { Lanes::store(marks, 0); }

  template <class K>
  int find(const Equality& equal, const K& wanted, std::uint64_t hash, std::uint64_t, bool) const {
    unsigned found = Lanes::template match_tags<kSlots>(tags.data(), Geometry::tag(hash));
    for (; found != 0; found &= found - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(found));
      if (equal(at(slot)->key, wanted)) [[likely]]
        return static_cast<int>(slot);
    }
    return -1;
  }

  std::uint64_t alternate(const Hasher& hasher, unsigned slot, std::uint64_t bucket,
                          std::uint64_t mask) const {
    if constexpr (kSecondHash) {
      return Geometry::alternate_by_hash(bucket, hash(hasher, at(slot)->key), mask);
    } else {
      return Geometry::alternate(bucket, tags[slot], mask);
    }
  }
  std::uint64_t hash_of(const Hasher& hasher, unsigned slot, std::uint64_t, std::uint64_t) const {
    return hash(hasher, at(slot)->key);
  }
  const Key& key(unsigned slot, std::uint64_t, std::uint64_t) const { return at(slot)->key; }
  Value* value(unsigned slot) { return &at(slot)->value; }
  const Value* value(unsigned slot) const { return &at(slot)->value; }

  void reset() {
    for (auto& tag : tags) Lanes::store(tag, 0);
    Lanes::store(marks, 0);
    Lanes::store(guest_bits, 0);
  }
  void occupy(unsigned slot, std::uint64_t hash, std::uint64_t, bool is_guest) {
    Lanes::store(guest_bits, static_cast<std::uint8_t>((guest_bits & ~(1u << slot)) |
                                                       unsigned{is_guest} << slot));
    Lanes::store(tags[slot], Geometry::tag(hash));
  }
  void vacate(unsigned slot) { Lanes::store(tags[slot], 0); }

  template <class Allocator, class K, class... Args>
  void construct(Allocator& allocator, unsigned slot, K&& key_source, Args&&... args) {
    using Traits = std::allocator_traits<Allocator>;
    Slot* place = reinterpret_cast<Slot*>(&slots) + slot;
    Traits::construct(allocator, &place->key, std::forward<K>(key_source));
    try {
      Traits::construct(allocator, &place->value, std::forward<Args>(args)...);
    } catch (...) {
      Traits::destroy(allocator, &place->key);
      throw;
    }
  }
  template <class Take>
  void hand_over(unsigned slot, Take take) {
    take(at(slot)->key, at(slot)->value);
  }
  template <class Allocator>
  void destroy(Allocator& allocator, unsigned slot) {
    std::allocator_traits<Allocator>::destroy(allocator, &at(slot)->value);
    std::allocator_traits<Allocator>::destroy(allocator, &at(slot)->key);
  }

  Slot* at(unsigned slot) { return std::launder(reinterpret_cast<Slot*>(&slots) + slot); }
  const Slot* at(unsigned slot) const {
    return std::launder(reinterpret_cast<const Slot*>(&slots) + slot);
  }

  std::array<std::uint16_t, kSlots> tags;
  std::uint8_t marks;
  std::uint8_t guest_bits;

 private:
  alignas(Slot) std::array<std::byte, kSlots * sizeof(Slot)> slots;
};

}  // namespace nidus::map

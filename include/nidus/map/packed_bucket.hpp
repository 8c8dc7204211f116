// SPDX-License-Identifier: Apache-2.0
#pragma once

// A bucket for integer keys: the key itself is compared, there are no tags beside it, and the marks
// cost nothing. The mix of an integer is a bijection, so a slot may hold the hash for the key; and of
// the hash the bits that name the bucket need not be stored, for a key's place tells them
// (quotienting). The flags and marks live in the bits thus freed:
//
//   slot word: hash bits 63..16+k | k bits: ... marks, guest, used | tag (hash bits 15..0)
//   where the table has 2^k buckets, and 2^k >= kMinBuckets leaves room for the flags
//
//     used   a key stands here
//     guest  it stands in its second bucket
//     marks  of the BUCKET: mark c says "a key of class c whose first bucket is this one may stand in
//            its second". Slot i holds those of classes i and, with four slots, i + 4
//
//   4 slots of 8-byte values: one line       | w0 w1 w2 w3 v0 v1 v2 v3 |
//   8 slots of 8-byte values: two lines      | w0 .. w7 | v0 .. v7 |
//
// Source: Cleary, Compact Hash Tables Using Bidirectional Linear Probing (1984), for quotienting.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <variant>

#include <nidus/base/platform.hpp>
#include <nidus/map/geometry.hpp>
#include <nidus/map/hash.hpp>

namespace nidus::map {

/// Whole lines where that wastes at most a quarter of the memory.
constexpr std::size_t bucket_alignment(std::size_t bytes, std::size_t natural) {
  const std::size_t padded = (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
  return padded * 3 <= bytes * 4 && natural < kCacheLineBytes ? kCacheLineBytes : natural;
}

template <class Key, class Value, class Policy>
struct alignas(bucket_alignment(Policy::kSlots*(8 + sizeof(Value)),
                                alignof(Value) > 8 ? alignof(Value) : 8)) PackedBucket {
  static constexpr unsigned kSlots = Policy::kSlots;
  static constexpr unsigned kAllSlots = (1u << kSlots) - 1;
  static constexpr std::uint64_t kMinBuckets = kSlots == 4 ? 16 : 8;  // 4 and 3 bits of flags
  static constexpr bool kExact = true;                                // a match is the key
  static constexpr bool kNothrowHash = true;
  static constexpr bool kTrivial = std::is_trivially_copyable_v<Value>;
  static constexpr bool kNothrowMove = std::is_nothrow_move_constructible_v<Value>;
  static constexpr bool kCopies = std::is_copy_constructible_v<Value>;
  using Lanes = typename Policy::Lanes;
  using KeyReference = const Key;
  struct Hasher {};  // nothing to keep: the hash is mix()
  struct Equality {};

  static std::uint64_t hash(const Hasher&, Key key) { return mix(static_cast<std::uint64_t>(key)); }

  // --- what a slot holds ---

  static std::uint64_t index_bits(std::uint64_t mask) { return mask << 16; }

  unsigned used() const { return Lanes::template match<kSlots>(words.data(), kUsed, kUsed); }
  unsigned empty() const { return Lanes::template match<kSlots>(words.data(), kUsed, 0); }
  unsigned guests() const {
    return Lanes::template match<kSlots>(words.data(), kUsed | kGuest, kUsed | kGuest);
  }
  bool guest(unsigned slot) const { return (words[slot] & kGuest) != 0; }
  std::uint16_t tag(unsigned slot) const { return Geometry::tag(words[slot]); }

  bool marked(unsigned cls) const {
    return ((Lanes::load(words[cls % kSlots]) >> mark_shift(cls)) & 1) != 0;
  }
  bool any_mark() const {
    return Lanes::template match<kSlots>(words.data(), kMarks, 0) != kAllSlots;
  }
  void set_mark(unsigned cls) {
    std::uint64_t& word = words[cls % kSlots];
    Lanes::store(word, word | std::uint64_t{1} << mark_shift(cls));
  }
  void clear_marks() {
    for (auto& word : words) Lanes::store(word, word & ~kMarks);
  }

  /// What a slot word of the key with this hash is compared with, and in which bits.
  struct Pattern {
    std::uint64_t keep, wanted;
  };
  static Pattern pattern(std::uint64_t hash, std::uint64_t mask, bool second) {
    return {~index_bits(mask) | kUsed | kGuest,
            (hash & ~index_bits(mask)) | kUsed | (std::uint64_t{second} * kGuest)};
  }
  unsigned match(Pattern pattern) const {
    return Lanes::template match<kSlots>(words.data(), pattern.keep, pattern.wanted);
  }

  /// The slot of the key with this hash, or -1. `second`: this is the key's second bucket.
  template <class K>
  int find(const Equality&, const K&, std::uint64_t hash, std::uint64_t mask, bool second) const {
    const unsigned found = match(pattern(hash, mask, second));
    return found == 0 ? -1 : std::countr_zero(found);
  }

  std::uint64_t alternate(const Hasher&, unsigned slot, std::uint64_t bucket,
                          std::uint64_t mask) const {
    return Geometry::alternate(bucket, tag(slot), mask);
  }
  std::uint64_t hash_of(const Hasher& hasher, unsigned slot, std::uint64_t bucket,
                        std::uint64_t mask) const {
    const std::uint64_t home = guest(slot) ? alternate(hasher, slot, bucket, mask) : bucket;
    return (words[slot] & ~index_bits(mask)) | (home << 16);
  }
  Key key(unsigned slot, std::uint64_t bucket, std::uint64_t mask) const {
    return static_cast<Key>(unmix(hash_of({}, slot, bucket, mask)));
  }
  Value* value(unsigned slot) { return std::launder(reinterpret_cast<Value*>(&values) + slot); }
  const Value* value(unsigned slot) const {
    return std::launder(reinterpret_cast<const Value*>(&values) + slot);
  }

  // --- changes ---

  /// Hands the slots on to the two buckets that this one becomes when the table doubles: `low` of
  /// the same index, `high` of the index with the new bit. Values are copied as bytes; no marks.
  void split(PackedBucket& low, PackedBucket& high, std::uint64_t mask) const {
    const std::uint64_t new_bit = mask + 1;
    low.values = high.values = values;
    for (unsigned i = 0; i < kSlots; ++i) {
      // of a key at home, the new bit of its index is in its hash; of a guest, also in its distance
      const std::uint64_t distance =
          std::uint64_t{guest(i)} * Geometry::alternate(0, tag(i), mask | new_bit);
      const bool goes_high = ((words[i] >> 16 ^ distance) & new_bit) != 0;
      const std::uint64_t word = words[i] & ~kMarks & ~(new_bit << 16);
      const std::uint64_t used_word = word & (0 - ((word & kUsed) >> kUsedShift));
      low.words[i] = goes_high ? 0 : used_word;
      high.words[i] = goes_high ? used_word : 0;
    }
  }

  void reset() {
    for (auto& word : words) Lanes::store(word, 0);
  }

  /// Makes a constructed slot a key's. The marks stay.
  void occupy(unsigned slot, std::uint64_t hash, std::uint64_t mask, bool is_guest) {
    Lanes::store(words[slot], (words[slot] & kMarks) | (hash & ~index_bits(mask)) | kUsed |
                                  (is_guest ? kGuest : 0));
  }
  void vacate(unsigned slot) { Lanes::store(words[slot], words[slot] & kMarks); }

  template <class Allocator, class K, class... Args>
  void construct(Allocator& allocator, unsigned slot, K&&, Args&&... args) {
    std::allocator_traits<Allocator>::construct(allocator, reinterpret_cast<Value*>(&values) + slot,
                                                std::forward<Args>(args)...);
  }
  /// Calls take(key, value) with what the slot holds. The key is in the hash: nothing to take.
  template <class Take>
  void hand_over(unsigned slot, Take take) {
    std::monostate no_key;
    take(no_key, *value(slot));
  }
  template <class Allocator>
  void destroy(Allocator& allocator, unsigned slot) {
    std::allocator_traits<Allocator>::destroy(allocator, value(slot));
  }

  std::array<std::uint64_t, kSlots> words;

 private:
  static constexpr unsigned kUsedShift = 16;
  static constexpr std::uint64_t kUsed = std::uint64_t{1} << kUsedShift;
  static constexpr std::uint64_t kGuest = std::uint64_t{1} << 17;
  static constexpr std::uint64_t kMarks = std::uint64_t{kSlots == 4 ? 3 : 1} << 18;
  static constexpr unsigned mark_shift(unsigned cls) { return 18 + cls / kSlots; }

  alignas(Value) std::array<std::byte, kSlots * sizeof(Value)> values;
};

}  // namespace nidus::map

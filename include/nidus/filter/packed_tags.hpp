// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table of a cuckoo filter: buckets of 2, 4 or 8 tags of 4 to 32 bits each, without a gap: slot s
// of bucket i stands at bit (i * b + s) * f. A tag of 0 marks an empty slot. A bucket is compared in
// words of as many tags as one unaligned 8-byte load is sure to hold, all tags of a word at once.
//
//   f = 12, b = 4     bit 0   12   24   36   48
//                        | t0 | t1 | t2 | t3 | t0 | ...      one word of four tags a bucket
//                        '---- bucket 0 ----'--- bucket 1

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <nidus/base/platform.hpp>
#include <nidus/filter/words.hpp>

namespace nidus::filter {

class PackedTags {
 public:
  /// Requires: bucket_slots 2, 4 or 8, tag_bits 4 to 32. Errors: std::bad_alloc
  PackedTags(std::uint64_t buckets, unsigned bucket_slots, unsigned tag_bits)
      : tag_bits_(tag_bits),
        bucket_slots_(bucket_slots),
        word_tags_(tags_of_a_word(bucket_slots, tag_bits)),
        bucket_bits_(bucket_slots * tag_bits),
        word_bits_(word_tags_ * tag_bits),
        tag_mask_((std::uint64_t{1} << tag_bits) - 1),
        words_(word_count(buckets, bucket_slots, tag_bits)) {
    assert(bucket_slots == 2 || bucket_slots == 4 || bucket_slots == 8);
    assert(tag_bits >= 4 && tag_bits <= 32);
    for (unsigned i = 0; i < word_tags_; ++i) ones_ |= std::uint64_t{1} << (i * tag_bits_);
    highs_ = ones_ << (tag_bits_ - 1);
    lows_ = highs_ - ones_;  // all bits of each tag but its highest
  }

  /// Words that a table takes; SIZE_MAX if that is no number of words.
  static std::size_t word_count(std::uint64_t buckets, unsigned bucket_slots, unsigned tag_bits) {
    const unsigned bits = bucket_slots * tag_bits;
    if (buckets > (SIZE_MAX - 63) / bits) return SIZE_MAX;
    return (buckets * bits + 63) / 64;
  }

  std::uint32_t get(std::uint64_t bucket, unsigned slot) const {
    return static_cast<std::uint32_t>(word(bucket, slot) & tag_mask_);
  }
  void set(std::uint64_t bucket, unsigned slot, std::uint32_t tag) {
    const std::uint64_t at = position(bucket, slot);
    unsigned char* bytes = reinterpret_cast<unsigned char*>(words_.data()) + at / 8;
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    word = (word & ~(tag_mask_ << (at % 8))) | std::uint64_t{tag} << (at % 8);
    std::memcpy(bytes, &word, sizeof word);
  }

  /// The bucket's first bit, and the tag in every slot of a word, made ready for holds().
  std::uint64_t position(std::uint64_t bucket) const { return bucket * bucket_bits_; }
  std::uint64_t pattern(std::uint32_t tag) const { return ones_ * tag; }
  /// Whether a slot of the bucket holds the tag.
  bool holds(std::uint64_t position, std::uint64_t pattern) const {
    std::uint64_t found = equal(load(position), pattern);
    for (unsigned at = word_bits_; at < bucket_bits_; at += word_bits_) {
      found |= equal(load(position + at), pattern);
    }
    return found != 0;
  }
  bool contains(std::uint64_t bucket, std::uint32_t tag) const {
    return holds(position(bucket), pattern(tag));
  }
  /// The first slot with this tag, or bucket_slots().
  unsigned find(std::uint64_t bucket, std::uint32_t tag) const {
    for (unsigned slot = 0; slot < bucket_slots_; slot += word_tags_) {
      const std::uint64_t found = matches(word(bucket, slot), tag);
      if (found != 0) return slot + static_cast<unsigned>(std::countr_zero(found)) / tag_bits_;
    }
    return bucket_slots_;
  }
  unsigned copies(std::uint64_t bucket, std::uint32_t tag) const {
    unsigned copies = 0;
    for (unsigned slot = 0; slot < bucket_slots_; slot += word_tags_) {
      copies += static_cast<unsigned>(std::popcount(matches(word(bucket, slot), tag)));
    }
    return copies;
  }

  /// Asks for the memory of the bucket at this position, for both lines if it crosses a border.
  void prefetch(std::uint64_t position) const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(words_.data());
    __builtin_prefetch(bytes + position / 8);
    const std::uint64_t last = position + bucket_bits_ - 1;
    if ((position ^ last) >= kLineBits) __builtin_prefetch(bytes + last / 8);
  }

  unsigned bucket_slots() const { return bucket_slots_; }
  Words& words() { return words_; }
  const Words& words() const { return words_; }
  friend bool operator==(const PackedTags&, const PackedTags&) = default;

 private:
  static constexpr std::uint64_t kLineBits = kCacheLineBytes * 8;

  /// A load at a byte holds 57 bits from any bit on, and all 64 where words of tags are whole bytes.
  static unsigned tags_of_a_word(unsigned bucket_slots, unsigned tag_bits) {
    unsigned tags = bucket_slots;
    while (tags * tag_bits > 57 && (tags * tag_bits > 64 || tags * tag_bits % 8 != 0)) tags /= 2;
    return tags;
  }
  std::uint64_t position(std::uint64_t bucket, unsigned slot) const {
    return (bucket * bucket_slots_ + slot) * tag_bits_;
  }
  /// The 57 bits or more from this one on.
  std::uint64_t load(std::uint64_t at) const {
    std::uint64_t word;
    std::memcpy(&word, reinterpret_cast<const unsigned char*>(words_.data()) + at / 8, sizeof word);
    return word >> (at % 8);
  }
  std::uint64_t word(std::uint64_t bucket, unsigned slot) const {
    return load(position(bucket, slot));
  }
  /// The highest bit of every tag of the word that equals the pattern's: exact, no carry leaves a tag.
  std::uint64_t equal(std::uint64_t word, std::uint64_t pattern) const {
    const std::uint64_t difference = word ^ pattern;
    return ~(((difference & lows_) + lows_) | difference) & highs_;
  }
  std::uint64_t matches(std::uint64_t word, std::uint32_t tag) const {
    return equal(word, pattern(tag));
  }

  unsigned tag_bits_, bucket_slots_, word_tags_, bucket_bits_, word_bits_;
  std::uint64_t tag_mask_, ones_ = 0, highs_ = 0, lows_ = 0;
  Words words_;
};

}  // namespace nidus::filter

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The classic Bloom filter: k bits of m a key, set by an insert, all of them seen by a lookup. It
// cannot erase: a bit may serve many keys. Its lookups of absent keys end at the first bit that is
// clear, after less than two lines if at most half are set. Layout and theory: docs/algorithms/bloom.md

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nidus/base/error.hpp>
#include <nidus/filter/filter.hpp>
#include <nidus/filter/image.hpp>
#include <nidus/filter/probes.hpp>
#include <nidus/filter/sizing.hpp>
#include <nidus/filter/words.hpp>

namespace nidus::filter {

class BloomFilter {
 public:
  static constexpr Kind kKind = Kind::kBloom;

  /// Any number of bits. Requires: bits >= 1, 1 <= hashes <= kMaxHashes. Errors: std::bad_alloc
  explicit BloomFilter(BloomShape shape) : shape_(shape), words_(word_count(shape.bits)) {
    assert(shape.bits >= 1 && shape.hashes >= 1 && shape.hashes <= kMaxHashes);
  }

  /// Cost: k lines
  Insert insert(KeyHash key) {
    bool changed = false;
    Probes probes(key, shape_.bits);
    for (unsigned i = 0; i < shape_.hashes; ++i) {
      const std::uint64_t place = probes.next();
      std::uint64_t& word = words_.data()[place / 64];
      const std::uint64_t bit = std::uint64_t{1} << (place % 64);
      changed |= (word & bit) == 0;
      word |= bit;
    }
    count_ += changed;
    return changed ? Insert::kAdded : Insert::kMaybePresent;
  }

  /// Cost: k lines of a present key; of an absent one 2 on average at half of the bits set
  bool may_contain(KeyHash key) const {
    Probes probes(key, shape_.bits);
    for (unsigned i = 0; i < shape_.hashes; ++i) {
      if (!bit(probes.next())) return false;
    }
    return true;
  }

  template <class Key>
  void may_contain_batch(std::span<const Key> keys, std::span<bool> out) const {
    assert(out.size() == keys.size());
    in_rounds(
        keys, out, shape_, [this](std::uint64_t place) { return words_.data() + place / 64; },
        [this](std::uint64_t place) { return bit(place); });
  }
  void may_contain_batch(std::span<const KeyHash> keys, std::span<bool> out) const {
    may_contain_batch<KeyHash>(keys, out);
  }

  void clear() {
    words_.clear();
    count_ = 0;
  }
  std::uint64_t count() const { return count_; }
  std::uint64_t bits() const { return shape_.bits; }
  BloomShape shape() const { return shape_; }
  double expected_fpr() const { return bloom_fpr(shape_, static_cast<double>(count_)); }

  /// Whether the bit at this place is set. Requires: place < bits()
  bool bit(std::uint64_t place) const {
    return (words_.data()[place / 64] >> (place % 64) & 1) != 0;
  }

  void save(std::string& out) const {
    write_image(out, kKind, {shape_.bits, shape_.hashes, count_}, words_.bytes());
  }
  static Expected<BloomFilter> load(std::string_view bytes) {
    const auto image = read_image(bytes, kKind);
    if (!image) return tl::make_unexpected(image.error());
    const auto [bits, hashes, count, none1, none2, none3] = image->parameters;
    if (bits == 0 || hashes == 0 || hashes > kMaxHashes || (none1 | none2 | none3) != 0 ||
        image->payload.size() % 8 != 0 || word_count(bits) != image->payload.size() / 8) {
      return fail("Bloom filter image: its parameters do not fit its size");
    }
    BloomFilter filter(BloomShape{bits, static_cast<unsigned>(hashes)});
    filter.words_.assign(image->payload);
    if (bits % 64 != 0 && filter.words_.data()[bits / 64] >> (bits % 64) != 0) {
      return fail("Bloom filter image: bits are set behind its last one");
    }
    filter.count_ = count;
    return filter;
  }
  friend bool operator==(const BloomFilter&, const BloomFilter&) = default;

 private:
  static std::size_t word_count(std::uint64_t bits) { return bits / 64 + (bits % 64 != 0); }

  BloomShape shape_;
  Words words_;
  std::uint64_t count_ = 0;
};

static_assert(Filter<BloomFilter>);

}  // namespace nidus::filter

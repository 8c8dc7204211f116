// SPDX-License-Identifier: Apache-2.0
#pragma once

// The counting Bloom filter: a Bloom filter whose bits are 4-bit counters, so that a key can be taken
// out again. A counter that reaches 15 has lost its count: it stays there for good, and saturated()
// tells how many did. So an erase never makes another key absent; it may leave a key's place behind.
// Layout and theory: docs/algorithms/counting_bloom.md

#include <bit>
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

class CountingBloomFilter {
 public:
  static constexpr Kind kKind = Kind::kCountingBloom;
  static constexpr unsigned kSaturated = (1u << kCounterBits) - 1;

  /// `shape.bits` is the number of counters, any. Requires: bits >= 1, 1 <= hashes <= kMaxHashes.
  /// Errors: std::bad_alloc
  explicit CountingBloomFilter(BloomShape shape) : shape_(shape), words_(word_count(shape.bits)) {
    assert(shape.bits >= 1 && shape.hashes >= 1 && shape.hashes <= kMaxHashes);
  }

  /// Counts every copy: kAdded always. Cost: k lines
  Insert insert(KeyHash key) {
    Probes probes(key, shape_.bits);
    for (unsigned i = 0; i < shape_.hashes; ++i) {
      const Counter counter = at(probes.next());
      if (counter.value() == kSaturated) continue;
      counter.add(1);
      saturated_ += counter.value() == kSaturated;
    }
    ++count_;
    return Insert::kAdded;
  }

  /// Takes one copy out; false, and nothing changes, if the key is certainly absent. Cost: k lines
  bool erase(KeyHash key) {
    if (!may_contain(key)) return false;
    Probes probes(key, shape_.bits);
    for (unsigned i = 0; i < shape_.hashes; ++i) {
      const Counter counter = at(probes.next());
      // 0 is met only where the key was never inserted and two of its places coincide.
      if (counter.value() != kSaturated && counter.value() != 0) counter.add(-1);
    }
    count_ -= count_ > 0;
    return true;
  }

  /// Cost: as BloomFilter's, on four times the memory
  bool may_contain(KeyHash key) const {
    Probes probes(key, shape_.bits);
    for (unsigned i = 0; i < shape_.hashes; ++i) {
      if (counter(probes.next()) == 0) return false;
    }
    return true;
  }

  template <class Key>
  void may_contain_batch(std::span<const Key> keys, std::span<bool> out) const {
    assert(out.size() == keys.size());
    in_rounds(
        keys, out, shape_,
        [this](std::uint64_t place) { return words_.data() + place / kCountersPerWord; },
        [this](std::uint64_t place) { return counter(place) != 0; });
  }
  void may_contain_batch(std::span<const KeyHash> keys, std::span<bool> out) const {
    may_contain_batch<KeyHash>(keys, out);
  }

  void clear() {
    words_.clear();
    count_ = 0;
    saturated_ = 0;
  }
  std::uint64_t count() const { return count_; }
  std::uint64_t bits() const { return shape_.bits * kCounterBits; }
  BloomShape shape() const { return shape_; }
  double expected_fpr() const { return bloom_fpr(shape_, static_cast<double>(count_)); }

  /// Counters that are stuck at 15.
  std::uint64_t saturated() const { return saturated_; }
  /// Requires: place < shape().bits
  unsigned counter(std::uint64_t place) const {
    return static_cast<unsigned>(words_.data()[place / kCountersPerWord] >> shift(place) & 0xf);
  }

  void save(std::string& out) const {
    write_image(out, kKind, {shape_.bits, shape_.hashes, count_}, words_.bytes());
  }
  static Expected<CountingBloomFilter> load(std::string_view bytes) {
    const auto image = read_image(bytes, kKind);
    if (!image) return tl::make_unexpected(image.error());
    const auto [counters, hashes, count, none1, none2, none3] = image->parameters;
    if (counters == 0 || hashes == 0 || hashes > kMaxHashes || (none1 | none2 | none3) != 0 ||
        image->payload.size() % 8 != 0 || word_count(counters) != image->payload.size() / 8) {
      return fail("counting Bloom filter image: its parameters do not fit its size");
    }
    CountingBloomFilter filter(BloomShape{counters, static_cast<unsigned>(hashes)});
    filter.words_.assign(image->payload);
    if (shift(counters) != 0 &&
        filter.words_.data()[counters / kCountersPerWord] >> shift(counters) != 0) {
      return fail("counting Bloom filter image: it counts behind its last counter");
    }
    filter.count_ = count;
    filter.saturated_ = filter.count_saturated();
    return filter;
  }
  friend bool operator==(const CountingBloomFilter&, const CountingBloomFilter&) = default;

 private:
  static constexpr unsigned kCountersPerWord = 64 / kCounterBits;

  struct Counter {
    std::uint64_t* word;
    unsigned shift;
    unsigned value() const { return static_cast<unsigned>(*word >> shift & 0xf); }
    void add(int n) const { *word += static_cast<std::uint64_t>(n) << shift; }
  };

  static std::size_t word_count(std::uint64_t counters) {
    return counters / kCountersPerWord + (counters % kCountersPerWord != 0);
  }
  static unsigned shift(std::uint64_t place) {
    return static_cast<unsigned>(place % kCountersPerWord) * kCounterBits;
  }
  Counter at(std::uint64_t place) {
    return {words_.data() + place / kCountersPerWord, shift(place)};
  }
  std::uint64_t count_saturated() const {
    std::uint64_t saturated = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      std::uint64_t ones = words_.data()[i];
      ones &= ones >> 1;
      ones &= ones >> 2;
      saturated += static_cast<unsigned>(std::popcount(ones & 0x1111111111111111ULL));
    }
    return saturated;
  }

  BloomShape shape_;
  Words words_;
  std::uint64_t count_ = 0, saturated_ = 0;
};

static_assert(ErasableFilter<CountingBloomFilter>);

}  // namespace nidus::filter

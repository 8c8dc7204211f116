// SPDX-License-Identifier: Apache-2.0
#pragma once

// The blocked Bloom filter: all bits of a key lie in one line of 512 bits, so that a lookup costs one
// line whatever its answer, and one vector test. The price is that blocks fill unevenly: for the same
// rate some 3 % more bits at 1 %, 35 % more at 1e-6. Layout and theory: docs/algorithms/blocked_bloom.md

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nidus/base/error.hpp>
#include <nidus/filter/filter.hpp>
#include <nidus/filter/image.hpp>
#include <nidus/filter/sizing.hpp>
#include <nidus/filter/words.hpp>
#include <nidus/lanes/line_bits.hpp>

namespace nidus::filter {

class BlockedBloomFilter {
 public:
  static constexpr Kind kKind = Kind::kBlockedBloom;

  /// Any number of blocks. Requires: blocks >= 1, 1 <= hashes <= kMaxBlockHashes.
  /// Errors: std::bad_alloc
  explicit BlockedBloomFilter(BlockedBloomShape shape)
      : shape_(shape), words_(word_count(shape.blocks)) {
    assert(shape.blocks >= 1 && shape.hashes >= 1 && shape.hashes <= kMaxBlockHashes);
  }

  /// Cost: one line
  Insert insert(KeyHash key) {
    std::uint64_t* line = words_.data() + block(key) * kWordsPerBlock;
    bool changed = false;
    for (unsigned j = 0; j < shape_.hashes; ++j) {
      const unsigned place = lanes::line_place(key.high, j);
      const std::uint64_t bit = std::uint64_t{1} << (place % 64);
      changed |= (line[place / 64] & bit) == 0;
      line[place / 64] |= bit;
    }
    count_ += changed;
    return changed ? Insert::kAdded : Insert::kMaybePresent;
  }

  /// Cost: one line
  bool may_contain(KeyHash key) const { return test({address(key), key.high}); }

  template <class Key>
  void may_contain_batch(std::span<const Key> keys, std::span<bool> out) const {
    assert(out.size() == keys.size());
    if (keys.empty()) return;
    pipelined(
        keys, out,
        [this](KeyHash key) {
          const Probe probe{address(key), key.high};
          __builtin_prefetch(probe.line);
          return probe;
        },
        [this](const Probe& probe) { return test(probe); });
  }
  void may_contain_batch(std::span<const KeyHash> keys, std::span<bool> out) const {
    may_contain_batch<KeyHash>(keys, out);
  }

  void clear() {
    words_.clear();
    count_ = 0;
  }
  std::uint64_t count() const { return count_; }
  std::uint64_t bits() const { return shape_.blocks * kBlockBits; }
  BlockedBloomShape shape() const { return shape_; }
  double expected_fpr() const { return blocked_bloom_fpr(shape_, static_cast<double>(count_)); }

  void save(std::string& out) const {
    write_image(out, kKind, {shape_.blocks, shape_.hashes, count_}, words_.bytes());
  }
  static Expected<BlockedBloomFilter> load(std::string_view bytes) {
    const auto image = read_image(bytes, kKind);
    if (!image) return tl::make_unexpected(image.error());
    const auto [blocks, hashes, count, none1, none2, none3] = image->parameters;
    constexpr std::size_t kBlockBytes = kBlockBits / 8;
    if (blocks == 0 || hashes == 0 || hashes > kMaxBlockHashes || (none1 | none2 | none3) != 0 ||
        image->payload.size() % kBlockBytes != 0 || blocks != image->payload.size() / kBlockBytes) {
      return fail("blocked Bloom filter image: its parameters do not fit its size");
    }
    BlockedBloomFilter filter(BlockedBloomShape{blocks, static_cast<unsigned>(hashes)});
    filter.words_.assign(image->payload);
    filter.count_ = count;
    return filter;
  }
  friend bool operator==(const BlockedBloomFilter&, const BlockedBloomFilter&) = default;

 private:
  static constexpr std::size_t kWordsPerBlock = kBlockBits / 64;

  struct Probe {
    const std::uint32_t* line;
    std::uint64_t seed;
  };

  static std::size_t word_count(std::uint64_t blocks) {
    // Words refuses what does not fit in memory; the product must only not wrap.
    return blocks > SIZE_MAX / kWordsPerBlock ? SIZE_MAX : blocks * kWordsPerBlock;
  }
  std::uint64_t block(KeyHash key) const { return scale(key.low, shape_.blocks); }
  const std::uint32_t* address(KeyHash key) const {
    return reinterpret_cast<const std::uint32_t*>(words_.data() + block(key) * kWordsPerBlock);
  }
  bool test(const Probe& probe) const {
    return lanes::VectorLine::all_set(probe.line, probe.seed, shape_.hashes);
  }

  BlockedBloomShape shape_;
  Words words_;
  std::uint64_t count_ = 0;
};

static_assert(Filter<BlockedBloomFilter>);

}  // namespace nidus::filter

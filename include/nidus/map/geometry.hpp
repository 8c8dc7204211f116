// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a key may stand, from 64 bits of hash: its tag, its two buckets, the class of its overflow
// mark. The second bucket is found from the first and the tag alone (partial-key cuckoo hashing), so
// that a key can be displaced without being read.
//
//   hash: [ directory index, from the top | ... | bucket (bits 16..) | tag (16) ]
//
// Invariant: alternate(alternate(b, tag), tag) == b and alternate(b, tag) != b.
// Source: Fan et al., Cuckoo Filter, CoNEXT 2014 (partial-key); docs/architecture.md.

#include <cstdint>
#include <initializer_list>

namespace nidus::map {

struct Geometry {
  /// Never 0: a slot without a key has tag 0.
  static constexpr std::uint16_t tag(std::uint64_t hash) {
    const auto tag = static_cast<std::uint16_t>(hash);
    return tag != 0 ? tag : 1;
  }

  /// The key's first bucket. `mask` is the number of buckets, a power of two of at least 2, less 1.
  static constexpr std::uint64_t bucket(std::uint64_t hash, std::uint64_t mask) {
    return (hash >> 16) & mask;
  }

  /// The other bucket of a key that stands in `bucket`. Odd distances join every bucket of even
  /// number with ones of odd number: two choices without the risk of meeting itself.
  static constexpr std::uint64_t alternate(std::uint64_t bucket, std::uint16_t tag,
                                           std::uint64_t mask) {
    return bucket ^ (((tag * kSpread >> 29) & mask) | 1);
  }

  /// The other bucket where all of the hash decides it, not the tag alone: more distances, but the
  /// key must be hashed again before it can be displaced.
  static constexpr std::uint64_t alternate_by_hash(std::uint64_t bucket, std::uint64_t hash,
                                                   std::uint64_t mask) {
    const std::uint64_t spread = hash * kSpread;
    return bucket ^ (((spread >> 32 | spread << 32) & mask) | 1);
  }

  /// Which of the first bucket's eight overflow marks speaks for this key.
  static constexpr unsigned overflow_class(std::uint16_t tag) { return tag >> 13; }

 private:
  static constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15ull;  // 2^64 / golden ratio, odd
};

static_assert([] {
  for (std::uint64_t mask : {1ull, 3ull, 255ull, (1ull << 33) - 1}) {
    for (std::uint32_t tag = 1; tag < 65536; tag += 97) {
      const std::uint64_t b = (tag * 7919ull) & mask;
      const auto other = Geometry::alternate(b, static_cast<std::uint16_t>(tag), mask);
      if (other == b || other > mask) return false;
      if (Geometry::alternate(other, static_cast<std::uint16_t>(tag), mask) != b) return false;
    }
  }
  return true;
}());

}  // namespace nidus::map

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a cuckoo filter may keep a key: its tag and its two buckets, pure arithmetic. Either bucket
// follows from the other and the tag, so that a tag can move without its key.
//
// A plain filter has m buckets, any even number, and tags of f bits:
//
//   tag        1 + a hash scaled to [0, 2^f - 1): uniform, and never 0, the mark of an empty slot
//   bucket     a hash scaled to [0, m)
//   alternate  H - bucket (mod m), where H is an odd hash of the tag
//
// Subtracting twice gives the bucket back, for every m. H is odd and m even, so the two buckets are of
// different parity and never the same. An odd m would have a bucket that is its own alternate.
//
// Refined filters, the layers of a chain, split each bucket of such a root into 2^e and lengthen its
// tags by x bits. A key's place in a finer filter determines its place in a coarser one: the bucket
// without its last e bits, the tag without its last x. So two keys that one layer cannot tell apart,
// no coarser layer can, which is what makes erasing from a chain safe (scalable.hpp).
//
//   alternate  upper part: H - upper (mod m), as in the root; lower part: lower xor e hashed bits of
//              the root's tag, of which a coarser layer sees the first
//
// Invariant: alternate(alternate(bucket, tag), tag) == bucket, and the two differ

#include <cstdint>

#include <nidus/filter/key_hash.hpp>

namespace nidus::filter {

/// A key's tag and two buckets.
struct CuckooPlace {
  std::uint64_t first = 0, second = 0;
  std::uint32_t tag = 0;
};

class CuckooPlaces {
 public:
  /// Requires: root_buckets even, at least 2; 4 <= root_tag_bits, root_tag_bits + longer <= 32;
  /// root_buckets << split below 2^64
  CuckooPlaces(std::uint64_t root_buckets, unsigned root_tag_bits, unsigned split, unsigned longer)
      : buckets_(root_buckets << split),
        root_buckets_(root_buckets),
        tag_values_((std::uint64_t{1} << root_tag_bits) - 1),
        split_(split),
        longer_(longer) {}

  std::uint64_t buckets() const { return buckets_; }

  CuckooPlace place(KeyHash key) const {
    CuckooPlace place;
    place.tag = tag(key);
    place.first = scale(key.low, buckets_);
    place.second = alternate(place.first, place.tag);
    return place;
  }

  std::uint32_t tag(KeyHash key) const {
    const Product product = multiply(key.high, tag_values_);
    const std::uint64_t root = 1 + product.high;
    if (longer_ == 0) return static_cast<std::uint32_t>(root);
    const std::uint64_t fraction = product.low >> 32;  // within the root's tag: uniform too
    return static_cast<std::uint32_t>(root << longer_ | (fraction << longer_) >> 32);
  }

  std::uint64_t alternate(std::uint64_t bucket, std::uint32_t tag) const {
    const Product product = multiply(spread(tag >> longer_), root_buckets_ / 2);
    const std::uint64_t sum = 2 * product.high + 1;  // H: odd, below root_buckets_
    if (split_ == 0) return minus(sum, bucket);
    const std::uint64_t flip = product.low >> (64 - split_);  // the fraction's first bits
    const std::uint64_t lower = (bucket ^ flip) & ((std::uint64_t{1} << split_) - 1);
    return minus(sum, bucket >> split_) << split_ | lower;
  }

  friend bool operator==(const CuckooPlaces&, const CuckooPlaces&) = default;

 private:
  /// Modulo root_buckets_, without a branch: it would be guessed wrong every other time.
  std::uint64_t minus(std::uint64_t sum, std::uint64_t bucket) const {
    const std::uint64_t wrapped = 0 - static_cast<std::uint64_t>(sum < bucket);
    return sum - bucket + (root_buckets_ & wrapped);
  }

  std::uint64_t buckets_, root_buckets_, tag_values_;
  unsigned split_, longer_;
};

}  // namespace nidus::filter

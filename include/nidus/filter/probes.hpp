// SPDX-License-Identifier: Apache-2.0
#pragma once

// Double hashing: the k places of a key in m cells from its one 128-bit hash. The two halves are a
// start and a step on a circle of 2^64 points; each point is scaled to [0, m), so that any m does and
// nothing divides. The step is odd: it never stays in place, and its points are distinct.
// Source: Kirsch, Mitzenmacher, "Less hashing, same performance"; docs/algorithms/bloom.md

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <nidus/filter/key_hash.hpp>
#include <nidus/filter/sizing.hpp>

namespace nidus::filter {

class Probes {
 public:
  Probes() = default;
  Probes(KeyHash key, std::uint64_t cells) : point_(key.low), step_(key.high | 1), cells_(cells) {}

  /// The next place.
  std::uint64_t next() {
    const std::uint64_t place = scale(point_, cells_);
    point_ += step_;
    return place;
  }

 private:
  std::uint64_t point_ = 0, step_ = 1, cells_ = 1;
};

/// Lookups of many keys in rounds over groups: each round looks at one place of the keys that are
/// still in doubt and asks for their next, so that no line is fetched that a single lookup would not.
/// address(place): its memory; set(place): whether it speaks for the key.
template <class Key, class Address, class Set>
void in_rounds(std::span<const Key> keys, std::span<bool> out, BloomShape shape, Address address,
               Set set) {
  struct Doubt {
    Probes probes;
    std::uint64_t place;
    std::size_t index;
  };
  constexpr std::size_t kGroup = 128;
  Doubt doubts[kGroup];
  const auto ask_next = [&](Doubt& doubt) {
    doubt.place = doubt.probes.next();
    __builtin_prefetch(address(doubt.place));
  };
  for (std::size_t first = 0; first < keys.size(); first += kGroup) {
    std::size_t left = std::min(kGroup, keys.size() - first);
    for (std::size_t i = 0; i < left; ++i) {
      doubts[i] = {Probes(KeyHash(keys[first + i]), shape.bits), 0, first + i};
      ask_next(doubts[i]);
      out[first + i] = false;
    }
    for (unsigned round = 1; round < shape.hashes; ++round) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < left; ++i) {
        Doubt doubt = doubts[i];
        const bool still = set(doubt.place);
        ask_next(doubt);  // of no use to a key that is absent, but without a branch to guess
        doubts[kept] = doubt;
        kept += still;
      }
      left = kept;
    }
    for (std::size_t i = 0; i < left; ++i) out[doubts[i].index] = set(doubts[i].place);
  }
}

}  // namespace nidus::filter

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Double hashing: the k places of a key in m cells from its one 128-bit hash. The two halves are a
// start and a step on a circle of 2^64 points; each point is scaled to [0, m), so that any m does and
// nothing divides. The step is odd: it never stays in place, and its points are distinct.
// Source: Kirsch, Mitzenmacher, "Less hashing, same performance"; docs/algorithms/bloom.md

#include <cstdint>

#include <nidus/filter/key_hash.hpp>

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

}  // namespace nidus::filter

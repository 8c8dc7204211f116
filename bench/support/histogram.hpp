// SPDX-License-Identifier: Apache-2.0
#pragma once

// Latencies in buckets of 1/32 of a power of two: at most 3 % wide, so that percentiles are exact
// to that.
//
// Thread-safety: none; one a thread.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nidus::bench {

class Histogram {
 public:
  void add(std::uint64_t ns) {
    ns = std::max<std::uint64_t>(ns, 1);
    const auto log = static_cast<unsigned>(std::bit_width(ns)) - 1;
    const std::uint64_t sub = (log >= kSubBits ? ns >> (log - kSubBits) : ns << (kSubBits - log)) &
                              ((std::uint64_t{1} << kSubBits) - 1);
    ++buckets_[(std::size_t{log} << kSubBits) + sub];
    ++count_;
    max_ = std::max(max_, ns);
  }

  /// The upper edge of the bucket that holds the share q of all, in ns; at most the largest value.
  double percentile(double q) const {
    const auto rank = static_cast<std::uint64_t>(q * static_cast<double>(count_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen <= rank) continue;
      const auto base = static_cast<double>(std::uint64_t{1} << (i >> kSubBits));
      const auto sub = static_cast<double>((i & ((std::size_t{1} << kSubBits) - 1)) + 1);
      return std::min(base * (1 + sub / (1 << kSubBits)), static_cast<double>(max_));
    }
    return static_cast<double>(max_);
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t max_ns() const { return max_; }

 private:
  static constexpr unsigned kSubBits = 5;
  std::vector<std::uint64_t> buckets_ = std::vector<std::uint64_t>(std::size_t{64} << kSubBits);
  std::uint64_t count_ = 0, max_ = 0;
};

}  // namespace nidus::bench

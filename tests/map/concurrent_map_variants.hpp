// SPDX-License-Identifier: Apache-2.0
#pragma once

// The variants of ConcurrentMap that the tests go through, and values that tell when they are torn.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <nidus/map/concurrent_map.hpp>

#include "cuckoo_map_variants.hpp"

namespace nidus::map {

/// 256 bytes that are all the same, or torn.
struct Wide {
  std::array<std::uint8_t, 256> bytes;

  static Wide of(std::uint64_t n) {
    Wide wide;
    wide.bytes.fill(static_cast<std::uint8_t>(n));
    return wide;
  }
  bool whole() const {
    for (const auto byte : bytes) {
      if (byte != bytes[0]) return false;
    }
    return true;
  }
  bool operator==(const Wide&) const = default;
};

template <class Value>
Value make_value(std::uint64_t n) {
  if constexpr (std::is_same_v<Value, Wide>) {
    return Wide::of(n);
  } else {
    return make_key<Value>(n);
  }
}

/// Runs body(t) on `n` threads and waits for all.
inline void on_threads(unsigned n, const std::function<void(unsigned)>& body) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < n; ++t) threads.emplace_back(body, t);
  for (auto& thread : threads) thread.join();
}

}  // namespace nidus::map

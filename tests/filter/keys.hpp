// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keys for the tests of filters: as users have them (counters, counters in the upper half, names), and
// the rate at which a filter answers "maybe" for keys that were never inserted.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nidus/filter/filter.hpp>

namespace nidus::filter::testing {

enum class Keys { kSequential, kUpperHalf, kStrings };
inline constexpr Keys kAllKeys[] = {Keys::kSequential, Keys::kUpperHalf, Keys::kStrings};

inline KeyHash key(Keys kind, std::uint64_t i) {
  if (kind == Keys::kSequential) return i;
  if (kind == Keys::kUpperHalf) return i << 32;
  return std::string_view("user:" + std::to_string(i));
}

/// The number of `maybe` among keys first .. first + probes - 1, asked in batches.
template <class F>
std::uint64_t count_maybe(const F& filter, std::uint64_t first, std::uint64_t probes,
                          Keys kind = Keys::kSequential) {
  constexpr std::size_t kBatch = 4096;
  std::vector<KeyHash> keys(kBatch);
  const auto out = std::make_unique<bool[]>(kBatch);
  std::uint64_t maybe = 0;
  for (std::uint64_t done = 0; done < probes;) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kBatch, probes - done));
    for (std::size_t i = 0; i < n; ++i) keys[i] = key(kind, first + done + i);
    filter.may_contain_batch(std::span<const KeyHash>(keys.data(), n), std::span(out.get(), n));
    for (std::size_t i = 0; i < n; ++i) maybe += out[i];
    done += n;
  }
  return maybe;
}

/// Keys from here on are in no filter of these tests.
inline constexpr std::uint64_t kNeverInserted = std::uint64_t{1} << 30;

template <class F>
double measured_fpr(const F& filter, std::uint64_t probes, Keys kind = Keys::kSequential) {
  return static_cast<double>(count_maybe(filter, kNeverInserted, probes, kind)) /
         static_cast<double>(probes);
}

/// Inserts keys 0 .. n - 1; the number that were stored.
template <class F>
std::uint64_t fill(F& filter, std::uint64_t n, Keys kind = Keys::kSequential) {
  std::uint64_t done = 0;
  for (std::uint64_t i = 0; i < n; ++i) done += stored(filter.insert(key(kind, i)));
  return done;
}

template <class F>
std::string image_of(const F& filter) {
  std::string image;
  filter.save(image);
  return image;
}

}  // namespace nidus::filter::testing

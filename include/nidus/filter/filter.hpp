// SPDX-License-Identifier: Apache-2.0
#pragma once

// The promise that all filters share. A filter remembers a set of keys in a few bits a key: "no" is
// certain, "maybe" is wrong at a rate that it knows (expected_fpr). The typed contract suite in
// tests/filter holds every filter to it.
//
// Thread-safety: const calls run beside const calls; anything else needs the caller's lock.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nidus/base/error.hpp>
#include <nidus/filter/key_hash.hpp>

namespace nidus::filter {

enum class Insert {
  kAdded,          // stored; count() grew by one
  kMaybePresent,   // a filter that stores no copies had all of the key's bits already
  kFull,           // no place was found; the filter is bit for bit what it was
  kTooManyCopies,  // the key, or its twins, fill all their places: 2 x bucket size; unchanged
};

/// Whether may_contain is true after this outcome.
constexpr bool stored(Insert outcome) { return outcome != Insert::kFull; }

/// insert        outcome above; a key that was stored is found until it is erased or all is cleared
/// may_contain   false: certainly absent. true: present, or wrong at the rate expected_fpr()
/// ..._batch     out[i] = may_contain(keys[i]) for every i; the memory is asked for side by side.
///               Requires: out.size() == keys.size()
/// count         keys inserted with kAdded, less those erased
/// bits          bits of memory for the keys; never more than this is allocated beside the object,
///               but for rounding up to lines
/// expected_fpr  the theory's rate of false positives at the present count
/// save          appends the image of the filter; load(image) gives an equal filter. The image is a
///               header with version and checksum (image.hpp)
/// load          Errors: bytes that are no such image; any bytes may be given
template <class F>
concept Filter = std::movable<F> && std::copyable<F> && std::equality_comparable<F> &&
    requires(F filter, const F& same, KeyHash key, std::span<const KeyHash> keys,
             std::span<bool> out, std::string& image, std::string_view bytes) {
  { filter.insert(key) } -> std::same_as<Insert>;
  { same.may_contain(key) } -> std::same_as<bool>;
  { same.may_contain_batch(keys, out) } -> std::same_as<void>;
  { filter.clear() } -> std::same_as<void>;
  { same.count() } -> std::same_as<std::uint64_t>;
  { same.bits() } -> std::same_as<std::uint64_t>;
  { same.expected_fpr() } -> std::same_as<double>;
  { same.save(image) } -> std::same_as<void>;
  { F::load(bytes) } -> std::same_as<Expected<F>>;
};

/// erase(key): takes one stored copy out; false if there was none.
/// Requires: the key was inserted and is not erased yet; else a twin may lose its copy
template <class F>
concept ErasableFilter = Filter<F> && requires(F filter, KeyHash key) {
  { filter.erase(key) } -> std::same_as<bool>;
};

/// How many keys ahead of the one that is tested a batch asks for memory. As many lines as the machine
/// fetches at once: a Zen 5 core takes 6.2 ns a random line when asked 8 ahead, 4.4 at 32, 3.4 at 64.
inline constexpr std::size_t kBatchDepth = 64;

/// The pipeline of may_contain_batch: Probe probe(key) asks for the key's memory, test(probe) looks.
template <class Key, class Prepare, class Test>
void pipelined(std::span<const Key> keys, std::span<bool> out, Prepare prepare, Test test) {
  using Probe = decltype(prepare(KeyHash(keys.front())));
  Probe ring[kBatchDepth];
  const std::size_t n = keys.size();
  for (std::size_t i = 0; i < n && i < kBatchDepth; ++i) ring[i] = prepare(KeyHash(keys[i]));
  for (std::size_t i = 0; i < n; ++i) {
    Probe& probe = ring[i % kBatchDepth];
    out[i] = test(probe);
    if (i + kBatchDepth < n) probe = prepare(KeyHash(keys[i + kBatchDepth]));
  }
}

}  // namespace nidus::filter

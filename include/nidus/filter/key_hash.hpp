// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a filter sees of a key: 128 bits of XXH3. Every filter takes its places and its tag from these
// bits alone, so a key is hashed once however many filters are asked. The values are part of the file
// format and the same on every machine.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

// g++ 12 takes the unused operand of its own AVX-512 intrinsics for an uninitialised value.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL  // the hash of an integer is a few instructions; a call would cost as much
#endif
#include <xxhash.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace nidus::filter {

/// The hash of a key. Strings hash as their bytes, integers as 8 little-endian bytes.
struct KeyHash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  KeyHash() = default;
  constexpr KeyHash(std::uint64_t low_bits, std::uint64_t high_bits)
      : low(low_bits), high(high_bits) {}
  KeyHash(std::string_view key) : KeyHash(XXH3_128bits(key.data(), key.size())) {}  // NOLINT
  KeyHash(const char* key) : KeyHash(std::string_view(key)) {}                      // NOLINT
  template <std::integral Integer>
  KeyHash(Integer key) : KeyHash(of_word(static_cast<std::uint64_t>(key))) {}  // NOLINT

  friend bool operator==(const KeyHash&, const KeyHash&) = default;

 private:
  explicit KeyHash(XXH128_hash_t hash) : low(hash.low64), high(hash.high64) {}
  static XXH128_hash_t of_word(std::uint64_t word) { return XXH3_128bits(&word, sizeof word); }
};

/// Both halves of a 128-bit product.
struct Product {
  std::uint64_t high, low;
};
constexpr Product multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
}

/// Maps a uniform 64-bit hash to [0, range), any range.
constexpr std::uint64_t scale(std::uint64_t hash, std::uint64_t range) {
  return multiply(hash, range).high;
}

/// Hashes a small number: one multiplication, whose lower half, the better mixed by the number's low
/// bits, is folded into the upper and the other way round.
constexpr std::uint64_t spread(std::uint64_t x) {
  x *= 0x9e3779b97f4a7c15ULL;  // 2^64 divided by the golden ratio
  return x ^ (x << 32 | x >> 32);
}

}  // namespace nidus::filter

// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a key to the 64 bits that Geometry cuts up. Whatever a hash function gives is mixed once more:
// std::hash of an integer is the integer, and a table that takes its bucket from some bits and its
// tag from others needs all of them good. The mix is a bijection, so that a map of integers can
// store a key as its hash and read it back.

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include <xxhash.h>

namespace nidus::map {

/// Two rounds of multiply and fold. Source of the form: Stafford, Better Bit Mixing (2011), with
/// folds of 32 bits, which are their own inverses.
constexpr std::uint64_t mix(std::uint64_t x) {
  x *= 0x9E3779B97F4A7C15ull;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ull;
  return x ^ (x >> 32);
}

namespace detail {
/// The inverse of an odd number modulo 2^64: each step doubles the bits that are right.
constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;  // right in 3 bits
  for (int bits = 3; bits < 64; bits *= 2) x *= 2 - odd * x;
  return x;
}
}  // namespace detail

/// unmix(mix(x)) == x
constexpr std::uint64_t unmix(std::uint64_t x) {
  x ^= x >> 32;
  x *= detail::inverse(0xD6E8FEB86659FD93ull);
  x ^= x >> 32;
  return x * detail::inverse(0x9E3779B97F4A7C15ull);
}
static_assert(unmix(mix(0)) == 0 && unmix(mix(~0ull)) == ~0ull && unmix(mix(12345)) == 12345);

/// The hash function that a map uses unless its policy names another: XXH3 for strings (transparent:
/// a std::string_view or a literal finds a std::string), std::hash for the rest.
template <class Key>
struct DefaultHash : std::hash<Key> {};

struct StringHash {
  using is_transparent = void;
  std::uint64_t operator()(std::string_view text) const noexcept {
    return XXH3_64bits(text.data(), text.size());
  }
};
template <>
struct DefaultHash<std::string> : StringHash {};
template <>
struct DefaultHash<std::string_view> : StringHash {};

/// Keys that are numbers of at most 64 bits.
template <class Key>
concept IntegerKey = (std::integral<Key> || std::is_enum_v<Key>)&&sizeof(Key) <= 8;

}  // namespace nidus::map

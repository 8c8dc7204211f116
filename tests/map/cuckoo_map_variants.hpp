// SPDX-License-Identifier: Apache-2.0
#pragma once

// The variants of CuckooMap that the tests go through: layouts, slots, search, second bucket, lanes.

#include <cstdint>
#include <memory_resource>
#include <random>
#include <string>
#include <string_view>

#include <nidus/lanes/words.hpp>
#include <nidus/map/cuckoo_map.hpp>

namespace nidus::map {

struct WalkPolicy : FourSlots {
  static constexpr Search kSearch = Search::kRandomWalk;
};
struct SecondHashPolicy : MapPolicy {
  static constexpr Alternate kAlternate = Alternate::kSecondHash;
};
template <class Base>
struct Scalar : Base {
  using Lanes = lanes::ScalarWords;
};

/// Numbers that std::hash leaves as they are, so that the tagged layout is used for them.
struct PlainHash {
  std::size_t operator()(std::uint64_t key) const noexcept { return key; }
};
template <class Base>
struct Tagged : Base {
  template <class Key>
  using Hash = PlainHash;
};

struct ConstantHash {
  std::size_t operator()(std::uint64_t) const noexcept { return 42; }
};
struct ConstantFour : FourSlots {
  template <class Key>
  using Hash = ConstantHash;
};

struct PmrTextHash {
  std::size_t operator()(std::string_view text) const noexcept { return StringHash()(text); }
};
struct PmrTextPolicy : PmrPolicy {
  template <class Key>
  using Hash = PmrTextHash;
};

/// How a test turns a number into a key of its map.
template <class Key>
Key make_key(std::uint64_t n) {
  if constexpr (std::is_same_v<Key, std::string>) {
    return std::to_string(n) + (n % 3 == 0 ? " that does not fit in a short string" : "");
  } else {
    return static_cast<Key>(n);
  }
}

inline std::uint64_t seed() { return std::random_device()(); }

}  // namespace nidus::map

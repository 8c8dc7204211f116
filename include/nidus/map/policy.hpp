// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a map can be told at compile time. A policy is a type that derives from MapPolicy and names
// anew what it wants different:
//
//   struct ByName : nidus::map::MapPolicy {
//     template <class Key> using Hash = MyHash;
//   };
//   nidus::map::CuckooMap<std::string, int, ByName> map;

#include <cstddef>
#include <functional>
#include <memory>
#include <memory_resource>

#include <nidus/lanes/words.hpp>
#include <nidus/map/hash.hpp>

namespace nidus::map {

/// How an empty slot is found when both buckets of a new key are full.
enum class Search {
  kBreadthFirst,  // the shortest path
  kRandomWalk,    // the textbook's: shallow look, longer path
};

/// What decides a key's second bucket.
enum class Alternate {
  kPartialKey,  // the first bucket and the 16-bit tag: a key moves without being hashed again
  kSecondHash,  // all bits of the hash: 2^48 distances instead of 2^15; a move hashes the key
};

struct MapPolicy {
  static constexpr unsigned kSlots = 8;  // a bucket: 4 or 8
  static constexpr Search kSearch = Search::kBreadthFirst;
  static constexpr std::size_t kSearchBuckets = 512;  // looked at before a table counts as full
  static constexpr Alternate kAlternate = Alternate::kPartialKey;

  template <class Key>
  using Hash = DefaultHash<Key>;
  template <class Key>
  using Equal = std::equal_to<>;
  template <class T>
  using Allocator = std::allocator<T>;
  using Lanes = lanes::VectorWords;
};

/// Buckets of four: with 8-byte keys and values one cache line each.
struct FourSlots : MapPolicy {
  static constexpr unsigned kSlots = 4;
};

struct PmrPolicy : MapPolicy {
  template <class T>
  using Allocator = std::pmr::polymorphic_allocator<T>;
};

}  // namespace nidus::map

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The shortest displacement path: from the two buckets of a newcomer, breadth first, to a bucket
// with an empty slot. The caller executes the path from its empty end, so that no key is ever
// absent. Breadth first gives paths of logarithmic length (at 95 % load two or three moves) where a
// random walk needs tens. Source: Li et al., Algorithmic Improvements for Fast Concurrent Cuckoo
// Hashing, EuroSys 2014.
//
// A Table here is any type with
//   static constexpr unsigned kSlots
//   int  empty_slot(std::uint64_t bucket) const            -1 if it is full
//   std::uint64_t alternate(std::uint64_t bucket, unsigned slot) const

#include <array>
#include <cstddef>
#include <cstdint>

namespace nidus::map {

inline constexpr std::size_t kMaxPathMoves = 5;

struct Place {
  std::uint64_t bucket;
  unsigned slot;
};

/// places[0] is where the newcomer goes; places[i] moves to places[i + 1]; the last one is empty.
template <std::size_t kMoves>
struct BasicPath {
  std::size_t length = 0;  // 0: none found
  std::array<Place, kMoves + 1> places;
};
using Path = BasicPath<kMaxPathMoves>;

/// The shortest path that a look at `kMaxNodes` buckets finds. 512: the two, their 16, the 128 behind
/// those and most of the fourth level, with eight slots a bucket.
template <std::size_t kMaxNodes = 512, class Table>
Path find_path(const Table& table, std::uint64_t bucket1, std::uint64_t bucket2) {
  struct Node {
    std::uint64_t bucket;
    std::uint16_t parent;
    std::uint8_t slot;  // of the parent's bucket: the key there would move here
    std::uint8_t depth;
  };
  static_assert(kMaxNodes >= 2 && kMaxNodes <= 65536, "a node names its parent in 16 bits");
  std::array<Node, kMaxNodes> nodes;
  nodes[0] = {bucket1, 0, 0, 0};
  nodes[1] = {bucket2, 1, 0, 0};
  std::size_t count = 2;

  const auto unwind = [&nodes](std::size_t last, unsigned empty) {
    Path path;
    path.length = nodes[last].depth + std::size_t{1};
    unsigned slot = empty;
    for (std::size_t node = last, i = path.length; i-- > 0; node = nodes[node].parent) {
      path.places[i] = {nodes[node].bucket, slot};
      slot = nodes[node].slot;
    }
    return path;
  };

  for (std::size_t root = 0; root < 2; ++root) {
    if (const int empty = table.empty_slot(nodes[root].bucket); empty >= 0) {
      return unwind(root, static_cast<unsigned>(empty));
    }
  }
  for (std::size_t head = 0; head < count && count < kMaxNodes; ++head) {
    const Node from = nodes[head];
    if (from.depth == kMaxPathMoves) break;
    for (unsigned slot = 0; slot < Table::kSlots && count < kMaxNodes; ++slot) {
      const std::uint64_t next = table.alternate(from.bucket, slot);
      nodes[count] = {next, static_cast<std::uint16_t>(head), static_cast<std::uint8_t>(slot),
                      static_cast<std::uint8_t>(from.depth + 1)};
      if (const int empty = table.empty_slot(next); empty >= 0) {
        return unwind(count, static_cast<unsigned>(empty));
      }
      ++count;
    }
  }
  return {};
}

inline constexpr std::size_t kMaxWalkMoves = 127;

/// The textbook's way, one random step after the other: for comparison, and where a path's length
/// matters less than what the search looks at. `random` gives 64 bits a call. No slot is stepped on
/// twice, so that the walk can be executed from its empty end as any path can.
template <class Table, class Random>
BasicPath<kMaxWalkMoves> find_walk(const Table& table, std::uint64_t bucket1, std::uint64_t bucket2,
                                   Random& random) {
  BasicPath<kMaxWalkMoves> path;
  for (const std::uint64_t root : {bucket1, bucket2}) {
    if (const int empty = table.empty_slot(root); empty >= 0) {
      path.places[0] = {root, static_cast<unsigned>(empty)};
      path.length = 1;
      return path;
    }
  }
  const auto stepped_on = [&path](std::uint64_t bucket, unsigned slot, std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) {
      if (path.places[i].bucket == bucket && path.places[i].slot == slot) return true;
    }
    return false;
  };
  std::uint64_t bucket = (random() & 1) != 0 ? bucket1 : bucket2;
  for (std::size_t step = 0; step < kMaxWalkMoves; ++step) {
    auto slot = static_cast<unsigned>(random() >> 32) % Table::kSlots;
    unsigned tries = 0;
    while (tries < Table::kSlots && stepped_on(bucket, slot, step)) {
      slot = (slot + 1) % Table::kSlots;
      ++tries;
    }
    if (tries == Table::kSlots) return {};
    path.places[step] = {bucket, slot};
    bucket = table.alternate(bucket, slot);
    if (const int empty = table.empty_slot(bucket); empty >= 0) {
      path.places[step + 1] = {bucket, static_cast<unsigned>(empty)};
      path.length = step + 2;
      return path;
    }
  }
  return {};
}

}  // namespace nidus::map

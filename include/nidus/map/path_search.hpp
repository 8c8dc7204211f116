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
struct Path {
  std::size_t length = 0;  // 0: none found
  std::array<Place, kMaxPathMoves + 1> places;
};

template <class Table>
Path find_path(const Table& table, std::uint64_t bucket1, std::uint64_t bucket2) {
  struct Node {
    std::uint64_t bucket;
    std::uint16_t parent;
    std::uint8_t slot;   // of the parent's bucket: the key there would move here
    std::uint8_t depth;
  };
  constexpr std::size_t kMaxNodes = 512;  // 2 + 16 + 128 + most of the fourth level
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
  for (std::size_t head = 0; head < count; ++head) {
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
    if (count == kMaxNodes && head + 1 < count && nodes[head + 1].depth > 2) break;
  }
  return {};
}

}  // namespace nidus::map

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The 16384 hash slots placed on nodes, and what a change of nodes moves. The data path of a cluster
// reads such a table; which placement filled it does not matter there.
//
// On a circle a slot stands at slot << 50: even steps balance slightly better than hashed ones and
// leave long ranges of slots together (a few hundred instead of 16384 in CLUSTER SLOTS).

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nidus/ring/hash_slots.hpp>
#include <nidus/ring/placement.hpp>

namespace nidus::ring {

struct SlotTable {
  NodeSet nodes;
  std::vector<NodeIndex> owners;  // [kHashSlots]

  /// How many slots each node owns, by NodeIndex.
  std::vector<std::size_t> counts() const {
    std::vector<std::size_t> counts(nodes.size());
    for (const NodeIndex owner : owners) {
      if (owner != kNoNode) ++counts[owner];
    }
    return counts;
  }

  /// How many runs of consecutive slots have one owner.
  std::size_t ranges() const {
    std::size_t ranges = 0;
    for (std::size_t i = 0; i < owners.size(); ++i) ranges += i == 0 || owners[i] != owners[i - 1];
    return ranges;
  }
};

/// The hash under which a placement finds a hash slot.
template <Placement P>
constexpr std::uint64_t slot_hash(unsigned slot) {
  if constexpr (P::kOnCircle) {
    return std::uint64_t{slot} << (64 - kHashSlotBits);
  } else {
    return nth_hash(0, slot + 1);  // those take hashes modulo something, so every bit counts
  }
}

template <Placement P>
SlotTable place_slots(const P& placement) {
  SlotTable table{placement.nodes(), std::vector<NodeIndex>(kHashSlots)};
  for (unsigned slot = 0; slot < kHashSlots; ++slot) {
    table.owners[slot] = placement.owner(slot_hash<P>(slot));
  }
  return table;
}

struct SlotMove {
  unsigned first, last;  // slots, both included
  std::string from, to;  // empty: no node

  friend bool operator==(const SlotMove&, const SlotMove&) = default;
};

struct SlotDiff {
  std::vector<SlotMove> moves;  // by slot; neighbours that move alike are one
  std::size_t moved = 0;        // slots
  std::size_t minimum = 0;      // the fewest slots that lead to the new counts
};

/// Which slots move from where to where. A node is its name.
inline SlotDiff diff(const SlotTable& before, const SlotTable& after) {
  const auto name = [](const SlotTable& table, unsigned slot) {
    const NodeIndex owner = table.owners[slot];
    return owner == kNoNode ? std::string() : table.nodes[owner].name;
  };
  SlotDiff result;
  std::map<std::string, std::ptrdiff_t> gains;
  for (unsigned slot = 0; slot < kHashSlots; ++slot) {
    std::string from = name(before, slot), to = name(after, slot);
    if (from == to) continue;
    ++result.moved;
    --gains[from];
    ++gains[to];
    SlotMove* last = result.moves.empty() ? nullptr : &result.moves.back();
    if (last != nullptr && last->last + 1 == slot && last->from == from && last->to == to) {
      last->last = slot;
    } else {
      result.moves.push_back({slot, slot, std::move(from), std::move(to)});
    }
  }
  for (const auto& [node, gain] : gains) {
    if (gain > 0) result.minimum += static_cast<std::size_t>(gain);
  }
  return result;
}

}  // namespace nidus::ring

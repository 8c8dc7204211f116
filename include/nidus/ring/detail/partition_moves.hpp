// SPDX-License-Identifier: Apache-2.0
#pragma once

// The moves from one table of partitions to the next under a bound of loads (bounded_load.hpp):
// orphans find a node, nodes that grew take their share, and what is still over the bound moves on.
// Partitions are visited in a fixed, hashed order, so that each node is asked evenly around the
// circle.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <nidus/ring/hash.hpp>
#include <nidus/ring/nodes.hpp>
#include <nidus/ring/ring.hpp>

namespace nidus::ring::detail {

struct Allowance {
  std::size_t fair, cap;  // partitions: the node's share rounded down, and its bound
  bool grew;              // it joined, or its weight rose
};

class PartitionMoves {
 public:
  /// @param owners [2^slot_bits] changed by run(); kNoNode marks an orphan
  /// Requires:     the caps add up to all partitions or more
  PartitionMoves(const Ring& ring, unsigned slot_bits, std::vector<Allowance> nodes,
                 std::span<NodeIndex> owners)
      : ring_(ring),
        shift_(64 - slot_bits),
        nodes_(std::move(nodes)),
        owners_(owners),
        loads_(nodes_.size()),
        order_(owners.size()) {
    for (const NodeIndex owner : owners_) {
      if (owner != kNoNode) ++loads_[owner];
    }
    std::iota(order_.begin(), order_.end(), 0u);
    std::sort(order_.begin(), order_.end(),
              [](std::uint32_t a, std::uint32_t b) { return mix(a + 1) < mix(b + 1); });
  }

  void run() {
    settle([&](NodeIndex owner) { return owner == kNoNode; });
    take_preferred();
    take([&](NodeIndex owner) { return loads_[owner] > nodes_[owner].cap; });
    take([&](NodeIndex owner) { return loads_[owner] > nodes_[owner].fair; });
    settle([&](NodeIndex owner) { return loads_[owner] > nodes_[owner].cap; });
  }

 private:
  auto walk_from(std::uint32_t slot) const {
    return ring_.tokens().walk_from(std::uint64_t{slot} << shift_);
  }

  void move(std::uint32_t slot, NodeIndex to) {
    if (owners_[slot] != kNoNode) --loads_[owners_[slot]];
    ++loads_[to];
    owners_[slot] = to;
  }

  // Partitions that must move go to the first node clockwise that has room.
  template <class MustMove>
  void settle(MustMove must_move) {
    for (const std::uint32_t slot : order_) {
      if (!must_move(owners_[slot])) continue;
      const auto walk = walk_from(slot);
      for (std::size_t i = 0; i < ring_.tokens().size(); ++i) {
        const NodeIndex node = walk(i);
        if (loads_[node] >= nodes_[node].cap) continue;
        move(slot, node);
        break;
      }
    }
  }

  std::size_t wanted(NodeIndex node) const {
    return nodes_[node].grew && loads_[node] < nodes_[node].fair ? nodes_[node].fair - loads_[node]
                                                                 : 0;
  }

  // What the ring gives to a node that grew; as much is left as those over the bound must give.
  void take_preferred() {
    std::size_t to_take = 0, over = 0;
    for (NodeIndex i = 0; i < nodes_.size(); ++i) {
      to_take += wanted(i);
      if (loads_[i] > nodes_[i].cap) over += loads_[i] - nodes_[i].cap;
    }
    for (const std::uint32_t slot : order_) {
      const NodeIndex from = owners_[slot];
      const NodeIndex to = ring_.owner(std::uint64_t{slot} << shift_);
      if (wanted(to) == 0 || nodes_[from].grew || loads_[from] <= nodes_[from].fair) continue;
      const bool from_over = loads_[from] > nodes_[from].cap;
      if (!from_over && to_take <= over) continue;
      move(slot, to);
      --to_take;
      if (from_over) --over;
    }
  }

  // The rest of what nodes that grew want, from nodes that may give; of several takers the first
  // clockwise.
  template <class MayGive>
  void take(MayGive may_give) {
    std::size_t to_take = 0;
    for (NodeIndex i = 0; i < nodes_.size(); ++i) to_take += wanted(i);
    for (const std::uint32_t slot : order_) {
      if (to_take == 0) return;
      const NodeIndex from = owners_[slot];
      if (nodes_[from].grew || !may_give(from)) continue;
      const auto walk = walk_from(slot);
      for (std::size_t i = 0; i < ring_.tokens().size(); ++i) {
        if (wanted(walk(i)) == 0) continue;
        move(slot, walk(i));
        --to_take;
        break;
      }
    }
  }

  const Ring& ring_;
  unsigned shift_;
  std::vector<Allowance> nodes_;
  std::span<NodeIndex> owners_;
  std::vector<std::size_t> loads_;
  std::vector<std::uint32_t> order_;
};

}  // namespace nidus::ring::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rendezvous hashing, also highest random weight (Thaler, Ravishankar 1996), with weights: each node
// draws a number u in (0, 1) for the key, and the smallest -ln(u) / weight wins (the first of
// exponential clocks; Schindelhauer, Schomaker 2005). The share of a node is exactly its weight's, any
// node comes and goes with the ideal movement, and the order of the draws is the best order for
// copies: when a node leaves, its keys spread over all the others. A look-up asks every node, so it
// is for few nodes or for tables that are computed once.
//
// Thread-safety: immutable once built.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nidus/ring/hash.hpp>
#include <nidus/ring/nodes.hpp>

namespace nidus::ring {

class Rendezvous {
 public:
  struct Options {};
  static constexpr std::string_view kName = "rendezvous";
  static constexpr bool kOnCircle = false;

  Rendezvous() = default;

  static Expected<Rendezvous> build(std::vector<Node> nodes, Options = {}) {
    auto set = NodeSet::build(std::move(nodes));
    if (!set) return tl::unexpected(std::move(set.error()));
    Rendezvous built;
    built.nodes_ = std::move(*set);
    for (const Node& node : built.nodes_.nodes()) {
      built.seeds_.push_back(key_hash(node.name));
      built.weighted_ |= node.weight != built.nodes_[0].weight;
    }
    return built;
  }

  static std::uint64_t hash_key(std::string_view key) { return key_hash(key); }

  const NodeSet& nodes() const { return nodes_; }

  /// Cost: one mix a node, and a logarithm a node where weights differ
  NodeIndex owner(std::uint64_t hash) const {
    if (weighted_) return owner_by_weight(hash);
    NodeIndex best = kNoNode;
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < seeds_.size(); ++i) {
      const std::uint64_t drawn = draw(hash, i) + 1;  // above zero
      if (drawn > most) {
        most = drawn;
        best = static_cast<NodeIndex>(i);
      }
    }
    return best;
  }

  void owner_batch(std::span<const std::uint64_t> hashes, std::span<NodeIndex> out) const {
    for (std::size_t i = 0; i < hashes.size(); ++i) out[i] = owner(hashes[i]);
  }

  /// Cost: as owner(), and sorting the nodes; allocates
  std::size_t owners(std::uint64_t hash, std::span<NodeIndex> out) const {
    std::vector<std::tuple<double, std::uint64_t, NodeIndex>> order;
    for (NodeIndex i = 0; i < seeds_.size(); ++i) {
      const double first = weighted_ ? waiting(hash, i) : 0;
      order.emplace_back(first, ~draw(hash, i), i);
    }
    std::sort(order.begin(), order.end());
    return nodes_.choose(
        order.size(), [&](std::size_t i) { return std::get<2>(order[i]); }, out);
  }

  std::size_t memory_bytes() const { return seeds_.size() * sizeof seeds_[0]; }

 private:
  // 53 bits, all that a double holds: the two ways to compare must agree.
  std::uint64_t draw(std::uint64_t hash, std::size_t node) const {
    return mix(hash ^ seeds_[node]) >> 11;
  }
  double waiting(std::uint64_t hash, std::size_t node) const {
    const double u = (static_cast<double>(draw(hash, node)) + 0.5) * 0x1p-53;
    return -std::log(u) / nodes_[static_cast<NodeIndex>(node)].weight;
  }

  NodeIndex owner_by_weight(std::uint64_t hash) const {
    NodeIndex best = 0;
    double least = waiting(hash, 0);
    for (std::size_t i = 1; i < seeds_.size(); ++i) {
      const double time = waiting(hash, i);
      if (time < least || (time == least && draw(hash, i) > draw(hash, best))) {
        least = time;
        best = static_cast<NodeIndex>(i);
      }
    }
    return best;
  }

  NodeSet nodes_;
  std::vector<std::uint64_t> seeds_;
  bool weighted_ = false;
};

}  // namespace nidus::ring

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Maglev's table (Eisenbud et al., NSDI 2016): every node has a permutation of the entries of a
// table, and the nodes take turns (in proportion to their weights) in claiming the next entry of
// theirs that is free. One read a look-up, the evenest of all; but a change also moves some keys
// between nodes that did not change, so it is for connections, not for data. Here to compare with.
//
// Thread-safety: immutable once built.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nidus/ring/hash.hpp>
#include <nidus/ring/nodes.hpp>
#include <nidus/ring/placement.hpp>

namespace nidus::ring {

struct MaglevOptions {
  std::uint32_t entries = 65537;  // a prime, a hundred times the nodes or more (the paper's advice)
};

class Maglev {
 public:
  using Options = MaglevOptions;
  static constexpr std::string_view kName = "maglev";
  static constexpr bool kOnCircle = false;

  Maglev() = default;

  /// Errors: see NodeSet::build(); entries that are no prime, or fewer than the nodes.
  static Expected<Maglev> build(std::vector<Node> nodes, Options options = {}) {
    auto set = NodeSet::build(std::move(nodes));
    if (!set) return tl::unexpected(std::move(set.error()));
    if (!is_prime(options.entries) || options.entries < set->size()) {
      return fail(std::to_string(options.entries) +
                  " entries: their number must be a prime, and not below that of the nodes");
    }
    Maglev built;
    built.nodes_ = std::move(*set);
    if (!built.nodes_.empty()) built.fill(options.entries);
    return built;
  }

  static std::uint64_t hash_key(std::string_view key) { return key_hash(key); }

  const NodeSet& nodes() const { return nodes_; }

  NodeIndex owner(std::uint64_t hash) const {
    return table_.empty() ? kNoNode : table_[hash % table_.size()];
  }
  void owner_batch(std::span<const std::uint64_t> hashes, std::span<NodeIndex> out) const {
    for (std::size_t i = 0; i < hashes.size(); ++i) out[i] = owner(hashes[i]);
  }
  std::size_t owners(std::uint64_t hash, std::span<NodeIndex> out) const {
    return owners_by_hashing_on(*this, hash, out);
  }
  std::size_t memory_bytes() const { return table_.size() * sizeof table_[0]; }

 private:
  struct Turn {
    std::uint64_t at, skip;  // the next entry of the node's permutation, and the step
    double credit, weight;   // a turn costs 1; the heaviest node gets 1 each round
  };

  static bool is_prime(std::uint32_t n) {
    for (std::uint32_t i = 2; std::uint64_t{i} * i <= n; ++i) {
      if (n % i == 0) return false;
    }
    return n >= 2;
  }

  void fill(std::uint64_t entries) {
    double heaviest = 0;
    for (const Node& node : nodes_.nodes()) heaviest = std::max(heaviest, node.weight);
    std::vector<Turn> turns;
    for (const Node& node : nodes_.nodes()) {
      const std::uint64_t hash = key_hash(node.name);
      const std::uint64_t skip = entries > 2 ? nth_hash(hash, 1) % (entries - 1) + 1 : 1;
      turns.push_back({hash % entries, skip, 0, node.weight / heaviest});
    }
    table_.assign(entries, kNoNode);
    for (std::uint64_t left = entries; left > 0;) {
      for (std::size_t i = 0; i < turns.size() && left > 0; ++i) {
        Turn& turn = turns[i];
        turn.credit += turn.weight;
        if (turn.credit < 1) continue;
        turn.credit -= 1;
        while (table_[turn.at] != kNoNode) turn.at = (turn.at + turn.skip) % entries;
        table_[turn.at] = static_cast<NodeIndex>(i);
        --left;
      }
    }
  }

  NodeSet nodes_;
  std::vector<NodeIndex> table_;
};

}  // namespace nidus::ring

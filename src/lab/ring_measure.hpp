// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the ring's report and experiments measure alike: how even a placement is, and what a change of
// nodes moves.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <nidus/ring/nodes.hpp>

#include "lab/model.hpp"

namespace nidus::lab {

inline std::vector<std::uint64_t> random_hashes(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> hashes(n);
  for (std::uint64_t& hash : hashes) hash = random();
  return hashes;
}

/// Nodes of weight 1 whose names sort in the order of their numbers; a set is a sample of names.
inline std::vector<ring::Node> numbered_nodes(std::size_t n, std::size_t set = 0) {
  std::vector<ring::Node> nodes;
  for (std::size_t i = 0; i < n; ++i) {
    std::string digits = std::to_string(100'000 + i);
    nodes.push_back({"set" + std::to_string(set) + "-node" + digits.substr(1), 1, ""});
  }
  return nodes;
}

/// Loads relative to the fair share of each node: 1 is what its weight deserves.
struct Balance {
  double max_over_mean = 0;
  double deviation = 0;  // root of the mean square of load - 1
};

inline std::vector<double> shares_of(std::span<const ring::NodeIndex> owners, std::size_t nodes) {
  std::vector<double> shares(nodes);
  for (const ring::NodeIndex owner : owners) shares[owner] += 1;
  for (double& share : shares) share /= static_cast<double>(owners.size());
  return shares;
}

/// @param arcs all the arcs of a circle with more than one
inline std::vector<double> shares_of(std::span<const ring::Arc> arcs, std::size_t nodes) {
  std::vector<double> shares(nodes);
  for (const ring::Arc& arc : arcs) {
    shares[arc.node] += arc.from == arc.to ? 1 : static_cast<double>(arc.to - arc.from) * 0x1p-64;
  }
  return shares;
}

inline Balance balance_of(std::span<const double> shares, const ring::NodeSet& nodes) {
  Balance balance;
  for (ring::NodeIndex i = 0; i < shares.size(); ++i) {
    const double load = shares[i] / nodes.fair_share(i);
    balance.max_over_mean = std::max(balance.max_over_mean, load);
    balance.deviation += (load - 1) * (load - 1);
  }
  balance.deviation = std::sqrt(balance.deviation / static_cast<double>(shares.size()));
  return balance;
}

/// The least share of keys that must move so that every node has what is due to it after the change,
/// from one where every node had what was due to it.
inline double ideal_movement(const ring::NodeSet& before, const ring::NodeSet& after) {
  double moved = 0;
  for (ring::NodeIndex i = 0; i < after.size(); ++i) {
    const ring::NodeIndex old = before.find(after[i].name);
    const double had = old == ring::kNoNode ? 0 : before.fair_share(old);
    moved += std::max(0.0, after.fair_share(i) - had);
  }
  return moved;
}

struct Movement {
  std::size_t moved = 0;
  std::size_t needless = 0;  // between two nodes that are there before and after
};

/// Owners of the same keys before and after.
inline Movement movement(const Model& before, std::span<const ring::NodeIndex> owned,
                         const Model& after, std::span<const ring::NodeIndex> owns) {
  std::vector<ring::NodeIndex> now;  // of each node before
  for (const ring::Node& node : before.nodes().nodes())
    now.push_back(after.nodes().find(node.name));
  std::vector<bool> is_new;
  for (const ring::Node& node : after.nodes().nodes()) {
    is_new.push_back(before.nodes().find(node.name) == ring::kNoNode);
  }
  Movement result;
  for (std::size_t i = 0; i < owned.size(); ++i) {
    const ring::NodeIndex from = owned[i] == ring::kNoNode ? ring::kNoNode : now[owned[i]];
    if (from == owns[i] && from != ring::kNoNode) continue;
    ++result.moved;
    if (from != ring::kNoNode && owns[i] != ring::kNoNode && !is_new[owns[i]]) ++result.needless;
  }
  return result;
}

}  // namespace nidus::lab

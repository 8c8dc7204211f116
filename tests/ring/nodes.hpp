// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of placements share: sets of nodes, a stream of hashes that is the same in every
// run, and who owns what by name.

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <nidus/ring/placement.hpp>

namespace nidus::ring::testing {

inline std::string node_name(std::size_t i) {
  std::string digits = std::to_string(i);  // so that names sort as their numbers do
  return "node-" + std::string(4 - digits.size(), '0') + digits;
}

/// node-0000 .. node-(n-1), of weight 1.
inline std::vector<Node> equal_nodes(std::size_t n) {
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < n; ++i) nodes.push_back({node_name(i), 1, ""});
  return nodes;
}

inline std::vector<std::uint64_t> hashes(std::size_t n, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> hashes(n);
  for (std::uint64_t& hash : hashes) hash = random();
  return hashes;
}

/// The name of the owner, "" if there is none.
template <class P>
std::string owner_name(const P& placement, std::uint64_t hash) {
  const NodeIndex owner = placement.owner(hash);
  return owner == kNoNode ? "" : placement.nodes()[owner].name;
}

template <class P>
std::vector<std::string> owner_names(const P& placement, std::uint64_t hash, std::size_t copies) {
  std::vector<NodeIndex> out(copies);
  out.resize(placement.owners(hash, out));
  std::vector<std::string> names;
  for (const NodeIndex node : out) names.push_back(placement.nodes()[node].name);
  return names;
}

/// How many of the hashes moved, by (from, to).
template <class P>
std::map<std::pair<std::string, std::string>, std::size_t> moves(
    const P& before, const P& after, const std::vector<std::uint64_t>& hashes) {
  std::map<std::pair<std::string, std::string>, std::size_t> moves;
  for (const std::uint64_t hash : hashes) {
    std::pair move(owner_name(before, hash), owner_name(after, hash));
    if (move.first != move.second) ++moves[std::move(move)];
  }
  return moves;
}

}  // namespace nidus::ring::testing

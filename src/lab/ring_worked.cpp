// SPDX-License-Identifier: Apache-2.0

// The textbook's example, small enough to check by hand: a circle of 100 positions.

#include <string>
#include <utility>
#include <vector>

#include <nidus/ring/ring.hpp>

#include "lab/ring.hpp"

namespace nidus::lab {
namespace {

ring::Ring ring_at(const std::vector<std::uint64_t>& positions) {
  std::vector<ring::Node> nodes;
  for (const std::uint64_t at : positions) nodes.push_back({"node " + std::to_string(at), 1, ""});
  ring::NodeSet set = ring::NodeSet::build(nodes).value();
  std::vector<ring::Token> tokens;
  for (const std::uint64_t at : positions) {
    tokens.push_back({at, set.find("node " + std::to_string(at)), 0});
  }
  return ring::Ring::from_tokens(std::move(set), tokens);
}

}  // namespace

Expected<Tables> ring_worked(const RingLab&, const Progress&) {
  const ring::Ring before = ring_at({20, 50, 80}), after = ring_at({20, 40, 50, 80});
  Table keys{"keys",
             "Nodes stand at 20, 50 and 80; then one joins at 40.",
             {{"key"}, {"owner"}, {"owner_after"}, {"moves"}},
             {}};
  std::size_t moved = 0;
  for (const std::uint64_t key : {10, 35, 65, 90}) {
    const std::string from = before.nodes()[before.owner(key)].name;
    const std::string to = after.nodes()[after.owner(key)].name;
    moved += from != to;
    keys.rows.push_back({count(key), from, to, std::string(from == to ? "no" : "yes")});
  }
  Table summary{"summary", "", {{"keys"}, {"moved"}}, {{count(4), count(moved)}}, true};
  return Tables{std::move(keys), std::move(summary)};
}

}  // namespace nidus::lab

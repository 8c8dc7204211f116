// SPDX-License-Identifier: Apache-2.0

// The ring: tokens put where the test wants them, then what the theory promises of hashed ones.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <nidus/ring/ring.hpp>

#include "nodes.hpp"

namespace nidus::ring {
namespace {

using testing::equal_nodes;
using testing::hashes;
using testing::moves;
using testing::owner_name;
using testing::owner_names;

using Positions = std::map<std::string, std::vector<std::uint64_t>>;

Ring ring_at(const Positions& positions) {
  std::vector<Node> nodes;
  for (const auto& [name, unused] : positions) nodes.push_back({name, 1, ""});
  NodeSet set = NodeSet::build(nodes).value();
  std::vector<Token> tokens;
  for (const auto& [name, hashes] : positions) {
    for (std::uint32_t k = 0; k < hashes.size(); ++k) {
      tokens.push_back({hashes[k], set.find(name), k});
    }
  }
  return Ring::from_tokens(std::move(set), tokens);
}

TEST(Ring, KeyBelongsToTheFirstTokenAtOrAfterIt) {
  const Ring ring = ring_at({{"A", {10, 50}}, {"B", {50, 90}}});
  EXPECT_EQ(owner_name(ring, 5), "A");
  EXPECT_EQ(owner_name(ring, 40), "A");
  EXPECT_EQ(owner_name(ring, 50), "A");  // both stand there; A is the first by name
  EXPECT_EQ(owner_name(ring, 51), "B");
  EXPECT_EQ(owner_name(ring, 91), "A");  // around the end
}

TEST(Ring, RemovedNodeLeavesItsKeysToTheNextToken) {
  const Ring ring = ring_at({{"B", {50, 90}}});
  EXPECT_EQ(owner_name(ring, 40), "B");
  EXPECT_EQ(owner_name(ring, 91), "B");
  EXPECT_EQ(owner_name(ring_at({}), 40), "");
}

TEST(Ring, CollidingTokensHaveOneOwnerInEveryOrderOfJoining) {
  const std::vector<Node> nodes = {{"A", 1, ""}, {"B", 1, ""}};
  std::vector<Token> tokens = {{50, 0, 1}, {90, 1, 1}, {10, 0, 0}, {50, 1, 0}};
  std::sort(tokens.begin(), tokens.end());
  do {
    const Ring ring = Ring::from_tokens(NodeSet::build(nodes).value(), tokens);
    for (const std::uint64_t hash : {10, 11, 50}) ASSERT_EQ(owner_name(ring, hash), "A");
    for (const std::uint64_t hash : {51, 90}) ASSERT_EQ(owner_name(ring, hash), "B");
  } while (std::next_permutation(tokens.begin(), tokens.end()));
}

TEST(Ring, TextbookRingMovesOneKey) {
  const Ring before = ring_at({{"n20", {20}}, {"n50", {50}}, {"n80", {80}}});
  const Ring after = ring_at({{"n20", {20}}, {"n40", {40}}, {"n50", {50}}, {"n80", {80}}});
  const std::vector<std::uint64_t> keys = {10, 35, 65, 90};
  std::vector<std::string> owners;
  for (const auto key : keys) owners.push_back(owner_name(before, key));
  EXPECT_EQ(owners, (std::vector<std::string>{"n20", "n50", "n80", "n20"}));
  const auto moved = moves(before, after, keys);
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved.begin()->first, std::pair(std::string("n50"), std::string("n40")));
  EXPECT_EQ(owner_name(after, 35), "n40");
}

TEST(Ring, EdgesOfTheCircleAreOwned) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const Ring ring = ring_at({{"A", {0}}, {"B", {kMax}}});
  EXPECT_EQ(owner_name(ring, 0), "A");
  EXPECT_EQ(owner_name(ring, 1), "B");
  EXPECT_EQ(owner_name(ring, kMax), "B");
  EXPECT_EQ(owner_name(ring_at({{"A", {7}}}), kMax), "A");
}

// Crowded tokens leave the compared four and go on by binary search.
TEST(Ring, SearchAgreesWithUpperBoundHoweverTokensStand) {
  std::mt19937_64 random(3);
  for (const std::uint64_t mask : {~0ull, 0xffffull, 0xfull, 0xffff00000000ffffull}) {
    for (const std::size_t n : {1u, 2u, 5u, 64u, 1000u}) {
      std::vector<std::uint64_t> at(n);
      for (auto& hash : at) hash = random() & mask;
      const Ring ring = ring_at({{"A", at}});
      std::sort(at.begin(), at.end());
      for (int i = 0; i < 2000; ++i) {
        const std::uint64_t hash =
            i % 2 == 0 ? random() & mask : at[random() % n] + random() % 3 - 1;
        ASSERT_EQ(
            ring.tokens().at_or_after(hash),
            static_cast<std::size_t>(std::lower_bound(at.begin(), at.end(), hash) - at.begin()));
      }
    }
  }
}

TEST(Ring, NodeThatIsAddedAgainRestoresTheSameRing) {
  auto nodes = equal_nodes(5);
  const Ring before = Ring::build(nodes).value();
  const Node left = nodes[2];
  nodes.erase(nodes.begin() + 2);
  const Ring without = Ring::build(nodes).value();
  nodes.insert(nodes.begin(), left);
  const Ring again = Ring::build(nodes).value();
  const auto keys = hashes(20'000);
  EXPECT_FALSE(moves(before, without, keys).empty());
  EXPECT_TRUE(moves(before, again, keys).empty());
}

TEST(Ring, JoinMovesTheIdealShareOnlyToTheNewNode) {
  const auto keys = hashes(100'000);
  double ratio_sum = 0;
  int rings = 0;
  for (const std::size_t n : {3u, 10u, 30u}) {
    const Ring before = Ring::build(equal_nodes(n)).value();
    const Ring after = Ring::build(equal_nodes(n + 1)).value();
    std::size_t moved = 0;
    for (const auto& [move, count] : moves(before, after, keys)) {
      ASSERT_EQ(move.second, testing::node_name(n));
      moved += count;
    }
    const double ideal = 1.0 / static_cast<double>(n + 1);
    const double share = static_cast<double>(moved) / static_cast<double>(keys.size());
    // The new node's arcs spread by 1/sqrt(1024) = 3.1 %; the sample by sqrt((1-p)/(p n)) < 1.8 %.
    EXPECT_NEAR(share / ideal, 1, 4 * 0.036) << n;
    ratio_sum += share / ideal;
    ++rings;
  }
  EXPECT_NEAR(ratio_sum / rings, 1, 0.1);
}

TEST(Ring, EjectingOneOfFiveMovesExactlyItsKeys) {
  auto nodes = equal_nodes(5);
  const Ring before = Ring::build(nodes).value();
  nodes.erase(nodes.begin() + 3);
  const Ring after = Ring::build(nodes).value();
  for (const auto key : hashes(100'000)) {
    const bool was_its = owner_name(before, key) == testing::node_name(3);
    ASSERT_EQ(owner_name(before, key) != owner_name(after, key), was_its);
  }
}

// A node's address is no part of it: what a caller maps names to may change at will. Nor do zones
// move a first copy.
TEST(Ring, ZoneOfANodeMovesNoFirstOwner) {
  auto nodes = equal_nodes(5);
  const Ring before = Ring::build(nodes).value();
  nodes[1].zone = "elsewhere";
  EXPECT_TRUE(moves(before, Ring::build(nodes).value(), hashes(20'000)).empty());
}

TEST(Ring, FullestOfTenNodesHoldsAtMostATenthMoreThanTheMean) {
  const Ring ring = Ring::build(equal_nodes(10)).value();
  std::vector<double> share(10);
  for (const Arc& arc : ring.arcs())
    share[arc.node] += static_cast<double>(arc.to - arc.from) * 0x1p-64;
  double sum = 0;
  for (const double s : share) sum += s;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_LE(*std::max_element(share.begin(), share.end()), 0.110);
}

// A share is the sum of `tokens` nearly independent arcs, so it spreads by sqrt((1 - 1/N) / tokens).
TEST(Ring, LoadSpreadsByTheSquareRootOfTheTokens) {
  for (const std::uint32_t tokens : {16u, 64u, 256u, 1024u}) {
    constexpr int kRings = 60;
    constexpr std::size_t kNodes = 10;
    double squares = 0;
    for (int r = 0; r < kRings; ++r) {
      auto nodes = equal_nodes(kNodes);
      for (Node& node : nodes) node.name += "-" + std::to_string(r);
      const Ring ring = Ring::build(nodes, {tokens}).value();
      std::vector<double> load(kNodes);
      for (const Arc& arc : ring.arcs()) {
        load[arc.node] += static_cast<double>(arc.to - arc.from) * 0x1p-64 * kNodes;
      }
      for (const double l : load) squares += (l - 1) * (l - 1);
    }
    const double measured = std::sqrt(squares / kRings / kNodes);
    const double theory = std::sqrt((1 - 1.0 / kNodes) / tokens);
    // 600 loads: their deviation is itself known to 1/sqrt(2 x 540) = 3 %; five of those.
    EXPECT_NEAR(measured / theory, 1, 0.15) << tokens;
  }
}

TEST(Ring, WeightIsTheShare) {
  const Ring ring = Ring::build({{"a", 1, ""}, {"b", 2, ""}, {"c", 0.5, ""}}).value();
  std::vector<double> share(3);
  for (const Arc& arc : ring.arcs())
    share[arc.node] += static_cast<double>(arc.to - arc.from) * 0x1p-64;
  EXPECT_NEAR(share[0] / (2 / 7.0), 1, 0.15);
  EXPECT_NEAR(share[1] / (4 / 7.0), 1, 0.15);
  EXPECT_NEAR(share[2] / (1 / 7.0), 1, 0.20);
}

TEST(Ring, CopiesAvoidZonesThatHoldOne) {
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < 9; ++i) {
    nodes.push_back({testing::node_name(i), 1, i < 5 ? "a" : i < 7 ? "b" : "c"});
  }
  const Ring zoned = Ring::build(nodes).value();
  for (Node& node : nodes) node.zone.clear();
  const Ring plain = Ring::build(nodes).value();
  for (const auto key : hashes(2000)) {
    const auto copies = owner_names(zoned, key, 2), unaware = owner_names(plain, key, 9);
    // The second copy is the first node of the walk that is in another zone.
    const auto zone = [&](const std::string& name) {
      return zoned.nodes()[zoned.nodes().find(name)].zone;
    };
    const auto next = std::find_if(unaware.begin(), unaware.end(),
                                   [&](const auto& name) { return zone(name) != zone(copies[0]); });
    ASSERT_EQ(copies[1], *next);
  }
}

TEST(Ring, NonsenseIsRefused) {
  EXPECT_EQ(Ring::build(equal_nodes(1), {0}).error().message, "a node needs at least one token");
  EXPECT_NE(Ring::build({{"a", 1e9, ""}}).error().message.find("give smaller weights"),
            std::string::npos);
  EXPECT_NE(Ring::build(std::vector<Node>(65536), {1}).error().message.find("at most 65535"),
            std::string::npos);
}

}  // namespace
}  // namespace nidus::ring

// SPDX-License-Identifier: Apache-2.0

// The contract of placements, one suite for every model.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <nidus/ring/bounded_load.hpp>
#include <nidus/ring/jump.hpp>
#include <nidus/ring/ketama.hpp>
#include <nidus/ring/maglev.hpp>
#include <nidus/ring/modulo.hpp>
#include <nidus/ring/rendezvous.hpp>
#include <nidus/ring/ring.hpp>

#include "nodes.hpp"

namespace nidus::ring {
namespace {

using testing::equal_nodes;
using testing::hashes;
using testing::owner_name;
using testing::owner_names;

template <class P>
class Contract : public ::testing::Test {
 public:
  static P build(std::vector<Node> nodes) { return P::build(std::move(nodes)).value(); }
};
using Models =
    ::testing::Types<Ring, BoundedLoad, Ketama, KetamaTwemproxy, Rendezvous, Jump, Maglev, Modulo>;
struct Names {
  template <class P>
  static std::string GetName(int) {
    std::string name(P::kName);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }
};
TYPED_TEST_SUITE(Contract, Models, Names);

TYPED_TEST(Contract, IsAPlacement) { static_assert(Placement<TypeParam>); }

TYPED_TEST(Contract, SameNodesGiveSameOwners) {
  const auto one = this->build(equal_nodes(17)), other = this->build(equal_nodes(17));
  for (const auto hash : hashes(10'000)) ASSERT_EQ(one.owner(hash), other.owner(hash));
}

TYPED_TEST(Contract, OrderOfNodesDoesNotMatter) {
  auto nodes = equal_nodes(17);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].weight = 1 + static_cast<double>(i % 3);
    nodes[i].zone = std::string(1, static_cast<char>('a' + i % 4));
  }
  const auto forward = this->build(nodes);
  std::mt19937 random(7);
  for (int round = 0; round < 3; ++round) {
    std::shuffle(nodes.begin(), nodes.end(), random);
    const auto shuffled = this->build(nodes);
    for (const auto hash : hashes(2000)) {
      ASSERT_EQ(owner_names(forward, hash, 3), owner_names(shuffled, hash, 3));
    }
  }
}

TYPED_TEST(Contract, EveryHashIsOwnedAndEveryNodeOwns) {
  const auto placement = this->build(equal_nodes(12));
  std::set<std::string> seen;
  auto some = hashes(20'000);
  for (const std::uint64_t edge : {0ull, 1ull, 1ull << 63, ~0ull, ~0ull - 1}) some.push_back(edge);
  for (const auto hash : some) {
    ASSERT_LT(placement.owner(hash), 12);
    seen.insert(owner_name(placement, hash));
  }
  EXPECT_EQ(seen.size(), 12u);
}

TYPED_TEST(Contract, NoNodeMeansNoOwner) {
  std::vector<NodeIndex> out(3);
  for (const auto& none : {this->build({}), TypeParam()}) {
    for (const auto hash : hashes(100)) {
      ASSERT_EQ(none.owner(hash), kNoNode);
      ASSERT_EQ(none.owners(hash, out), 0u);
    }
  }
}

TYPED_TEST(Contract, OneNodeOwnsEverything) {
  const auto one = this->build({{"only", 3, "z"}});
  for (const auto hash : hashes(1000)) {
    ASSERT_EQ(owner_name(one, hash), "only");
    ASSERT_EQ(owner_names(one, hash, 3), std::vector<std::string>{"only"});
  }
}

TYPED_TEST(Contract, BatchAnswersAsOneByOne) {
  const auto placement = this->build(equal_nodes(9));
  const auto asked = hashes(1001);
  std::vector<NodeIndex> out(asked.size());
  placement.owner_batch(asked, out);
  for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(out[i], placement.owner(asked[i]));
}

TYPED_TEST(Contract, OwnersAreDistinctBeginWithTheOwnerAndReachAll) {
  const auto placement = this->build(equal_nodes(7));
  for (const auto hash : hashes(500)) {
    const auto all = owner_names(placement, hash, 10);
    ASSERT_EQ(all.size(), 7u);
    ASSERT_EQ(all.front(), owner_name(placement, hash));
    ASSERT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 7u);
    const auto three = owner_names(placement, hash, 3);
    ASSERT_TRUE(std::equal(three.begin(), three.end(), all.begin()));
  }
}

TYPED_TEST(Contract, NoZoneHoldsTwoCopiesWhileOneHoldsNone) {
  auto nodes = equal_nodes(8);
  const char* zones[] = {"a", "a", "a", "a", "b", "b", "c", "c"};
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].zone = zones[i];
  const auto placement = this->build(nodes);
  for (const auto hash : hashes(500)) {
    std::vector<NodeIndex> out(7);
    ASSERT_EQ(placement.owners(hash, out), 7u);
    const auto zones_of = [&](std::size_t from, std::size_t to) {
      std::set<std::string> seen;
      for (std::size_t i = from; i < to; ++i) seen.insert(placement.nodes()[out[i]].zone);
      return seen.size();
    };
    ASSERT_EQ(zones_of(0, 3), 3u);
    ASSERT_EQ(zones_of(3, 6), 3u);
  }
}

TYPED_TEST(Contract, BadNodesAreRefusedWithTheirName) {
  const auto message = [](std::vector<Node> nodes) {
    const auto built = TypeParam::build(std::move(nodes));
    return built ? std::string("built") : built.error().message;
  };
  EXPECT_EQ(message({{"a", 1, ""}, {"a", 2, ""}}), "node 'a' is given twice");
  EXPECT_EQ(message({{"", 1, ""}}), "a node has no name");
  for (const double weight : {0.0, -1.0, 0.0 / 0.0, 1e308 * 10}) {
    EXPECT_EQ(message({{"a", weight, ""}}), "the weight of node 'a' is not above zero");
  }
}

}  // namespace
}  // namespace nidus::ring

// SPDX-License-Identifier: Apache-2.0

// Bounded loads through joins, departures and changes of weight: the bound at every moment, and no
// move without a reason.

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <nidus/ring/bounded_load.hpp>
#include <nidus/ring/slot_table.hpp>

#include "nodes.hpp"

namespace nidus::ring {
namespace {

using testing::equal_nodes;
using testing::node_name;

std::vector<std::size_t> counts(const BoundedLoad& placement) {
  return place_slots(placement).counts();
}

void expect_within_the_bound(const BoundedLoad& placement) {
  const auto loads = counts(placement);
  std::size_t all = 0;
  for (NodeIndex i = 0; i < loads.size(); ++i) {
    const double fair = placement.nodes().fair_share(i) * kHashSlots;
    ASSERT_LE(static_cast<double>(loads[i]), (1 + placement.options().epsilon) * fair + 1e-6);
    all += loads[i];
  }
  ASSERT_EQ(all, kHashSlots);
}

TEST(BoundedLoad, HoldsItsBoundFromTheStart) {
  for (const double epsilon : {0.02, 0.05, 0.25}) {
    for (const std::size_t n : {1u, 2u, 7u, 60u}) {
      expect_within_the_bound(BoundedLoad::build(equal_nodes(n), {epsilon}).value());
    }
  }
}

TEST(BoundedLoad, HoldsItsBoundThroughARandomHistoryAndMovesNoMoreThanNeeded) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    std::mt19937_64 random(seed);
    auto nodes = equal_nodes(6);
    std::size_t next = nodes.size();
    auto now = BoundedLoad::build(nodes).value();
    double moved = 0, ideal = 0;
    for (int event = 0; event < 200; ++event) {
      const bool joins = nodes.size() <= 4 || (nodes.size() < 30 && random() % 2 == 0);
      std::string changed;
      if (joins) {
        changed = node_name(next++);
        nodes.push_back({changed, 1, ""});
        ideal += kHashSlots / static_cast<double>(nodes.size());
      } else {
        const auto leaver = nodes.begin() + static_cast<std::ptrdiff_t>(random() % nodes.size());
        changed = leaver->name;
        ideal += kHashSlots / static_cast<double>(nodes.size());
        nodes.erase(leaver);
      }
      const auto after = now.rebuilt(nodes).value();
      ASSERT_NO_FATAL_FAILURE(expect_within_the_bound(after));
      for (const SlotMove& move : diff(place_slots(now), place_slots(after)).moves) {
        ASSERT_EQ(joins ? move.to : move.from, changed) << "event " << event;
        moved += move.last - move.first + 1;
      }
      now = after;
    }
    EXPECT_LE(moved / ideal, 1.01) << "seed " << seed;
  }
}

TEST(BoundedLoad, WeightsAreBoundsToo) {
  std::vector<Node> nodes = {{"a", 1, ""}, {"b", 2, ""}, {"c", 4, ""}};
  auto now = BoundedLoad::build(nodes).value();
  expect_within_the_bound(now);
  nodes[0].weight = 4;
  now = now.rebuilt(nodes).value();
  expect_within_the_bound(now);
  EXPECT_GT(counts(now)[0], 6000u);  // of 16384 x 4/10 = 6553
  nodes[0].weight = 0.5;
  now = now.rebuilt(nodes).value();
  expect_within_the_bound(now);
}

TEST(BoundedLoad, SeveralChangesAtOnceKeepTheBound) {
  auto now = BoundedLoad::build(equal_nodes(12)).value();
  auto nodes = equal_nodes(18);
  nodes.erase(nodes.begin(), nodes.begin() + 3);
  now = now.rebuilt(nodes).value();
  expect_within_the_bound(now);
  now = now.rebuilt({}).value();
  EXPECT_EQ(now.owner(123), kNoNode);
  now = now.rebuilt(equal_nodes(3)).value();
  expect_within_the_bound(now);
}

TEST(BoundedLoad, NothingChangesWithoutAChange) {
  const auto now = BoundedLoad::build(equal_nodes(9)).value();
  const auto again = now.rebuilt(equal_nodes(9)).value();
  EXPECT_EQ(diff(place_slots(now), place_slots(again)).moved, 0u);
}

TEST(BoundedLoad, FewPartitionsForManyNodesAreStillAllOwned) {
  const auto placement = BoundedLoad::build(equal_nodes(40), {0.05, 4}).value();
  std::vector<std::size_t> loads(40);
  for (std::uint64_t slot = 0; slot < 16; ++slot) ++loads[placement.owner(slot << 60)];
  EXPECT_EQ(*std::max_element(loads.begin(), loads.end()), 1u);
}

TEST(BoundedLoad, NonsenseIsRefused) {
  EXPECT_FALSE(BoundedLoad::build(equal_nodes(1), {0.0}));
  EXPECT_FALSE(BoundedLoad::build(equal_nodes(1), {0.05, 0}));
  EXPECT_FALSE(BoundedLoad::build(equal_nodes(1), {0.05, 30}));
}

}  // namespace
}  // namespace nidus::ring

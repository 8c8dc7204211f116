// SPDX-License-Identifier: Apache-2.0

// Hash slots on nodes, and what a change moves.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <nidus/ring/bounded_load.hpp>
#include <nidus/ring/jump.hpp>
#include <nidus/ring/modulo.hpp>
#include <nidus/ring/rendezvous.hpp>
#include <nidus/ring/ring.hpp>
#include <nidus/ring/slot_table.hpp>

#include "nodes.hpp"

namespace nidus::ring {
namespace {

using testing::equal_nodes;
using testing::node_name;

template <class P>
SlotTable table(std::size_t nodes) {
  return place_slots(P::build(equal_nodes(nodes)).value());
}

TEST(SlotTable, EveryPlacementSharesTheSlotsOut) {
  for (const SlotTable& slots : {table<Ring>(8), table<BoundedLoad>(8), table<Rendezvous>(8),
                                 table<Jump>(8), table<Modulo>(8)}) {
    // 2048 slots are due to each; a ring may be off by a fifth, hashing by 4 sqrt(2048) = 180.
    for (const std::size_t count : slots.counts())
      EXPECT_NEAR(static_cast<double>(count), 2048, 420);
  }
}

TEST(SlotTable, JoinMovesSlotsOnlyToTheNewNodeAndNoMoreThanTheFewest) {
  const SlotDiff change = diff(table<Ring>(3), table<Ring>(4));
  EXPECT_EQ(change.moved, change.minimum);
  EXPECT_NEAR(static_cast<double>(change.moved), kHashSlots / 4.0, kHashSlots * 0.04);
  std::size_t moved = 0;
  for (const SlotMove& move : change.moves) {
    EXPECT_EQ(move.to, node_name(3));
    moved += move.last - move.first + 1;
  }
  EXPECT_EQ(moved, change.moved);
}

TEST(SlotTable, ModuloMovesThreeOfFour) {
  const SlotDiff change = diff(table<Modulo>(3), table<Modulo>(4));
  EXPECT_NEAR(static_cast<double>(change.moved) / kHashSlots, 0.75, 0.02);
  EXPECT_NEAR(static_cast<double>(change.minimum) / kHashSlots, 0.25, 0.02);
}

TEST(SlotTable, NoNodesOwnNothing) {
  const SlotDiff change = diff(table<Ring>(0), table<Ring>(1));
  ASSERT_EQ(change.moves.size(), 1u);
  EXPECT_EQ(change.moves[0], (SlotMove{0, kHashSlots - 1, "", node_name(0)}));
  EXPECT_EQ(change.moved, kHashSlots);
  EXPECT_EQ(table<Ring>(0).counts(), std::vector<std::size_t>{});
}

TEST(SlotTable, EvenPositionsLeaveFewRanges) {
  // Each of 10 x 1024 tokens may end a range; hashed positions would leave 0.9 x 16384 of them.
  EXPECT_LT(table<Ring>(10).ranges(), 8000u);
  EXPECT_GT(table<Rendezvous>(10).ranges(), 14000u);
}

}  // namespace
}  // namespace nidus::ring

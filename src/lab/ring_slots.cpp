// SPDX-License-Identifier: Apache-2.0

// Hash slots are a coarse sample of a placement: what that adds to imbalance and to movement.

#include <utility>
#include <vector>

#include <nidus/ring/hash_slots.hpp>

#include "lab/ring.hpp"
#include "lab/ring_measure.hpp"

namespace nidus::lab {
namespace {

struct Sums {
  double by_arc = 0, by_slot = 0, max_by_slot = 0, moved = 0, ranges = 0;
};

std::size_t ranges_of(std::span<const ring::NodeIndex> owners) {
  std::size_t ranges = 1;
  for (std::size_t i = 1; i < owners.size(); ++i) ranges += owners[i] != owners[i - 1];
  return ranges;
}

Expected<Sums> measure(std::string_view name, std::size_t nodes, std::size_t rings,
                       const RingLab& lab) {
  Sums sums;
  for (std::size_t r = 0; r < rings; ++r) {
    const std::size_t set = lab.seed * 1'000'003 + r;
    const auto before = make_model(name, numbered_nodes(nodes, set), lab.model);
    if (!before) return tl::unexpected(before.error());
    const auto after = (*before)->next(numbered_nodes(nodes + 1, set));
    if (!after) return tl::unexpected(after.error());
    const auto owned = (*before)->slot_owners(), owns = (*after)->slot_owners();
    const Balance slots = balance_of(shares_of(owned, nodes), (*before)->nodes());
    sums.by_slot += 100 * slots.deviation;
    sums.max_by_slot += slots.max_over_mean;
    if (const auto arcs = (*before)->arcs()) {
      sums.by_arc += 100 * balance_of(shares_of(*arcs, nodes), (*before)->nodes()).deviation;
    }
    sums.moved += static_cast<double>(movement(**before, owned, **after, owns).moved) /
                  ring::kHashSlots / ideal_movement((*before)->nodes(), (*after)->nodes());
    sums.ranges += static_cast<double>(ranges_of(owned));
  }
  return sums;
}

}  // namespace

Expected<Tables> ring_slots(const RingLab& lab, const Progress& progress) {
  const std::size_t rings = lab.rings == 0 ? 10 : lab.rings;
  std::vector<std::size_t> sizes = {3, 10, 30, 100};
  if (lab.nodes != 0) sizes = {lab.nodes};
  const std::vector<std::string_view> names = {"ring", "bounded", "rendezvous"};
  Table table{"slots",
              "16384 hash slots on a placement, and a node that joins; means of " +
                  std::to_string(rings) + " sets of names",
              {{"placement"},
               {"nodes"},
               {"deviation_percent_exact", 2},
               {"deviation_percent_of_slots", 2},
               {"max_over_mean_of_slots", 3},
               {"moved_over_ideal", 3},
               {"ranges", 0}},
              {}};
  std::size_t done = 0;
  for (const std::string_view name : names) {
    for (const std::size_t nodes : sizes) {
      const auto sums = measure(name, nodes, rings, lab);
      if (!sums) return tl::unexpected(sums.error());
      const double n = static_cast<double>(rings);
      // Rendezvous is even by itself, up to the sample: its exact deviation is zero.
      table.rows.push_back({std::string(name), count(nodes), sums->by_arc / n, sums->by_slot / n,
                            sums->max_by_slot / n, sums->moved / n, sums->ranges / n});
      progress(++done, names.size() * sizes.size());
    }
  }
  return Tables{std::move(table)};
}

}  // namespace nidus::lab

// SPDX-License-Identifier: Apache-2.0

// Nodes come and go one by one, under every placement: how much moves beside what must.

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "lab/ring.hpp"
#include "lab/ring_measure.hpp"

namespace nidus::lab {
namespace {

struct Tally {
  double moved = 0, ideal = 0, worst = 0;
  void add(double share, double due) {
    moved += share, ideal += due;
    worst = std::max(worst, share / due);
  }
  double ratio() const { return moved / ideal; }
};

struct Churn {
  Tally join, leave;
  double needless = 0, worst_max = 0;
};

Expected<Churn> churn(ModelPtr now, std::vector<std::vector<ring::Node>> const& history,
                      std::span<const std::uint64_t> keys, const std::function<void()>& step) {
  Churn churn;
  const double all = static_cast<double>(keys.size());
  auto owned = now->owners_of(keys);
  for (std::size_t i = 1; i < history.size(); ++i) {
    auto next = now->next(history[i]);
    if (!next) return tl::unexpected(next.error());
    auto owns = (*next)->owners_of(keys);
    const Movement moves = movement(*now, owned, **next, owns);
    Tally& tally = history[i].size() > history[i - 1].size() ? churn.join : churn.leave;
    tally.add(static_cast<double>(moves.moved) / all,
              ideal_movement(now->nodes(), (*next)->nodes()));
    churn.needless += static_cast<double>(moves.needless) / all;
    const auto slots = (*next)->slot_owners();
    churn.worst_max =
        std::max(churn.worst_max,
                 balance_of(shares_of(slots, history[i].size()), (*next)->nodes()).max_over_mean);
    now = std::move(*next);
    owned = std::move(owns);
    step();
  }
  return churn;
}

// 3 nodes, 4, ... up to most; then one leaves at a time, any of them, down to 3.
std::vector<std::vector<ring::Node>> history_of(std::size_t most, std::uint64_t seed) {
  std::vector<std::vector<ring::Node>> history;
  for (std::size_t n = 3; n <= most; ++n) history.push_back(numbered_nodes(n));
  std::mt19937_64 random(seed);
  auto nodes = history.back();
  while (nodes.size() > 3) {
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(random() % nodes.size()));
    history.push_back(nodes);
  }
  return history;
}

}  // namespace

Expected<Tables> ring_churn(const RingLab& lab, const Progress& progress) {
  const std::size_t most = lab.nodes == 0 ? 100 : lab.nodes;
  if (most < 4) return fail("nodes come and go above 3: --nodes is 4 or more here");
  const auto keys = random_hashes(lab.keys == 0 ? 20'000 : lab.keys, lab.seed);
  const auto history = history_of(most, lab.seed);
  Table table{"churn",
              "Nodes join one by one, 3 to " + std::to_string(most) +
                  ", and leave in random order; " + std::to_string(keys.size()) + " keys",
              {{"placement"},
               {"join_moved_over_ideal", 3},
               {"join_worst", 2},
               {"leave_moved_over_ideal", 3},
               {"leave_worst", 2},
               {"needless_percent_a_change", 3},
               {"worst_max_over_mean_of_slots", 3}},
              {}};
  const double changes = static_cast<double>(history.size() - 1);
  std::size_t done = 0;
  const std::size_t all = (history.size() - 1) * model_names().size();
  for (const std::string_view name : model_names()) {
    auto model = make_model(name, history.front(), lab.model);
    if (!model) return tl::unexpected(model.error());
    const auto c = churn(std::move(*model), history, keys, [&] { progress(++done, all); });
    if (!c) return tl::unexpected(c.error());
    table.rows.push_back({std::string(name), c->join.ratio(), c->join.worst, c->leave.ratio(),
                          c->leave.worst, 100 * c->needless / changes, c->worst_max});
  }
  return Tables{std::move(table)};
}

}  // namespace nidus::lab

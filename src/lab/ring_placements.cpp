// SPDX-License-Identifier: Apache-2.0

// All placements in one table. Times are taken in turns (A B C A B C ...), the median of the rounds.

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "lab/ring.hpp"
#include "lab/ring_measure.hpp"

namespace nidus::lab {
namespace {

constexpr std::size_t kRounds = 7;

double nanoseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Subject {
  ModelPtr model;
  double build_ms;
  std::vector<double> lookup_ns;
};

Expected<std::vector<Subject>> build_all(std::size_t nodes, const ModelOptions& options) {
  std::vector<Subject> subjects;
  for (const std::string_view name : model_names()) {
    auto list = numbered_nodes(nodes);
    const auto start = std::chrono::steady_clock::now();
    auto model = make_model(name, std::move(list), options);
    if (!model) return tl::unexpected(model.error());
    subjects.push_back({std::move(*model), nanoseconds_since(start) * 1e-6, {}});
  }
  return subjects;
}

}  // namespace

Expected<Tables> ring_placements(const RingLab& lab, const Progress& progress) {
  const std::size_t nodes = lab.nodes == 0 ? 100 : lab.nodes;
  const auto keys = random_hashes(lab.keys == 0 ? 200'000 : lab.keys, lab.seed);
  auto subjects = build_all(nodes, lab.model);
  if (!subjects) return tl::unexpected(subjects.error());
  std::vector<ring::NodeIndex> owners(keys.size());
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (Subject& subject : *subjects) {
      const auto start = std::chrono::steady_clock::now();
      subject.model->owner_batch(keys, owners);
      subject.lookup_ns.push_back(nanoseconds_since(start) / static_cast<double>(keys.size()));
    }
    progress(round + 1, kRounds + 1);
  }
  Table table{"placements",
              std::to_string(nodes) + " equal nodes, " + std::to_string(keys.size()) +
                  " keys; one of them joins, or the one in the middle leaves",
              {{"placement"},
               {"lookup_ns", 1},
               {"build_ms", 2},
               {"memory_bytes"},
               {"deviation_percent", 2},
               {"max_over_mean", 3},
               {"join_moved_over_ideal", 2},
               {"leave_moved_over_ideal", 2}},
              {}};
  for (const Subject& subject : *subjects) {
    const Model& model = *subject.model;
    const auto owned = model.owners_of(keys);
    const Balance balance = balance_of(shares_of(owned, nodes), model.nodes());
    const auto after = [&](std::vector<ring::Node> list) -> Cell {
      if (list.empty()) return std::string();
      const auto next = model.next(std::move(list));
      if (!next) return next.error().message;
      const auto moves = movement(model, owned, **next, (*next)->owners_of(keys));
      return static_cast<double>(moves.moved) / static_cast<double>(keys.size()) /
             ideal_movement(model.nodes(), (*next)->nodes());
    };
    auto fewer = numbered_nodes(nodes);
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(nodes / 2));
    table.rows.push_back({std::string(model.name()), median(subject.lookup_ns), subject.build_ms,
                          count(model.memory_bytes()), 100 * balance.deviation,
                          balance.max_over_mean, after(numbered_nodes(nodes + 1)),
                          after(std::move(fewer))});
  }
  progress(kRounds + 1, kRounds + 1);
  const double floor =
      100 * std::sqrt(static_cast<double>(nodes - 1) / static_cast<double>(keys.size()));
  Table note{"sampling",
             "What the sample of keys alone makes of an even placement",
             {{"deviation_percent", 2}},
             {{floor}},
             true};
  return Tables{std::move(table), std::move(note)};
}

}  // namespace nidus::lab

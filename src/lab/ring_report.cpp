// SPDX-License-Identifier: Apache-2.0

// The tables of `nidus ring`. See ring_report.hpp.

#include "lab/ring_report.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "lab/ring_measure.hpp"

namespace nidus::lab {
namespace {

std::vector<std::uint64_t> hashes_of(const Model& model, const Keys& keys) {
  std::vector<std::uint64_t> hashes(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) hashes[i] = model.hash_key(keys[i]);
  return hashes;
}

Expected<std::vector<ring::Node>> changed_nodes(const RingQuestion& question) {
  auto nodes = question.nodes;
  for (const std::string& name : question.remove) {
    const auto found = std::find_if(nodes.begin(), nodes.end(),
                                    [&](const ring::Node& node) { return node.name == name; });
    if (found == nodes.end()) return fail("node '" + name + "' cannot be removed: it is not there");
    nodes.erase(found);
  }
  nodes.insert(nodes.end(), question.add.begin(), question.add.end());
  return nodes;
}

// How often each node is among the copies, and how many keys have two in one zone although the nodes
// stand in more zones than that.
struct Copies {
  std::vector<std::size_t> held;
  std::size_t crowded = 0;
};

Copies copies_of(const Model& model, std::span<const std::uint64_t> hashes, std::size_t replicas) {
  Copies copies{std::vector<std::size_t>(model.nodes().size()), 0};
  std::vector<std::string_view> zones;
  for (const ring::Node& node : model.nodes().nodes()) zones.push_back(node.zone);
  const auto distinct = [](std::vector<std::string_view> list) {
    std::sort(list.begin(), list.end());
    return static_cast<std::size_t>(std::unique(list.begin(), list.end()) - list.begin());
  };
  const std::size_t reachable = std::min(replicas, distinct(zones));
  std::vector<ring::NodeIndex> out(replicas);
  for (const std::uint64_t hash : hashes) {
    const std::size_t n = model.owners(hash, out);
    std::vector<std::string_view> seen;
    for (std::size_t i = 0; i < n; ++i) {
      ++copies.held[out[i]];
      seen.push_back(zones[out[i]]);
    }
    copies.crowded += distinct(std::move(seen)) < reachable;
  }
  return copies;
}

Table nodes_table(const Model& model, std::span<const ring::NodeIndex> owners,
                  const std::vector<double>& shares, const Copies* copies) {
  Table table{"nodes",
              "",
              {{"node"},
               {"weight", 2},
               {"zone"},
               {"keys"},
               {"share_percent", 2},
               {"fair_percent", 2},
               {"load", 3}},
              {}};
  if (copies != nullptr) table.columns.push_back({"copies"});
  for (ring::NodeIndex i = 0; i < shares.size(); ++i) {
    const double fair = model.nodes().fair_share(i);
    const ring::Node& node = model.nodes()[i];
    table.rows.push_back(
        {node.name, node.weight, node.zone,
         count(static_cast<std::size_t>(shares[i] * static_cast<double>(owners.size()) + 0.5)),
         100 * shares[i], 100 * fair, shares[i] / fair});
    if (copies != nullptr) table.rows.back().push_back(count(copies->held[i]));
  }
  return table;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

Table change_table(std::string title) {
  return {"change",
          std::move(title),
          {{"placement"},
           {"moved"},
           {"moved_percent", 2},
           {"ideal_percent", 2},
           {"moved_over_ideal", 3},
           {"needless"}},
          {}};
}

void add_change(Table& table, const Model& before, const Model& after, const Keys& keys) {
  const auto hashes = hashes_of(before, keys);
  const Movement moves = movement(before, before.owners_of(hashes), after, after.owners_of(hashes));
  const double share = static_cast<double>(moves.moved) / static_cast<double>(keys.size());
  const double ideal = ideal_movement(before.nodes(), after.nodes());
  table.rows.push_back({std::string(before.name()), count(moves.moved), 100 * share, 100 * ideal,
                        ideal > 0 ? Cell(share / ideal) : Cell(std::string()),
                        count(moves.needless)});
}

Table moves_table(const Model& before, const Model& after, const Keys& keys) {
  const auto hashes = hashes_of(before, keys);
  const auto owned = before.owners_of(hashes), owns = after.owners_of(hashes);
  std::map<std::pair<std::string, std::string>, std::size_t> moves;
  const auto name = [](const Model& model, ring::NodeIndex node) {
    return node == ring::kNoNode ? std::string() : model.nodes()[node].name;
  };
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    std::pair move(name(before, owned[i]), name(after, owns[i]));
    if (move.first != move.second) ++moves[std::move(move)];
  }
  Table table{"moves", "", {{"from"}, {"to"}, {"keys"}}, {}};
  for (const auto& [move, keys_moved] : moves) {
    table.rows.push_back({move.first, move.second, count(keys_moved)});
  }
  return table;
}

}  // namespace

Expected<RingAnswer> answer(const RingQuestion& question) {
  RingAnswer result;
  auto before = make_model(question.placement, question.nodes, question.options);
  if (!before) return tl::unexpected(before.error());
  result.before = std::move(*before);
  if (question.add.empty() && question.remove.empty()) return result;
  auto nodes = changed_nodes(question);
  if (!nodes) return tl::unexpected(nodes.error());
  auto after = result.before->next(std::move(*nodes));
  if (!after) return tl::unexpected(after.error());
  result.after = std::move(*after);
  return result;
}

Expected<Tables> report(const RingQuestion& question, const RingAnswer& answer, const Keys& keys) {
  const Model& model = answer.last();
  if (model.nodes().empty()) return fail("no node is left, and so no owner");
  if (keys.size() == 0) return fail("there are no keys");
  const auto hashes = hashes_of(model, keys);
  const auto owners = model.owners_of(hashes);
  const auto shares = shares_of(owners, model.nodes().size());
  const Balance balance = balance_of(shares, model.nodes());
  Copies copies;
  if (question.replicas > 1) copies = copies_of(model, hashes, question.replicas);
  Tables tables = {nodes_table(model, owners, shares, question.replicas > 1 ? &copies : nullptr)};
  Table summary{"summary",
                "",
                {{"placement"},
                 {"nodes"},
                 {"keys"},
                 {"max_over_mean", 3},
                 {"deviation_percent", 2},
                 {"memory_bytes"}},
                {{std::string(model.name()), count(model.nodes().size()), count(keys.size()),
                  balance.max_over_mean, 100 * balance.deviation, count(model.memory_bytes())}},
                true};
  if (question.replicas > 1) {
    summary.columns.push_back({"replicas"});
    summary.rows[0].push_back(count(std::min(question.replicas, model.nodes().size())));
    summary.columns.push_back({"keys_crowded_in_zones"});
    summary.rows[0].push_back(count(copies.crowded));
  }
  tables.push_back(std::move(summary));
  if (!answer.after) return tables;
  std::vector<std::string> added;
  for (const ring::Node& node : question.add) added.push_back(node.name);
  std::string title = "The change:";
  if (!added.empty()) title += " added " + joined(added);
  if (!question.remove.empty()) title += " removed " + joined(question.remove);
  Table change = change_table(std::move(title));
  add_change(change, *answer.before, *answer.after, keys);
  if (question.placement != "modulo") {
    const auto naive = make_model("modulo", question.nodes, {});
    if (!naive) return tl::unexpected(naive.error());
    const std::span<const ring::Node> left = model.nodes().nodes();
    const auto naive_after = (*naive)->next({left.begin(), left.end()});
    if (!naive_after) return tl::unexpected(naive_after.error());
    add_change(change, **naive, **naive_after, keys);
  }
  tables.push_back(std::move(change));
  tables.push_back(moves_table(*answer.before, *answer.after, keys));
  return tables;
}

Tables owners_of_keys(const RingQuestion& question, const RingAnswer& answer, const Keys& keys) {
  const Model& model = answer.last();
  Table table{"keys", "", {{"key"}, {"owner"}}, {}};
  for (std::size_t i = 1; i < question.replicas; ++i) {
    table.columns.push_back({"copy_" + std::to_string(i)});
  }
  std::vector<ring::NodeIndex> out(question.replicas);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string key = keys[i];
    const std::size_t n = model.owners(model.hash_key(key), out);
    std::vector<Cell> row = {key};
    for (std::size_t k = 0; k < question.replicas; ++k) {
      row.push_back(k < n ? model.nodes()[out[k]].name : std::string());
    }
    table.rows.push_back(std::move(row));
  }
  return {std::move(table)};
}

}  // namespace nidus::lab

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The nodes that keys are placed on, and the rule by which copies are spread over zones. Every
// placement holds a NodeSet: the nodes in the order of their names, so that the order in which they
// joined cannot matter. A node is its name; an address is nobody's business here, and a node that
// moves to another address moves no key.
//
// Thread-safety: immutable once built; shared by readers without locks.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nidus/base/error.hpp>

namespace nidus::ring {

struct Node {
  std::string name;
  double weight = 1;  // its share of the keys, relative to the others'
  std::string zone;   // what fails together: a rack, a data centre
};

/// A position in NodeSet::nodes(): valid for the placement that returned it, and no other.
using NodeIndex = std::uint16_t;
inline constexpr NodeIndex kNoNode = 0xffff;  // the owner of every key where there is no node
inline constexpr std::size_t kMaxNodes = kNoNode;

class NodeSet {
 public:
  NodeSet() = default;

  /// Errors: a name that is empty or given twice, a weight that is not above zero, more than
  ///         kMaxNodes nodes.
  static Expected<NodeSet> build(std::vector<Node> nodes) {
    if (nodes.size() > kMaxNodes) {
      return fail(std::to_string(nodes.size()) + " nodes; at most " + std::to_string(kMaxNodes));
    }
    std::sort(nodes.begin(), nodes.end(),
              [](const Node& a, const Node& b) { return a.name < b.name; });
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::string& name = nodes[i].name;
      if (name.empty()) return fail("a node has no name");
      if (i > 0 && nodes[i - 1].name == name) return fail("node '" + name + "' is given twice");
      if (!(nodes[i].weight > 0) || !std::isfinite(nodes[i].weight)) {
        return fail("the weight of node '" + name + "' is not above zero");
      }
    }
    return NodeSet(std::move(nodes));
  }

  std::span<const Node> nodes() const { return nodes_; }
  std::size_t size() const { return nodes_.size(); }
  bool empty() const { return nodes_.empty(); }
  const Node& operator[](NodeIndex i) const { return nodes_[i]; }
  double total_weight() const { return total_weight_; }

  /// The part of all keys that is due to a node.
  double fair_share(NodeIndex i) const { return nodes_[i].weight / total_weight_; }

  /// kNoNode if there is none of that name.
  NodeIndex find(std::string_view name) const {
    const auto at = std::lower_bound(nodes_.begin(), nodes_.end(), name,
                                     [](const Node& a, std::string_view b) { return a.name < b; });
    if (at == nodes_.end() || at->name != name) return kNoNode;
    return static_cast<NodeIndex>(at - nodes_.begin());
  }

  /// Chooses nodes for the copies of a key out of its candidates, the best first: distinct nodes,
  /// and none in a zone that holds a copy while some zone holds none; with a copy in every zone, none
  /// in a zone that holds two while some other could hold its second, and so on.
  ///
  /// @param candidate candidate(i), i in [0, count): a node; nodes may come more than once, and each
  ///                  that is in the set must come
  /// @param out       filled from the front; as many nodes as it holds, or all there are
  /// Returns:         how many were chosen
  /// Cost:            the candidates up to the last one chosen, once for each copy that a zone gets
  template <class Candidate>
  std::size_t choose(std::size_t count, Candidate candidate, std::span<NodeIndex> out) const {
    const std::size_t wanted = std::min(out.size(), nodes_.size());
    std::size_t chosen = 0;
    for (std::size_t level = 0; chosen < wanted; ++level) {
      std::size_t left = zones_larger_than(level);  // zones that can take their copy number level
      if (left == 0) break;                         // a node that is no candidate
      const bool any_zone = zone_sizes_.size() == 1;
      for (std::size_t i = 0; i < count && chosen < wanted && left > 0; ++i) {
        const NodeIndex node = candidate(i);
        const auto so_far = out.first(chosen);
        if (std::find(so_far.begin(), so_far.end(), node) != so_far.end()) continue;
        if (!any_zone) {
          if (copies_in(zone_of_[node], so_far) > level) continue;
          --left;
        }
        out[chosen++] = node;
      }
    }
    return chosen;
  }

 private:
  explicit NodeSet(std::vector<Node> nodes) : nodes_(std::move(nodes)) {
    std::map<std::string_view, std::uint16_t> zones;
    for (const Node& node : nodes_) {
      total_weight_ += node.weight;
      const auto [zone, is_new] =
          zones.try_emplace(node.zone, static_cast<std::uint16_t>(zones.size()));
      if (is_new) zone_sizes_.push_back(0);
      ++zone_sizes_[zone->second];
      zone_of_.push_back(zone->second);
    }
  }

  std::size_t zones_larger_than(std::size_t level) const {
    return static_cast<std::size_t>(std::count_if(zone_sizes_.begin(), zone_sizes_.end(),
                                                  [&](std::size_t size) { return size > level; }));
  }

  std::size_t copies_in(std::uint16_t zone, std::span<const NodeIndex> chosen) const {
    return static_cast<std::size_t>(std::count_if(
        chosen.begin(), chosen.end(), [&](NodeIndex node) { return zone_of_[node] == zone; }));
  }

  std::vector<Node> nodes_;
  std::vector<std::uint16_t> zone_of_;
  std::vector<std::size_t> zone_sizes_;
  double total_weight_ = 0;
};

}  // namespace nidus::ring

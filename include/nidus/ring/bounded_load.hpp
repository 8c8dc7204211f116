// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ring with bounded loads (Mirrokni, Thorup, Zadimoghaddam, SODA 2018): a node holds at most
// 1 + epsilon times its fair share, and who does not fit goes on clockwise to the first node with
// room. What is counted are partitions: 2^slot_bits of them, at even positions on the circle, so a
// look-up is one read of a table.
//
// rebuilt() is the way on from one set of nodes to the next. It keeps every owner that it may:
//
//   a node left     its partitions walk on to nodes with room; no other moves
//   a node joined   it takes up to its fair share, first what the ring alone would give it, only
//                   from nodes above theirs, those over the bound first; no other moves
//
// so its result depends on the history as well; build() is rebuilt() from no nodes and does not.
//
// Thread-safety: immutable once built.
// Invariant: no node has more partitions than cap().

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <nidus/ring/detail/partition_moves.hpp>
#include <nidus/ring/hash.hpp>
#include <nidus/ring/nodes.hpp>
#include <nidus/ring/ring.hpp>

namespace nidus::ring {

struct BoundedLoadOptions {
  double epsilon = 0.05;    // the fullest node holds at most 1 + epsilon times its fair share
  unsigned slot_bits = 14;  // 2^14 partitions: Redis Cluster's hash slots
  std::uint32_t tokens = kDefaultTokens;
};

class BoundedLoad {
 public:
  using Options = BoundedLoadOptions;
  static constexpr std::string_view kName = "bounded";
  static constexpr bool kOnCircle = true;

  BoundedLoad() = default;

  /// Errors: see Ring::build(); an epsilon that is not above zero; slot_bits outside [1, 24].
  static Expected<BoundedLoad> build(std::vector<Node> nodes, Options options = {}) {
    if (!(options.epsilon > 0)) return fail("the bound of a load must be above 1");
    if (options.slot_bits < 1 || options.slot_bits > 24) return fail("slot_bits is 1 to 24");
    BoundedLoad none;
    none.options_ = options;
    none.table_.assign(std::size_t{1} << options.slot_bits, kNoNode);
    return none.rebuilt(std::move(nodes));
  }

  /// The placement of the new nodes that moves the least within the bound. Options stay.
  /// Cost: linear in the partitions, some milliseconds for 2^14; allocates
  Expected<BoundedLoad> rebuilt(std::vector<Node> nodes) const {
    auto ring = Ring::build(std::move(nodes), {options_.tokens});
    if (!ring) return tl::unexpected(std::move(ring.error()));
    BoundedLoad built;
    built.options_ = options_;
    built.ring_ = std::move(*ring);
    built.table_.assign(table_.size(), kNoNode);
    const NodeSet& now = built.nodes();
    const NodeSet& last = this->nodes();
    if (now.empty()) return built;
    std::vector<detail::Allowance> allowances;
    for (NodeIndex i = 0; i < now.size(); ++i) {
      const NodeIndex before = last.find(now[i].name);
      const bool grew = before == kNoNode || now[i].weight > last[before].weight;
      allowances.push_back({built.fair(i), built.cap(i), grew});
    }
    for (std::size_t slot = 0; slot < table_.size(); ++slot) {
      if (table_[slot] != kNoNode) built.table_[slot] = now.find(last[table_[slot]].name);
    }
    detail::PartitionMoves(built.ring_, options_.slot_bits, std::move(allowances), built.table_)
        .run();
    return built;
  }

  static std::uint64_t hash_key(std::string_view key) { return key_hash(key); }

  const NodeSet& nodes() const { return ring_.nodes(); }
  const Ring& ring() const { return ring_; }
  const Options& options() const { return options_; }

  NodeIndex owner(std::uint64_t hash) const { return table_[slot_of(hash)]; }

  void owner_batch(std::span<const std::uint64_t> hashes, std::span<NodeIndex> out) const {
    for (std::size_t i = 0; i < hashes.size(); ++i) out[i] = owner(hashes[i]);
  }

  /// The owner, then the nodes that follow on the ring.
  std::size_t owners(std::uint64_t hash, std::span<NodeIndex> out) const {
    if (nodes().empty()) return 0;
    const auto walk = ring_.tokens().walk_from(position(slot_of(hash)));
    return nodes().choose(
        ring_.tokens().size() + 1,
        [&](std::size_t i) { return i == 0 ? owner(hash) : walk(i - 1); }, out);
  }

  /// Runs of partitions of one owner.
  std::vector<Arc> arcs() const {
    std::vector<Arc> arcs;
    for (std::size_t slot = 0; slot < table_.size() && !nodes().empty(); ++slot) {
      const std::uint64_t last = position(slot) + (position(1) - 1);
      if (!arcs.empty() && arcs.back().node == table_[slot]) {
        arcs.back().to = last;
      } else {
        arcs.push_back({position(slot) - 1, last, table_[slot]});
      }
    }
    return arcs;
  }

  /// The partitions that a node holds at most: floor((1 + epsilon) fair share), unless so few are
  /// due to it that this is not even its fair share rounded up.
  std::size_t cap(NodeIndex i) const {
    const double share = nodes().fair_share(i) * static_cast<double>(table_.size());
    return static_cast<std::size_t>(
        std::max(std::floor((1 + options_.epsilon) * share), std::ceil(share)));
  }

  std::size_t memory_bytes() const {
    return table_.size() * sizeof table_[0] + ring_.memory_bytes();
  }

 private:
  std::size_t fair(NodeIndex i) const {
    return static_cast<std::size_t>(nodes().fair_share(i) * static_cast<double>(table_.size()));
  }
  std::size_t slot_of(std::uint64_t hash) const { return hash >> (64 - options_.slot_bits); }
  std::uint64_t position(std::size_t slot) const {
    return std::uint64_t{slot} << (64 - options_.slot_bits);
  }

  Options options_;
  Ring ring_;
  std::vector<NodeIndex> table_ =
      std::vector<NodeIndex>(std::size_t{1} << Options().slot_bits, kNoNode);
};

}  // namespace nidus::ring

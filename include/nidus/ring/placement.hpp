// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every placement promises, whatever its algorithm; tests/ring/placement_test.cpp holds each
// model to it. A placement is built from nodes, never changed, and maps 64-bit hashes to nodes:
//
//   deterministic      the same nodes and options give the same owners, in every process
//   order-independent  the order in which nodes are given does not matter
//   total              every hash has an owner; with no nodes it is kNoNode, with one it is that one
//   owners()           begins with owner(), has no node twice, reaches all of them, and follows the
//                      rule for zones of NodeSet::choose
//
// Models: Ring (the default), BoundedLoad, Ketama, Rendezvous for use; Jump, Maglev and Modulo to
// compare with.
//
// kOnCircle says that the owner of a hash is the owner of a point on a circle: near hashes have the
// same owner, and few arcs describe the whole.

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <nidus/ring/hash.hpp>
#include <nidus/ring/nodes.hpp>

namespace nidus::ring {

template <class P>
concept Placement = std::default_initializable<P> && std::copyable<P> &&
    requires(const P placement, std::uint64_t hash, std::vector<Node> nodes, std::string_view key,
             std::span<const std::uint64_t> hashes, std::span<NodeIndex> out) {
  { P::build(std::move(nodes), typename P::Options{}) } -> std::same_as<Expected<P>>;
  { P::hash_key(key) } -> std::same_as<std::uint64_t>;
  { placement.nodes() } -> std::same_as<const NodeSet&>;
  { placement.owner(hash) } -> std::same_as<NodeIndex>;
  placement.owner_batch(hashes, out);
  { placement.owners(hash, out) } -> std::same_as<std::size_t>;
  { placement.memory_bytes() } -> std::same_as<std::size_t>;
  { P::kName } -> std::convertible_to<std::string_view>;
  { P::kOnCircle } -> std::convertible_to<bool>;
};

/// A placement whose next state depends on the last: rebuilt() moves less than build() would.
template <class P>
concept StatefulPlacement = Placement<P> && requires(const P placement, std::vector<Node> nodes) {
  { placement.rebuilt(std::move(nodes)) } -> std::same_as<Expected<P>>;
};

/// The placement after a change of nodes.
template <Placement P>
Expected<P> next(const P& last, std::vector<Node> nodes, typename P::Options options) {
  if constexpr (StatefulPlacement<P>) {
    return last.rebuilt(std::move(nodes));
  } else {
    return P::build(std::move(nodes), options);
  }
}

/// Owners for the copies of a key where the placement itself orders no nodes behind the first: the
/// owners of further hashes of the key, then the rest by name.
template <class P>
std::size_t owners_by_hashing_on(const P& placement, std::uint64_t hash, std::span<NodeIndex> out) {
  const std::size_t nodes = placement.nodes().size();
  const std::size_t hashed = 4 * nodes;  // misses one node in e^4 when all copies are asked for
  return placement.nodes().choose(
      hashed + nodes,
      [&](std::size_t i) {
        if (i >= hashed) return static_cast<NodeIndex>(i - hashed);
        return placement.owner(i == 0 ? hash : nth_hash(hash, i));
      },
      out);
}

}  // namespace nidus::ring

// SPDX-License-Identifier: Apache-2.0
#pragma once

// hash mod n: what one writes first. Even and fast; but when the number of nodes changes from n to
// n + 1, n of n + 1 keys move. Here to compare with. Weights do not count.

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <nidus/ring/hash.hpp>
#include <nidus/ring/nodes.hpp>
#include <nidus/ring/placement.hpp>

namespace nidus::ring {

class Modulo {
 public:
  struct Options {};
  static constexpr std::string_view kName = "modulo";
  static constexpr bool kOnCircle = false;

  Modulo() = default;

  static Expected<Modulo> build(std::vector<Node> nodes, Options = {}) {
    auto set = NodeSet::build(std::move(nodes));
    if (!set) return tl::unexpected(std::move(set.error()));
    Modulo built;
    built.nodes_ = std::move(*set);
    return built;
  }

  static std::uint64_t hash_key(std::string_view key) { return key_hash(key); }

  const NodeSet& nodes() const { return nodes_; }

  NodeIndex owner(std::uint64_t hash) const {
    return nodes_.empty() ? kNoNode : static_cast<NodeIndex>(hash % nodes_.size());
  }
  void owner_batch(std::span<const std::uint64_t> hashes, std::span<NodeIndex> out) const {
    for (std::size_t i = 0; i < hashes.size(); ++i) out[i] = owner(hashes[i]);
  }
  std::size_t owners(std::uint64_t hash, std::span<NodeIndex> out) const {
    return owners_by_hashing_on(*this, hash, out);
  }
  std::size_t memory_bytes() const { return 0; }

 private:
  NodeSet nodes_;
};

}  // namespace nidus::ring

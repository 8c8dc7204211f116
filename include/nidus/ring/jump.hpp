// SPDX-License-Identifier: Apache-2.0
#pragma once

// Jump consistent hash (Lamping, Veach 2014): even, and no memory at all. It numbers its nodes, here
// in the order of their names: only the node of the last name can come or go with the ideal
// movement, any other shifts the numbers behind it. Here to compare with. Weights do not count.

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <nidus/ring/hash.hpp>
#include <nidus/ring/nodes.hpp>
#include <nidus/ring/placement.hpp>

namespace nidus::ring {

/// The paper's function: a number in [0, buckets). Requires: buckets > 0.
/// Cost: ln(buckets) steps of one multiplication and one division
constexpr std::int64_t jump_hash(std::uint64_t key, std::int64_t buckets) {
  std::int64_t bucket = -1, next = 0;
  while (next < buckets) {
    bucket = next;
    key = key * 2862933555777941757u + 1;
    next = static_cast<std::int64_t>(static_cast<double>(bucket + 1) *
                                     (2147483648.0 / static_cast<double>((key >> 33) + 1)));
  }
  return bucket;
}

class Jump {
 public:
  struct Options {};
  static constexpr std::string_view kName = "jump";
  static constexpr bool kOnCircle = false;

  Jump() = default;

  static Expected<Jump> build(std::vector<Node> nodes, Options = {}) {
    auto set = NodeSet::build(std::move(nodes));
    if (!set) return tl::unexpected(std::move(set.error()));
    Jump built;
    built.nodes_ = std::move(*set);
    return built;
  }

  static std::uint64_t hash_key(std::string_view key) { return key_hash(key); }

  const NodeSet& nodes() const { return nodes_; }

  NodeIndex owner(std::uint64_t hash) const {
    if (nodes_.empty()) return kNoNode;
    return static_cast<NodeIndex>(jump_hash(hash, static_cast<std::int64_t>(nodes_.size())));
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ring (consistent hashing, Karger et al. 1997, with virtual nodes): a node owns the arcs that
// end in its tokens, and a key belongs to the first token at or after its hash, clockwise. When a node
// joins, its tokens cut arcs of the others, so exactly the keys of the new arcs move, all to it; when
// it leaves, exactly its keys move. A change of nodes is a new Ring.
//
// Thread-safety: immutable once built; shared by readers without locks.
// Source: docs/algorithms/ring.md

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nidus/ring/hash.hpp>
#include <nidus/ring/nodes.hpp>
#include <nidus/ring/token_array.hpp>

namespace nidus::ring {

/// Tokens of a node of weight 1. The load of a node spreads by 1/sqrt(tokens) of the mean: of ten equal
/// nodes the fullest holds on average 1.14 of the mean at 128 tokens, 1.07 at 512 and 1.05 at 1024,
/// where 99 of 100 sets of names stay below 1.10. More tokens cost memory (15 bytes each), not time.
/// Measured: docs/algorithms/ring.md.
inline constexpr std::uint32_t kDefaultTokens = 1024;
inline constexpr std::size_t kMaxTokens = std::size_t{1} << 26;  // 1 GiB of tokens while building

struct RingOptions {
  std::uint32_t tokens = kDefaultTokens;  // a node has tokens x its weight, rounded, at least one
};

class Ring {
 public:
  using Options = RingOptions;
  static constexpr std::string_view kName = "ring";
  static constexpr bool kOnCircle = true;

  Ring() = default;

  /// Errors: see NodeSet::build(); no tokens; more than kMaxTokens.
  /// Cost:   some 90 ns a token; allocates
  static Expected<Ring> build(std::vector<Node> nodes, Options options = {}) {
    auto set = NodeSet::build(std::move(nodes));
    if (!set) return tl::unexpected(std::move(set.error()));
    auto tokens = tokens_of(*set, options);
    if (!tokens) return tl::unexpected(std::move(tokens.error()));
    return Ring(std::move(*set), TokenArray(*tokens));
  }

  /// A ring whose tokens stand where the caller says. Requires: token.node < nodes.size().
  static Ring from_tokens(NodeSet nodes, std::span<const Token> tokens) {
    return Ring(std::move(nodes), TokenArray(tokens));
  }

  static std::uint64_t hash_key(std::string_view key) { return key_hash(key); }

  const NodeSet& nodes() const { return nodes_; }
  const TokenArray& tokens() const { return tokens_; }

  /// The node that a position belongs to; kNoNode on an empty ring.
  /// Cost: two or three cache lines
  NodeIndex owner(std::uint64_t hash) const { return tokens_.owner(hash); }

  /// @param hashes [n]
  /// @param out    [n] their owners
  void owner_batch(std::span<const std::uint64_t> hashes, std::span<NodeIndex> out) const {
    for (std::size_t i = 0; i < hashes.size(); ++i) out[i] = owner(hashes[i]);
  }

  /// The nodes for the copies of a key: the owner, then the next distinct nodes clockwise, those of
  /// zones without a copy first (NodeSet::choose).
  /// @param out filled from the front
  /// Returns:   how many nodes there are for it: out.size(), or all
  std::size_t owners(std::uint64_t hash, std::span<NodeIndex> out) const {
    return nodes_.choose(tokens_.size(), tokens_.walk_from(hash), out);
  }

  std::vector<Arc> arcs() const { return arcs_of(tokens_); }
  std::size_t memory_bytes() const { return tokens_.memory_bytes(); }

  /// The tokens of a set of nodes, in no order.
  static Expected<std::vector<Token>> tokens_of(const NodeSet& nodes, Options options) {
    if (options.tokens == 0) return fail("a node needs at least one token");
    double all = 0;
    for (const Node& node : nodes.nodes()) all += count(node, options);
    if (all > static_cast<double>(kMaxTokens)) {
      return fail("weights and tokens ask for more than " + std::to_string(kMaxTokens) +
                  " tokens; give smaller weights");
    }
    std::vector<Token> tokens;
    tokens.reserve(static_cast<std::size_t>(all));
    for (NodeIndex i = 0; i < nodes.size(); ++i) {
      TokenHasher hash(nodes[i].name);
      const auto replicas = static_cast<std::uint32_t>(count(nodes[i], options));
      for (std::uint32_t k = 0; k < replicas; ++k) tokens.push_back({hash(k), i, k});
    }
    return tokens;
  }

 private:
  Ring(NodeSet nodes, TokenArray tokens) : nodes_(std::move(nodes)), tokens_(std::move(tokens)) {}

  static double count(const Node& node, Options options) {
    return std::max(1.0, std::round(options.tokens * node.weight));
  }

  NodeSet nodes_;
  TokenArray tokens_;
};

}  // namespace nidus::ring

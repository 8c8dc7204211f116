// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tokens, sorted and packed, and the search that every ring-like placement stands on: which token
// comes first at or after a position. The tokens of a ring are spread evenly, so the upper bits of a
// position nearly say where in the array its token is:
//
//   position  ->  starts[position >> shift]  ->  at most a few hashes from there on
//
// There are between one and two such starts a token. Four hashes are compared without a branch;
// where more stand close together (tokens that were chosen by hand), a binary search within the same
// start goes on. bench/ring/lookup_bench.cpp compares this with one binary search over the array.
//
// Invariant: hashes are in ascending order, of equal ones the node of the lower index comes first;
//            padding of 2^64-1 follows the last.
// Thread-safety: immutable once built.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include <nidus/ring/nodes.hpp>

namespace nidus::ring {

/// A virtual node: where it stands, whose it is, and which of the node's tokens it is. The order is
/// total, so tokens that collide have one owner, whatever order nodes join in.
struct Token {
  std::uint64_t hash;
  NodeIndex node;
  std::uint32_t replica;

  friend bool operator<(const Token& a, const Token& b) {
    return std::tie(a.hash, a.node, a.replica) < std::tie(b.hash, b.node, b.replica);
  }
};

class TokenArray {
 public:
  TokenArray() : TokenArray(std::span<const Token>()) {}

  /// Cost: linear for tokens that are spread evenly, n log n at worst; allocates.
  explicit TokenArray(std::span<const Token> tokens)
      : size_(tokens.size()), shift_(64 - bits_for(tokens.size())) {
    starts_.assign((std::size_t{1} << (64 - shift_)) + 1, 0);
    for (const Token& token : tokens) ++starts_[(token.hash >> shift_) + 1];
    for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    std::vector<Token> sorted(size_);
    std::vector<std::uint32_t> next(starts_.begin(), starts_.end());
    for (const Token& token : tokens) sorted[next[token.hash >> shift_]++] = token;
    for (std::size_t i = 0; i + 1 < starts_.size(); ++i) {
      std::sort(sorted.begin() + starts_[i], sorted.begin() + starts_[i + 1]);
    }
    hashes_.assign(size_ + kPadding, std::numeric_limits<std::uint64_t>::max());
    owners_.assign(size_ + 1, kNoNode);
    for (std::size_t i = 0; i < size_; ++i) {
      hashes_[i] = sorted[i].hash;
      owners_[i] = sorted[i].node;
    }
    if (size_ > 0) owners_[size_] = owners_[0];
  }

  std::size_t size() const { return size_; }
  std::span<const std::uint64_t> hashes() const { return {hashes_.data(), size_}; }
  NodeIndex node(std::size_t i) const { return owners_[i]; }

  /// The token that owns a position: the first at or after it, size() if that is the first of all
  /// (positions wrap around), 0 if there is no token.
  std::size_t at_or_after(std::uint64_t position) const {
    std::size_t i = starts_[position >> shift_];
    const std::uint64_t* from = hashes_.data() + i;
    const auto smaller = [&](unsigned k) { return std::size_t{from[k] < position}; };
    const std::size_t passed = smaller(0) + smaller(1) + smaller(2) + smaller(3);
    i += passed;
    if (passed == kPadding) [[unlikely]] {
      const auto end = hashes_.begin() + starts_[(position >> shift_) + 1];
      i = static_cast<std::size_t>(
          std::lower_bound(hashes_.begin() + static_cast<std::ptrdiff_t>(i), end, position) -
          hashes_.begin());
    }
    return i;
  }

  NodeIndex owner(std::uint64_t position) const { return owners_[at_or_after(position)]; }

  /// The tokens from the owner on: the node of the i-th, i in [0, size()).
  auto walk_from(std::uint64_t position) const {
    return [this, first = at_or_after(position)](std::size_t i) {
      const std::size_t at = first + i;
      return owners_[at < size_ ? at : at - size_];
    };
  }

  std::size_t memory_bytes() const {
    return hashes_.size() * sizeof hashes_[0] + owners_.size() * sizeof owners_[0] +
           starts_.size() * sizeof starts_[0];
  }

 private:
  static constexpr std::size_t kPadding = 4;

  static unsigned bits_for(std::size_t tokens) {
    return std::max(1u, static_cast<unsigned>(std::bit_width(tokens)));
  }

  std::size_t size_;
  unsigned shift_;
  std::vector<std::uint64_t> hashes_;  // + kPadding
  std::vector<NodeIndex> owners_;      // + the first once more, or kNoNode
  std::vector<std::uint32_t> starts_;  // [2^(64 - shift_) + 1]
};

/// Positions (from, to] around the circle; the whole circle where from equals to.
struct Arc {
  std::uint64_t from, to;
  NodeIndex node;
};

/// The arcs that end in the tokens, clockwise; tokens that collide with another's get none.
inline std::vector<Arc> arcs_of(const TokenArray& tokens) {
  std::vector<Arc> arcs;
  const auto hashes = tokens.hashes();
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::uint64_t from = i == 0 ? hashes.back() : hashes[i - 1];
    if (i > 0 && from == hashes[i]) continue;
    arcs.push_back({from, hashes[i], tokens.node(i)});
  }
  return arcs;
}

}  // namespace nidus::ring

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ketama, the ring of memcached's clients: bit-equal with libmemcached's weighted ketama and with
// twemproxy, so that a program that places keys by this class finds what theirs have stored. For new
// data take Ring: here the points of a node depend on the total weight and on the number of nodes, so
// that a change moves a few keys between other nodes by rounding.
//
//   node    has 4 floor(weight / total weight x 40 x nodes) points, in float arithmetic
//   point   x of four of MD5(name-k): its bytes 4x..4x+3, least significant first
//   key     point 0 of MD5(key); twemproxy's default is FNV-1a 64 instead, cut to 32 bits
//
// Positions are the upper 32 bits of the 64-bit hashes here. Of equal points the node of the lower
// name comes first, as in libmemcached when servers are added in the order of their names (it sorts
// by place in the list; twemproxy leaves it open).
//
// Thread-safety: immutable once built.
// Source: libmemcached 1.1.4 and twemproxy 0.5.0, read and compared; tests/ring/ketama_test.cpp.

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nidus/ring/detail/md5.hpp>
#include <nidus/ring/nodes.hpp>
#include <nidus/ring/ring.hpp>
#include <nidus/ring/token_array.hpp>

namespace nidus::ring {

/// The name by which both systems call a server: the port is left out where it is memcached's own.
inline std::string ketama_name(std::string_view host, std::uint16_t port) {
  constexpr std::uint16_t kMemcachedPort = 11211;
  if (port == kMemcachedPort) return std::string(host);
  return std::string(host) + ":" + std::to_string(port);
}

/// How keys are hashed: all that differs between the modes.
struct KetamaMd5 {
  static constexpr std::string_view kName = "ketama";
  static std::uint32_t hash(std::string_view key) { return detail::md5_words(key)[0]; }
};

/// twemproxy's `hash: fnv1a_64`, its default. It adds bytes as signed numbers, which makes keys
/// outside ASCII differ from FNV proper.
struct KetamaFnv1a {
  static constexpr std::string_view kName = "ketama-twemproxy";
  static std::uint32_t hash(std::string_view key) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char byte : key) {
      hash = (hash ^ static_cast<std::uint64_t>(static_cast<signed char>(byte))) * 0x100000001b3u;
    }
    return static_cast<std::uint32_t>(hash);
  }
};

template <class KeyHash>
class BasicKetama {
 public:
  struct Options {};
  static constexpr std::string_view kName = KeyHash::kName;
  static constexpr bool kOnCircle = true;
  static constexpr unsigned kPointsPerNode = 160;

  BasicKetama() = default;

  /// Names are as ketama_name() makes them, or twemproxy's aliases. Weights are whole numbers there.
  static Expected<BasicKetama> build(std::vector<Node> nodes, Options = {}) {
    auto set = NodeSet::build(std::move(nodes));
    if (!set) return tl::unexpected(std::move(set.error()));
    BasicKetama built;
    built.nodes_ = std::move(*set);
    std::vector<Token> tokens;
    for (NodeIndex i = 0; i < built.nodes_.size(); ++i) built.add_points(i, tokens);
    built.tokens_ = TokenArray(tokens);
    return built;
  }

  static std::uint64_t hash_key(std::string_view key) {
    return std::uint64_t{KeyHash::hash(key)} << 32;
  }

  const NodeSet& nodes() const { return nodes_; }
  const TokenArray& tokens() const { return tokens_; }

  NodeIndex owner(std::uint64_t hash) const { return tokens_.owner(point_of(hash)); }

  void owner_batch(std::span<const std::uint64_t> hashes, std::span<NodeIndex> out) const {
    for (std::size_t i = 0; i < hashes.size(); ++i) out[i] = owner(hashes[i]);
  }
  std::size_t owners(std::uint64_t hash, std::span<NodeIndex> out) const {
    return nodes_.choose(tokens_.size(), tokens_.walk_from(point_of(hash)), out);
  }
  std::vector<Arc> arcs() const { return arcs_of(tokens_); }
  std::size_t memory_bytes() const { return tokens_.memory_bytes(); }

 private:
  static std::uint64_t point_of(std::uint64_t hash) { return hash >> 32 << 32; }

  // The float arithmetic is theirs, step by step: weights that do not divide depend on its rounding.
  unsigned digests_of(NodeIndex i) const {
    const float part =
        static_cast<float>(nodes_[i].weight) / static_cast<float>(nodes_.total_weight());
    const float live = static_cast<float>(nodes_.size());
    const float digests = part * static_cast<float>(kPointsPerNode) / 4 * live;
    return static_cast<unsigned>(
        std::floor(static_cast<float>(static_cast<double>(digests) + 1e-10)));
  }

  void add_points(NodeIndex i, std::vector<Token>& tokens) const {
    const unsigned digests = digests_of(i);
    for (unsigned k = 0; k < digests; ++k) {
      const auto digest = detail::md5_words(nodes_[i].name + "-" + std::to_string(k));
      for (unsigned x = 0; x < 4; ++x) {
        tokens.push_back({std::uint64_t{digest[x]} << 32, i, 4 * k + x});
      }
    }
  }

  NodeSet nodes_;
  TokenArray tokens_;
};

using Ketama = BasicKetama<KetamaMd5>;             // libmemcached; twemproxy with `hash: md5`
using KetamaTwemproxy = BasicKetama<KetamaFnv1a>;  // twemproxy as it comes

}  // namespace nidus::ring

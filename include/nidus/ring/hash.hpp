// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where keys and tokens stand: hashes that every process, machine and release must compute alike,
// since two processes that differ in one of them send a key to two nodes. A golden test holds them
// fixed. They have no secret seed for the same reason; whoever lets strangers choose keys bounds the
// load of a node instead (bounded_load.hpp).
//
//   key    XXH3 (64 bits, seed 0) of its bytes
//   token  XXH3 (64 bits, seed 0) of the node's name and the replica number in four bytes, least
//          significant first

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <xxhash.h>

namespace nidus::ring {

/// The position of a key, in [0, 2^64).
inline std::uint64_t key_hash(std::string_view key) { return XXH3_64bits(key.data(), key.size()); }

/// The tokens of one node: the name is copied once.
class TokenHasher {
 public:
  explicit TokenHasher(std::string_view node_name) : bytes_(node_name) {
    bytes_.resize(bytes_.size() + sizeof(std::uint32_t));
  }
  std::uint64_t operator()(std::uint32_t replica) {
    char* last = bytes_.data() + bytes_.size() - sizeof replica;
    for (unsigned i = 0; i < sizeof replica; ++i) last[i] = static_cast<char>(replica >> (8 * i));
    return XXH3_64bits(bytes_.data(), bytes_.size());
  }

 private:
  std::string bytes_;
};

/// A bijection of 64 bits in which every bit of the input moves every bit of the output.
/// Source: the finaliser of SplitMix64 (Steele, Lea, Flood 2014; constants by Stafford).
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// One of many hashes of the same thing. (2^64 over the golden ratio, odd, as SplitMix64 steps.)
constexpr std::uint64_t nth_hash(std::uint64_t hash, std::uint64_t n) {
  return mix(hash + n * 0x9e3779b97f4a7c15u);
}

}  // namespace nidus::ring

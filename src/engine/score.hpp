// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which key leaves when memory is short: the one with the lowest score (larger = keep). The score
// comes from an item's 24 access bits, whose meaning depends on the policy's family:
//   LRU (and every policy that is not LFU): the time of the last use, in units of 128 ms, modulo
//        2^24 (24.8 days)
//   LFU: minutes of the last decrement (16 bits) | logarithmic counter (8 bits), as Redis counts:
//        a new key starts at 5, a use adds 1 with probability 1 / ((counter - 5) * 10 + 1), a
//        minute without use takes 1 away.
// Pure arithmetic: time and randomness are passed in.

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/item.hpp"

namespace nidus::engine {

enum class Policy : std::uint8_t {
  kNoEviction,
  kAllKeysLru,
  kAllKeysLfu,
  kAllKeysRandom,
  kVolatileLru,
  kVolatileLfu,
  kVolatileRandom,
  kVolatileTtl,
};

/// Accepts nidus' names (lru, lfu, random, ttl) and Redis' (allkeys-lru, volatile-ttl, ...).
std::optional<Policy> parse_policy(std::string_view name);
/// Redis' name of the policy.
std::string_view policy_name(Policy policy);

constexpr bool is_lfu(Policy policy) {
  return policy == Policy::kAllKeysLfu || policy == Policy::kVolatileLfu;
}
constexpr bool only_volatile(Policy policy) { return policy >= Policy::kVolatileLru; }

inline constexpr std::uint32_t kAccessMask = (1u << 24) - 1;

/// Access bits of a key that is written now.
std::uint32_t initial_access(Policy policy, Millis now);
/// Access bits after a use; `random` is used by LFU only.
std::uint32_t touched_access(Policy policy, std::uint32_t access, Millis now, std::uint64_t random);

/// Milliseconds since the last use (LRU bits), to a resolution of 128.
Millis idle_ms(std::uint32_t access, Millis now);
/// The LFU counter after its decay.
std::uint8_t frequency(std::uint32_t access, Millis now);

/// The score of an item, or nullopt if the policy may not evict it.
std::optional<std::uint64_t> score(Policy policy, const Item& item, Millis now,
                                   std::uint64_t random);

}  // namespace nidus::engine

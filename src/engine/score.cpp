// SPDX-License-Identifier: Apache-2.0

// Scores and policies. See score.hpp.

#include "engine/score.hpp"

#include <array>
#include <utility>

namespace nidus::engine {
namespace {

constexpr std::uint32_t kLfuInitial = 5;
constexpr std::uint64_t kLfuLogFactor = 10;

std::uint32_t lru_clock(Millis now) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(now) >> 7) & kAccessMask;
}
std::uint32_t minutes(Millis now) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(now) / 60000) & 0xffff;
}

constexpr std::array<std::pair<std::string_view, Policy>, 12> kPolicies{{
    {"noeviction", Policy::kNoEviction},
    {"allkeys-lru", Policy::kAllKeysLru},
    {"allkeys-lfu", Policy::kAllKeysLfu},
    {"allkeys-random", Policy::kAllKeysRandom},
    {"volatile-lru", Policy::kVolatileLru},
    {"volatile-lfu", Policy::kVolatileLfu},
    {"volatile-random", Policy::kVolatileRandom},
    {"volatile-ttl", Policy::kVolatileTtl},
    {"lru", Policy::kAllKeysLru},
    {"lfu", Policy::kAllKeysLfu},
    {"random", Policy::kAllKeysRandom},
    {"ttl", Policy::kVolatileTtl},
}};

}  // namespace

std::optional<Policy> parse_policy(std::string_view name) {
  for (const auto& [text, policy] : kPolicies) {
    if (text == name) return policy;
  }
  return std::nullopt;
}

std::string_view policy_name(Policy policy) {
  for (const auto& [text, value] : kPolicies) {
    if (value == policy) return text;
  }
  return "noeviction";
}

std::uint32_t initial_access(Policy policy, Millis now) {
  return is_lfu(policy) ? minutes(now) << 8 | kLfuInitial : lru_clock(now);
}

std::uint8_t frequency(std::uint32_t access, Millis now) {
  const std::uint32_t elapsed = (minutes(now) - (access >> 8)) & 0xffff;
  const std::uint32_t counter = access & 0xff;
  return static_cast<std::uint8_t>(counter > elapsed ? counter - elapsed : 0);
}

std::uint32_t touched_access(Policy policy, std::uint32_t access, Millis now,
                             std::uint64_t random) {
  if (!is_lfu(policy)) return lru_clock(now);
  std::uint32_t counter = frequency(access, now);
  if (counter < 255) {
    const std::uint64_t above = counter > kLfuInitial ? counter - kLfuInitial : 0;
    if (random % (above * kLfuLogFactor + 1) == 0) ++counter;
  }
  return minutes(now) << 8 | counter;
}

Millis idle_ms(std::uint32_t access, Millis now) {
  return static_cast<Millis>((lru_clock(now) - access) & kAccessMask) << 7;
}

std::optional<std::uint64_t> score(Policy policy, const Item& item, Millis now,
                                   std::uint64_t random) {
  if (policy == Policy::kNoEviction) return std::nullopt;
  if (only_volatile(policy) && !item.has_expiry()) return std::nullopt;
  switch (policy) {
    case Policy::kAllKeysLru:
    case Policy::kVolatileLru:
      return kAccessMask - ((lru_clock(now) - item.access()) & kAccessMask);
    case Policy::kAllKeysLfu:
    case Policy::kVolatileLfu:
      return frequency(item.access(), now);
    case Policy::kVolatileTtl:
      return static_cast<std::uint64_t>(item.expires_at());
    default:
      return random;
  }
}

}  // namespace nidus::engine

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Redis' settings that have no counterpart here, because clients, redis-benchmark and Redis' own
// test-suite ask for them. Each is one of two kinds: a fixed fact about nidus (no append-only file,
// no cluster bus), or the tuning of something that nidus does not have (listpacks), which is
// accepted, kept and without effect.

#include <span>
#include <string_view>

namespace nidus::server {

struct RedisSetting {
  std::string_view name;
  std::string_view value;
  /// Why it cannot be changed; empty: accepted, kept, without effect.
  std::string_view fixed_because;
};

std::span<const RedisSetting> redis_settings();

/// In any case; nullptr if there is none.
const RedisSetting* find_redis_setting(std::string_view name);

}  // namespace nidus::server

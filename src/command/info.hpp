// SPDX-License-Identifier: Apache-2.0
#pragma once

// INFO: the server's figures as text in Redis' sections and fields, so that clients and monitoring
// made for Redis can read them. Fields named nidus_* are our own.

#include <span>
#include <string>
#include <string_view>

#include "command/context.hpp"

namespace nidus::command {

/// The Redis version whose behaviour the commands follow; HELLO and INFO report it.
inline constexpr std::string_view kRedisVersion = "7.0.15";

/// The text of the named sections (in any case; "default", "all", "everything" are sets of them;
/// none = default). Unknown names give nothing. Cost: some reads of shared counters.
std::string info_text(engine::Keyspace& keyspace, Services& services,
                      std::span<const std::string_view> sections, engine::Millis now);

/// Every byte the server accounts for, by what it is for.
struct MemoryUse {
  std::size_t items = 0, index = 0, retired = 0, clients = 0;
  std::size_t total() const { return items + index + retired + clients; }
};
MemoryUse memory_use(engine::Keyspace& keyspace, const ServerInfo& server);

void info_command(Context& context);

}  // namespace nidus::command

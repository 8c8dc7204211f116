// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the server remembers of one client between its requests. A session belongs to the one
// thread that serves its connection; what other threads may see of it (CLIENT LIST, CLIENT KILL)
// goes through Services.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/watch.hpp"

namespace nidus::command {

struct CommandSpec;

/// A request that waits for EXEC: its own copy of the arguments.
struct QueuedRequest {
  const CommandSpec* spec = nullptr;
  std::vector<std::string> args;
};

struct WatchedKey {
  int database = 0;
  std::string key;
  std::uint64_t hash = 0;
  bool absent_when_watched = false;  // not there, or expired
};

struct Session {
  /// CLIENT REPLY. SKIP sets kSkipNext (unless kOff), which the executor turns into kSkip while the
  /// next request runs.
  enum class ReplyMode { kOn, kOff, kSkipNext, kSkip };

  std::uint64_t id = 0;
  std::string name, lib_name, lib_version;
  std::string address, local_address;  // "127.0.0.1:4711"
  std::int64_t connected_at_ms = 0;
  int database = 0;
  int protocol = 2;
  bool authenticated = false;
  bool unix_socket = false;
  bool no_touch = false;
  bool no_evict = false;
  ReplyMode reply_mode = ReplyMode::kOn;

  bool in_multi = false;
  bool multi_failed = false;  // a request of the transaction could not be queued
  std::vector<QueuedRequest> queue;
  std::size_t queued_bytes = 0;       // that the queue holds
  std::size_t queue_limit_bytes = 0;  // 0: none; above it a transaction fails
  std::vector<WatchedKey> watched;
  engine::WatchRegistry::Flag watch_flag;

  bool close_after_reply = false;
  const CommandSpec* last_command = nullptr;
  std::string_view last_subcommand;
  std::uint64_t commands = 0;
};

}  // namespace nidus::command

// SPDX-License-Identifier: Apache-2.0
#pragma once

// What commands need of the server around them, as one narrow interface that the server
// implements: the clients, the configuration, figures for INFO, shutting down. Commands themselves
// touch no socket, no file and no thread.
//
// Thread-safety: every call from every server thread.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nidus/base/error.hpp>

#include "command/session.hpp"

namespace nidus::command {

/// One line of CLIENT LIST.
struct ClientInfo {
  std::uint64_t id = 0;
  std::string address, local_address, name, lib_name, lib_version, last_command;
  std::int64_t age_s = 0, idle_s = 0;
  int fd = -1, database = 0, protocol = 2, multi = -1, watch = 0;
  std::string flags = "N";
  std::string user = "default";
  std::size_t query_buffer_bytes = 0, query_buffer_free_bytes = 0, output_bytes = 0,
              total_memory_bytes = 0;
};

struct KillFilter {
  std::uint64_t id = 0;  // 0 = any
  std::string address, local_address, user, type;
  bool skip_me = true;
  std::int64_t max_age_s = -1;
};

/// Figures of the server for INFO and metrics.
struct ServerInfo {
  std::string version, git, os, arch, executable, config_file, run_id;
  int process_id = 0, tcp_port = 0, threads = 1;
  std::int64_t uptime_s = 0, started_at_ms = 0;
  std::uint64_t connected_clients = 0, max_clients = 0, blocked_clients = 0;
  std::uint64_t connections_received = 0, connections_rejected = 0, commands_processed = 0;
  std::uint64_t net_input_bytes = 0, net_output_bytes = 0;
  std::uint64_t ops_per_second = 0;
  double input_kbps = 0, output_kbps = 0;
  std::size_t client_memory_bytes = 0;  // query and output buffers
  std::size_t resident_bytes = 0, peak_resident_bytes = 0, system_memory_bytes = 0;
  std::uint64_t query_buffer_limit_disconnections = 0, output_buffer_limit_disconnections = 0;
  std::uint64_t largest_input_bytes = 0, largest_output_bytes = 0;
  double cpu_user_s = 0, cpu_system_s = 0;
};

class Services {
 public:
  virtual ~Services() = default;

  virtual ServerInfo server_info() = 0;
  virtual void reset_stats() = 0;

  /// Every client, this one included, in the order of their ids.
  virtual std::vector<ClientInfo> clients() = 0;
  /// Closes the clients that match; returns how many. `self` is closed after its reply.
  virtual std::size_t kill_clients(const KillFilter& filter, Session& self) = 0;
  /// Makes a changed name, library or database of this session visible to clients().
  virtual void session_changed(const Session& session) = 0;

  /// Calls visit(name, value) for each parameter whose name matches one of the glob patterns.
  virtual void config_get(const std::vector<std::string_view>& patterns,
                          const std::function<void(std::string_view, std::string_view)>& visit) = 0;
  /// Sets all or none. Errors: the text after "-ERR ", as Redis writes it.
  virtual Expected<void> config_set(
      const std::vector<std::pair<std::string_view, std::string_view>>& values) = 0;

  /// True if no password is needed.
  virtual bool open_to_all() = 0;
  /// Checks a user and password; the only user is "default".
  virtual bool check_password(std::string_view user, std::string_view password) = 0;

  /// Begins to drain and stop the server; returns at once.
  virtual void shut_down() = 0;
};

}  // namespace nidus::command

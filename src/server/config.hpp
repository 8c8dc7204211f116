// SPDX-License-Identifier: Apache-2.0
#pragma once

// All settings of `nidus serve` as one plain struct, with their defaults. config_table.hpp gives
// each its name, its text form and its help; config_load.hpp fills it (defaults, file, environment,
// flags); live_config.hpp is where a running server reads and changes it.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/score.hpp"

namespace nidus::server {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };
enum class DebugCommand { kNo, kLocal, kYes };

/// When a client that does not read its replies is cut off: at once above hard_bytes, or after
/// soft_time above soft_bytes. 0 bytes: no such limit.
struct OutputLimit {
  std::size_t hard_bytes = std::size_t{1} << 30;
  std::size_t soft_bytes = std::size_t{256} << 20;
  std::chrono::milliseconds soft_time{60'000};

  bool operator==(const OutputLimit&) const = default;
};

inline constexpr int kAnyPort = -1;  ///< "any": the system chooses; Server says which
inline constexpr int kNoPort = 0;    ///< not listened on

struct Config {
  // Where clients connect. An address that starts with '-' may be missing on this machine.
  std::vector<std::string> bind{"127.0.0.1", "-::1"};
  int port = 6379;          // kNoPort: Unix socket only
  std::string unix_socket;  // path; empty: none
  unsigned unix_socket_permissions = 0700;
  int tcp_backlog = 511;
  std::chrono::milliseconds tcp_keepalive{300'000};  // 0: off
  int threads = 0;                                   // 0: one a core

  // Memory.
  std::size_t memory_limit_bytes = 0;  // 0: none
  engine::Policy policy = engine::Policy::kNoEviction;
  int databases = 16;

  // Who may connect, and how much one client may take.
  std::string password;        // empty: open to all
  bool protected_mode = true;  // without a password, only loopback and the Unix socket
  std::size_t max_clients = 10'000;
  std::chrono::milliseconds idle_timeout{0};                    // 0: never
  std::size_t query_buffer_limit_bytes = std::size_t{1} << 30;  // of unparsed requests
  std::size_t max_arguments = 1024 * 1024;                      // of one request
  std::size_t max_bulk_bytes = std::size_t{512} << 20;          // of one argument
  OutputLimit output_limit;

  // HTTP: /metrics, /healthz, /readyz.
  std::string http_bind = "127.0.0.1";
  int http_port = 8379;  // kNoPort: no HTTP

  // Logs.
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
  std::string log_file;  // empty: standard error

  // Stopping: requests under way get this long after SIGTERM.
  std::chrono::milliseconds drain_timeout{5'000};

  // Who may call DEBUG: nobody, clients on this machine, everybody.
  DebugCommand debug_command = DebugCommand::kNo;

  // For tests that need the same table every time; 0: a random secret of this process.
  std::uint64_t hash_seed = 0;
};

}  // namespace nidus::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

// What HTTP needs of the server around it: figures for /metrics, and whether it serves. The server
// implements Source; this layer knows neither sockets nor commands.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nidus::http {

struct DatabaseFigures {
  int number = 0;
  std::uint64_t keys = 0, expiring_keys = 0;
};

/// One moment's figures. Those that only ever grow count from the server's start.
struct Figures {
  std::string version;
  std::uint64_t threads = 0;
  double start_time_s = 0;  // Unix time

  std::uint64_t connected_clients = 0, max_clients = 0;
  std::uint64_t connections = 0, connections_rejected = 0;
  std::uint64_t cut_off_query_buffer = 0, cut_off_output_buffer = 0;

  std::uint64_t commands = 0;
  std::uint64_t received_bytes = 0, sent_bytes = 0;

  std::vector<DatabaseFigures> databases;
  std::uint64_t hits = 0, misses = 0, expired = 0, evicted = 0, writes = 0, writes_refused = 0;

  std::size_t item_bytes = 0, index_bytes = 0, retired_bytes = 0, client_bytes = 0;
  std::size_t memory_limit_bytes = 0, memory_peak_bytes = 0;
  std::size_t resident_bytes = 0;
  double cpu_user_s = 0, cpu_system_s = 0;
};

/// Thread-safety: every call from every thread.
class Source {
 public:
  virtual ~Source() = default;
  virtual Figures figures() = 0;
  /// False while the server starts or drains: a load balancer should send nobody here.
  virtual bool ready() = 0;
};

}  // namespace nidus::http

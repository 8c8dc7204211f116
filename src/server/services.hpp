// SPDX-License-Identifier: Apache-2.0
#pragma once

// The server as commands see it (command/services.hpp): figures for INFO, the clients of all
// threads, the settings, the password, and the way to stop.
//
// Thread-safety: every call from every thread; sample() by one thread.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "command/services.hpp"
#include "server/clients.hpp"
#include "server/live_config.hpp"
#include "server/server.hpp"
#include "server/worker.hpp"

namespace nidus::server {

class ServerServices final : public command::Services {
 public:
  using Workers = std::vector<std::unique_ptr<Worker>>;

  ServerServices(LiveConfig& config, ClientRegistry& clients, const Workers& workers,
                 const ListenerSet& listeners, ServerOptions options,
                 std::function<void()> shut_down);

  command::ServerInfo server_info() override;
  void reset_stats() override;
  std::vector<command::ClientInfo> clients() override;
  std::size_t kill_clients(const command::KillFilter& filter, command::Session& self) override;
  void session_changed(const command::Session& session) override;
  void config_get(const std::vector<std::string_view>& patterns,
                  const std::function<void(std::string_view, std::string_view)>& visit) override;
  Expected<void> config_set(
      const std::vector<std::pair<std::string_view, std::string_view>>& values) override;
  bool open_to_all() override;
  bool check_password(std::string_view user, std::string_view password) override;
  void shut_down() override { shut_down_(); }

  /// Remembers the counters of this moment, for the rates; ten times a second.
  void sample();

 private:
  struct Totals {
    std::uint64_t connections_received = 0, connections_rejected = 0, requests = 0;
    std::uint64_t input_bytes = 0, output_bytes = 0;
    std::uint64_t query_limit_disconnections = 0, output_limit_disconnections = 0;
  };
  struct Sample {
    std::int64_t at_ms = 0;
    std::uint64_t requests = 0, input_bytes = 0, output_bytes = 0;
  };
  Totals totals() const;
  void add_counters(command::ServerInfo& info) const;
  void add_rates(command::ServerInfo& info) const;

  LiveConfig& config_;
  ClientRegistry& clients_;
  const Workers& workers_;
  const ListenerSet& listeners_;
  const ServerOptions options_;
  const std::function<void()> shut_down_;
  const std::string run_id_;
  const std::int64_t started_at_ms_;

  mutable std::mutex mutex_;  // of what stands below
  Totals baseline_;           // at the last reset_stats()
  std::array<Sample, 16> samples_;
  std::size_t next_sample_ = 0;
};

/// Compares without telling by its time where the two differ. Cost: by the size of `given`.
bool equal_in_constant_time(std::string_view secret, std::string_view given);

}  // namespace nidus::server

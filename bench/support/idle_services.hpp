// SPDX-License-Identifier: Apache-2.0
#pragma once

// The surroundings of commands for benches that have no server: nobody else is connected, nothing
// is configured, no password is set.

#include "command/services.hpp"

namespace nidus::bench {

class IdleServices : public command::Services {
 public:
  command::ServerInfo server_info() override { return {}; }
  void reset_stats() override {}
  std::vector<command::ClientInfo> clients() override { return {}; }
  std::size_t kill_clients(const command::KillFilter&, command::Session&) override { return 0; }
  void session_changed(const command::Session&) override {}
  void config_get(const std::vector<std::string_view>&,
                  const std::function<void(std::string_view, std::string_view)>&) override {}
  Expected<void> config_set(
      const std::vector<std::pair<std::string_view, std::string_view>>&) override {
    return {};
  }
  bool open_to_all() override { return true; }
  bool check_password(std::string_view, std::string_view) override { return true; }
  void shut_down() override {}
};

}  // namespace nidus::bench

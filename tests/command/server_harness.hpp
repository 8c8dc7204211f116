// SPDX-License-Identifier: Apache-2.0
#pragma once

// A server for the tests of server and introspection commands: a real executor and keyspace, a
// small configuration, figures that the test sets, and one client that sends a request and gets the
// bytes of the reply.

#include <initializer_list>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "command/executor.hpp"
#include "command/services.hpp"
#include "engine/keyspace.hpp"
#include "engine/thread.hpp"
#include "resp/glob.hpp"
#include "resp/output_buffer.hpp"
#include "resp/request_batch.hpp"

namespace nidus::command::server_testing {

class Services : public command::Services {
 public:
  std::map<std::string, std::string> config = {
      {"maxmemory", "0"}, {"maxmemory-policy", "noeviction"}, {"save", ""}};
  ServerInfo figures;
  int stat_resets = 0, shut_downs = 0;

  ServerInfo server_info() override { return figures; }
  void reset_stats() override { ++stat_resets; }
  std::vector<ClientInfo> clients() override { return {}; }
  std::size_t kill_clients(const KillFilter&, Session&) override { return 0; }
  void session_changed(const Session&) override {}
  void config_get(const std::vector<std::string_view>& patterns,
                  const std::function<void(std::string_view, std::string_view)>& visit) override {
    for (const auto& [name, value] : config) {
      for (const std::string_view pattern : patterns) {
        if (!resp::glob_match(pattern, name, true)) continue;
        visit(name, value);
        break;
      }
    }
  }
  Expected<void> config_set(
      const std::vector<std::pair<std::string_view, std::string_view>>& values) override {
    for (const auto& [name, value] : values) {
      if (!config.contains(std::string(name))) {
        return fail("Unknown option or number of arguments for CONFIG SET - '" + std::string(name) +
                    "'");
      }
    }
    for (const auto& [name, value] : values) config[std::string(name)] = value;
    return {};
  }
  bool open_to_all() override { return true; }
  bool check_password(std::string_view, std::string_view) override { return false; }
  void shut_down() override { ++shut_downs; }
};

class Server {
 public:
  explicit Server(const engine::KeyspaceOptions& options = {})
      : keyspace(options), executor_(keyspace, services) {
    session.id = 1;
    session.address = "127.0.0.1:50000";
  }
  ~Server() { executor_.abandon_transaction(session); }

  std::string operator()(std::initializer_list<std::string_view> request) {
    resp::RequestBatch batch;
    resp::Arg* args = batch.reserve_args(request.size());
    for (const std::string_view arg : request) new (args++) resp::Arg(arg);
    batch.commit(request.size());
    resp::OutputBuffer out;
    executor_.run(session, batch, 0, out, std::size_t{64} << 20, now);
    engine::ThreadScope::quiescent();
    return std::string(out.view());
  }

  engine::ThreadScope thread;
  engine::Keyspace keyspace;
  Services services;
  Session session;
  engine::Millis now = 1'700'000'000'000;

 private:
  Executor executor_;
};

inline std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}
inline std::string error(std::string_view text) { return "-" + std::string(text) + "\r\n"; }
inline std::string wrong_arity(std::string_view name) {
  return error("ERR wrong number of arguments for '" + std::string(name) + "' command");
}
inline const std::string kOk = "+OK\r\n";
inline const std::string kNull = "$-1\r\n";
inline const std::string kSyntax = "-ERR syntax error\r\n";

}  // namespace nidus::command::server_testing

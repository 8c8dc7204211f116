// SPDX-License-Identifier: Apache-2.0
#pragma once

// A client without a socket, for the tests of the command families: requests go through the real
// executor and keyspace, the server's side (services.hpp) is a small fake, and the clock is given.

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "command/executor.hpp"
#include "command/registry.hpp"
#include "engine/keyspace.hpp"
#include "engine/thread.hpp"
#include "resp/output_buffer.hpp"
#include "resp/parser.hpp"
#include "resp/request_batch.hpp"

namespace nidus::command::testing {

/// A server of clients that are only names; the password is `password`, none if empty.
class FakeServices : public Services {
 public:
  std::string password;
  std::vector<ClientInfo> known;
  std::vector<KillFilter> killed;
  int shut_downs = 0;

  ServerInfo server_info() override { return {}; }
  void reset_stats() override {}
  std::vector<ClientInfo> clients() override { return known; }
  std::size_t kill_clients(const KillFilter& filter, Session& self) override {
    killed.push_back(filter);
    std::size_t n = 0;
    for (const ClientInfo& client : known) {
      if (client.id == self.id && filter.skip_me) continue;
      if (filter.id != 0 && filter.id != client.id) continue;
      if (!filter.address.empty() && filter.address != client.address) continue;
      ++n;
    }
    return n;
  }
  void session_changed(const Session& session) override {
    for (ClientInfo& client : known) {
      if (client.id != session.id) continue;
      client.name = session.name;
      client.lib_name = session.lib_name;
      client.lib_version = session.lib_version;
      client.database = session.database;
      client.protocol = session.protocol;
    }
  }
  void config_get(const std::vector<std::string_view>&,
                  const std::function<void(std::string_view, std::string_view)>&) override {}
  Expected<void> config_set(
      const std::vector<std::pair<std::string_view, std::string_view>>&) override {
    return {};
  }
  bool open_to_all() override { return password.empty(); }
  bool check_password(std::string_view user, std::string_view given) override {
    return user == "default" && !password.empty() && given == password;
  }
  void shut_down() override { ++shut_downs; }
};

/// What all clients of a test share. Its first thread is registered with the engine.
struct World {
  explicit World(const engine::KeyspaceOptions& options = {}) : keyspace(options) {}
  engine::ThreadScope thread;
  engine::Keyspace keyspace;
  FakeServices services;
  engine::Millis now = 1'700'000'000'000;
};

/// One client; call it with a request to get the reply's bytes. Belongs to one registered thread.
class Client {
 public:
  explicit Client(World& world, std::uint64_t id = 1)
      : world_(world), executor_(world.keyspace, world.services) {
    session.id = id;
    session.authenticated = world.services.open_to_all();
  }
  ~Client() { executor_.abandon_transaction(session); }

  std::string operator()(std::initializer_list<std::string_view> request) {
    return send({std::vector<std::string>(request.begin(), request.end())});
  }
  std::string operator()(const std::vector<std::string>& request) { return send({request}); }

  /// Bytes as they come from a socket: all complete requests in them as one batch.
  std::string bytes(std::string_view input) {
    resp::Parser parser;
    resp::RequestBatch batch;
    parser.parse(input, {}, batch);
    return run(batch);
  }

  /// Several requests as one batch.
  std::string send(const std::vector<std::vector<std::string>>& requests) {
    resp::RequestBatch batch;
    for (const auto& request : requests) {
      resp::Arg* args = batch.reserve_args(request.size());
      for (std::size_t i = 0; i < request.size(); ++i) new (args + i) resp::Arg(request[i]);
      batch.commit(request.size());
    }
    return run(batch);
  }

  Session session;
  std::size_t output_limit_bytes = 64 << 20;
  std::size_t runs = 0;  // calls of Executor::run that the last batch took

 private:
  std::string run(const resp::RequestBatch& batch) {
    resp::OutputBuffer out;
    std::string replies;
    std::size_t next = 0;
    for (runs = 0; next < batch.size() && !session.close_after_reply; ++runs) {
      next = executor_.run(session, batch, next, out, output_limit_bytes, world_.now);
      replies += out.view();
      out.clear();
    }
    engine::ThreadScope::quiescent();
    return replies;
  }

  World& world_;
  Executor executor_;
};

/// A bulk reply.
inline std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}
inline std::string integer(std::int64_t value) { return ":" + std::to_string(value) + "\r\n"; }
inline std::string error(std::string_view text) { return "-" + std::string(text) + "\r\n"; }
inline const std::string kOk = "+OK\r\n";
inline const std::string kNull = "$-1\r\n";
inline const std::string kQueued = "+QUEUED\r\n";

}  // namespace nidus::command::testing

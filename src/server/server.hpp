// SPDX-License-Identifier: Apache-2.0
#pragma once

// The server as a whole: the keyspace, the listening sockets, the threads that serve them, and how
// it stops. `nidus serve` makes one, starts it and runs it; tests make several in one process.
//
//   LiveConfig config(load());
//   Server server(config, {.config_file = path});
//   if (auto started = server.start(); !started) return report(started.error());
//   return server.run();
//
// Thread-safety: start(), run(), stop() by one thread; the others by every thread.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nidus/base/error.hpp>

#include "command/services.hpp"
#include "engine/keyspace.hpp"
#include "server/live_config.hpp"

namespace nidus::server {

struct ServerOptions {
  std::string config_file;  // for INFO; empty: none
  std::string executable;   // for INFO
};

class Server {
 public:
  /// `config` outlives the server and is not set any more once the server is gone.
  Server(LiveConfig& config, ServerOptions options);
  /// Stops without waiting for clients, if it still runs.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Opens the sockets and starts the threads. Errors: what could not be bound and why; nothing
  /// is then left open.
  Expected<void> start();

  /// Serves until SIGTERM, SIGINT, SHUTDOWN or drain(), then waits for the threads. A second signal
  /// ends the process at once. Returns the exit status: 0 after a drain.
  /// `on_armed` is called once signals are caught: say "ready" there, and a SIGTERM that follows
  /// at once drains too.
  int run(const std::function<void()>& on_armed = {});

  /// Begins to stop and returns: no new connections, complete requests are answered, connections
  /// close; at the latest after the setting drain-timeout everything is closed.
  void drain();
  /// drain(), then waits for the threads.
  void stop();

  /// True from start() to drain(), for /readyz.
  bool ready() const;

  /// The port served, also when the settings say "any"; 0: none.
  int tcp_port() const;
  /// Connections that each thread serves.
  std::vector<std::size_t> clients_by_thread() const;
  engine::Keyspace& keyspace();
  command::Services& services();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nidus::server

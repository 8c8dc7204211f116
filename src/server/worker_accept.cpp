// SPDX-License-Identifier: Apache-2.0

// How a server thread takes new connections and gives each to the thread with the fewest.

#include <sys/socket.h>

#include <cassert>
#include <string>
#include <string_view>
#include <utility>

#include "server/log.hpp"
#include "server/worker.hpp"

namespace nidus::server {

namespace {

// Connections taken at one event; others that wait are the next turn's, after the requests.
constexpr int kAcceptAtOnce = 64;

// How long listening pauses when the system has no descriptor or memory for a connection.
constexpr std::int64_t kPauseMs = 100;

constexpr std::string_view kTooMany = "-ERR max number of clients reached\r\n";
constexpr std::string_view kProtected =
    "-DENIED nidus runs in protected mode: no password is set, so only clients of this machine are "
    "served. To let others in, set a password (--requirepass, or CONFIG SET requirepass on this "
    "machine), or switch the protection off (--protected-mode no, or CONFIG SET protected-mode no) "
    "if no stranger can reach this port.\r\n";

/// One line to somebody who does not become a client. The socket is new, so its buffer is empty and
/// takes the line at once.
void turn_away(const AcceptedSocket& socket, std::string_view line) {
  [[maybe_unused]] const auto sent =
      ::send(socket.fd.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket.fd.get(), SHUT_WR);
}

}  // namespace

void Worker::listen(bool on) {
  for (const auto& listener : environment_.listeners.all()) {
    if (on) {
      loop_.poller.add(listener->fd.get(), EPOLLIN | EPOLLEXCLUSIVE, listener.get());
    } else {
      loop_.poller.remove(listener->fd.get());
    }
  }
  listen_again_ms_ = 0;
}

void Worker::accept_all(Listener& listener) {
  if (loop_.draining) return;
  for (int i = 0; i < kAcceptAtOnce; ++i) {
    AcceptedSocket socket;
    switch (accept_from(listener, *loop_.config, reserve_, socket)) {
      case AcceptResult::kAccepted:
        place(std::move(socket));
        break;
      case AcceptResult::kRefused:
        loop_.counters.connections_rejected.add(1);
        break;
      case AcceptResult::kExhausted:
        log_error("no descriptor or memory for a new connection: listening pauses",
                  {{"clients", loop_.clients.count()}, {"pause_ms", kPauseMs}});
        listen(false);
        listen_again_ms_ = loop_.steady_ms + kPauseMs;
        return;
      case AcceptResult::kNothing:
        return;
    }
  }
}

void Worker::place(AcceptedSocket socket) {
  loop_.counters.connections_received.add(1);
  const Config& config = *loop_.config;
  if (config.protected_mode && config.password.empty() && !socket.loopback) {
    loop_.counters.connections_rejected.add(1);
    return turn_away(socket, kProtected);
  }
  if (!loop_.clients.reserve(config.max_clients)) {
    loop_.counters.connections_rejected.add(1);
    return turn_away(socket, kTooMany);
  }
  Worker* best = this;
  for (const auto& worker : environment_.workers) {
    // A difference of one is not worth the way through another thread's mailbox.
    if (worker->load() + (best == this ? 1 : 0) < best->load()) best = worker.get();
  }
  if (best == this) return adopt(std::move(socket));
  best->post(std::move(socket));
}

void Worker::adopt(AcceptedSocket socket) {
  const int fd = socket.fd.get();
  std::unique_ptr<Connection> connection;
  try {
    connection = std::make_unique<Connection>(loop_, std::move(socket));
  } catch (const std::bad_alloc&) {
    log_error("no memory for a client");
    return loop_.clients.release();
  }
  connection->position = connections_.size();
  if (!loop_.poller.add(fd, EPOLLIN | EPOLLRDHUP | EPOLLET, connection.get())) {
    log_error("cannot wait for a client", {{"client", connection->id()}});
    return;  // closes it
  }
  connections_.push_back(std::move(connection));
  publish_load();
}

}  // namespace nidus::server

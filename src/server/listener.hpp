// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sockets that clients connect to, and accepting from them. Every thread waits on all of them
// (EPOLLEXCLUSIVE: a connection wakes one thread, not all). One shared queue a socket instead of
// one a thread (SO_REUSEPORT): no connection is lost in the queue of a thread that stops, it works
// for Unix sockets too, and the thread that accepts can hand the connection to the one with the
// fewest, where the kernel's hash would leave threads unevenly loaded for as long as clients stay.
//
// Thread-safety: open() and close() by one thread; accept() by every thread.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nidus/base/error.hpp>

#include "server/config.hpp"
#include "server/poller.hpp"
#include "server/socket.hpp"

namespace nidus::server {

struct Listener : EventTarget {
  Listener(FileDescriptor socket, bool is_unix)
      : EventTarget{Kind::kListener}, fd(std::move(socket)), unix_socket(is_unix) {}
  FileDescriptor fd;
  bool unix_socket;
};

class ListenerSet {
 public:
  ~ListenerSet() { close(); }

  /// Binds all addresses of the settings. Errors: which one failed and why; none is then open.
  Expected<void> open(const Config& config);
  /// Closes all; the Unix socket's file is removed.
  void close();

  const std::vector<std::unique_ptr<Listener>>& all() const { return listeners_; }
  /// 0: no TCP socket.
  int tcp_port() const { return tcp_port_; }

 private:
  Expected<void> open_tcp(const Config& config, const std::string& address);
  Expected<void> open_unix(const Config& config);

  std::vector<std::unique_ptr<Listener>> listeners_;
  int tcp_port_ = 0;
  std::string unix_path_;
};

enum class AcceptResult { kAccepted, kNothing, kRefused, kExhausted };

/// Accepts one connection, set up (non-blocking, TCP_NODELAY, keepalive).
/// kNothing: none waits. kRefused: the process is out of descriptors; the connection was taken with
/// the reserved one and closed, so that it does not wait for ever. kExhausted: not even that was
/// possible; pause this listener.
AcceptResult accept_from(const Listener& listener, const Config& config, FileDescriptor& reserve,
                         AcceptedSocket& out);

/// A descriptor to give up when there are no others.
FileDescriptor open_reserve();

}  // namespace nidus::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one wait of a server thread: epoll, edge-triggered for connections. Connections are not
// Boost.Asio sockets: a waiting one would own a buffer or cost an epoll_ctl a request, and which
// sockets are ready together would be hidden, which the server uses to fetch the keys of many
// clients side by side (docs/decisions/0003-connections-wait-on-epoll.md, with the figures). With one
// thread a connection, edge-triggered epoll needs no re-arming: a read that comes back short has
// emptied the socket, and what arrives later is a new edge.
//
// Thread-safety: one thread, but for Mailbox (mailbox.hpp), whose eventfd it waits on.

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
#include <system_error>

namespace nidus::server {

/// What an event belongs to; the worker tells the kinds apart without a virtual call.
struct EventTarget {
  enum class Kind : std::uint8_t { kConnection, kListener, kMailbox };
  Kind kind;
};

class Poller {
 public:
  Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  }
  ~Poller() { ::close(epoll_); }
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  bool add(int fd, std::uint32_t events, EventTarget* target) {
    return control(EPOLL_CTL_ADD, fd, events, target);
  }
  bool change(int fd, std::uint32_t events, EventTarget* target) {
    return control(EPOLL_CTL_MOD, fd, events, target);
  }
  void remove(int fd) { control(EPOLL_CTL_DEL, fd, 0, nullptr); }

  /// Waits for events, at most timeout_ms (0: does not wait). Valid until the next call.
  std::span<const epoll_event> wait(int timeout_ms) {
    const int n =
        ::epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()), timeout_ms);
    return {events_.data(), n > 0 ? static_cast<std::size_t>(n) : 0};
  }

 private:
  bool control(int operation, int fd, std::uint32_t events, EventTarget* target) {
    epoll_event event{};
    event.events = events;
    event.data.ptr = target;
    return ::epoll_ctl(epoll_, operation, fd, &event) == 0;
  }

  int epoll_;
  std::array<epoll_event, 256> events_;
};

}  // namespace nidus::server

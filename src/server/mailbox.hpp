// SPDX-License-Identifier: Apache-2.0
#pragma once

// What other threads ask of a server thread: take over a connection, close clients, drain. The
// thread sleeps in epoll_wait, so a message also writes to an eventfd that it waits on.
//
// Thread-safety: post() by every thread, take() by the owner.

#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "server/poller.hpp"
#include "server/socket.hpp"

namespace nidus::server {

struct KillClients {
  std::vector<std::uint64_t> ids;  // sorted
};
struct Drain {
  std::int64_t until_ms;  // of the steady clock; the same for all, however late each reads it
};
using Message = std::variant<AcceptedSocket, KillClients, Drain>;

class Mailbox : public EventTarget {
 public:
  Mailbox() : EventTarget{Kind::kMailbox}, event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!event_.valid()) throw std::system_error(errno, std::generic_category(), "eventfd");
  }

  int fd() const { return event_.get(); }

  void post(Message message) {
    {
      const std::lock_guard lock(mutex_);
      messages_.push_back(std::move(message));
    }
    const std::uint64_t one = 1;
    // It can only fail when 2^64 - 1 wake-ups wait already.
    [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
  }

  std::vector<Message> take() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto read = ::read(event_.get(), &count, sizeof count);
    const std::lock_guard lock(mutex_);
    return std::exchange(messages_, {});
  }

 private:
  FileDescriptor event_;
  std::mutex mutex_;
  std::vector<Message> messages_;
};

}  // namespace nidus::server

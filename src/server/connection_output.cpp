// SPDX-License-Identifier: Apache-2.0

// A client's replies on their way out, and the end of its connection; see connection.hpp.

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "server/connection.hpp"
#include "server/log.hpp"

namespace nidus::server {

namespace {

constexpr std::uint32_t kReadEvents = EPOLLIN | EPOLLRDHUP | EPOLLET;

// Where neither output limit is set, reading still pauses: replies may not take all memory.
constexpr std::size_t kDefaultPauseBytes = std::size_t{256} << 20;

// How long a client may take to close after we did.
constexpr std::int64_t kLingerMs = 2000;

// Sent bytes in front of pending ones are cut off when they are many.
constexpr std::size_t kCompactBytes = std::size_t{1} << 20;

}  // namespace

/// Above it nothing is read or run. Never below a limit that cuts off: a client that writes its
/// whole pipeline before it reads would wait for us and we for it.
std::size_t Connection::pause_mark() const {
  const OutputLimit& limit = loop_.config->output_limit;
  if (limit.soft_bytes != 0) return limit.soft_bytes;
  return limit.hard_bytes != 0 ? limit.hard_bytes : kDefaultPauseBytes;
}

/// False when the connection is broken (and now closed).
bool Connection::send_some(const char* data, std::size_t size, std::size_t& sent) {
  while (sent < size) {
    const ssize_t n = ::send(fd_.get(), data + sent, size - sent, MSG_NOSIGNAL);
    if (n > 0) {
      const auto bytes = static_cast<std::size_t>(n);
      sent += bytes;
      loop_.counters.output_bytes.add(bytes);
      active_ms_ = loop_.steady_ms;
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return true;
    close();
    return false;
  }
  return true;
}

void Connection::send_output() {
  if (state_ == State::kClosed) return;
  if (!pending_.empty()) return check_output_limit();  // an event tells when the socket takes more
  resp::OutputBuffer& out = loop_.output;
  if (!out.empty()) {
    std::size_t sent = 0;
    if (!send_some(out.data(), out.size(), sent)) return;
    if (sent < out.size()) {
      std::swap(out, pending_);
      sent_ = sent;
      out.clear();
      want_writable(true);
      account();
      return check_output_limit();
    }
    out.clear();
  }
  if (state_ == State::kFinishing) linger();
}

void Connection::send_pending() {
  const std::size_t before = sent_;
  if (!send_some(pending_.data(), pending_.size(), sent_)) return;
  if (sent_ == pending_.size()) {
    pending_.release();
    sent_ = 0;
    over_soft_ms_ = 0;
    want_writable(false);
    account();
    if (state_ == State::kFinishing) linger();
    return;
  }
  if (sent_ > kCompactBytes && sent_ > pending_.size() / 2) {
    resp::OutputBuffer rest;
    rest.append(pending_.view().substr(sent_));
    std::swap(pending_, rest);
    sent_ = 0;
    account();
  }
  if (sent_ != before) check_output_limit();
}

void Connection::want_writable(bool wanted) {
  if (wanted == wants_writable_) return;
  wants_writable_ = wanted;
  const std::uint32_t more = wanted ? static_cast<std::uint32_t>(EPOLLOUT) : 0;
  loop_.poller.change(fd_.get(), kReadEvents | more, this);
}

void Connection::check_output_limit() {
  const std::size_t bytes = pending_bytes();
  if (bytes == 0) return;
  loop_.counters.largest_output_bytes.raise_to(bytes);
  const OutputLimit& limit = loop_.config->output_limit;
  bool over = limit.hard_bytes != 0 && bytes > limit.hard_bytes;
  if (limit.soft_bytes != 0 && bytes > limit.soft_bytes) {
    if (over_soft_ms_ == 0) over_soft_ms_ = loop_.steady_ms;
    over = over || loop_.steady_ms - over_soft_ms_ > limit.soft_time.count();
  } else {
    over_soft_ms_ = 0;
  }
  if (!over) return;
  loop_.counters.output_limit_disconnections.add(1);
  log_warning("client cut off: it does not read its replies",
              {{"client", session_.id}, {"address", session_.address}, {"waiting_bytes", bytes}});
  close();
}

/// No more requests: what is written is sent, then the connection ends.
void Connection::finish() {
  if (state_ != State::kOpen) return;
  state_ = State::kFinishing;
  blocked_ = false;
  input_.release();
}

void Connection::linger() {
  if (peer_closed_) return close();
  state_ = State::kLingering;
  linger_until_ms_ = loop_.steady_ms + kLingerMs;
  unregister();
  ::shutdown(fd_.get(), SHUT_WR);
  discard();
}

}  // namespace nidus::server

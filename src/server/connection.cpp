// SPDX-License-Identifier: Apache-2.0

// A client's input and the running of its requests; its output stands in connection_output.cpp.

#include "server/connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "engine/thread.hpp"
#include "resp/writer.hpp"

namespace nidus::server {

namespace {

// Unfinished requests up to this size are copied in front of the next read instead of being
// completed in a buffer of their own: a copy of 16 KiB costs less than a miss.
constexpr std::size_t kCopyBytes = 16 * 1024;

// Requests parsed at a time; they share one pass of the executor.
constexpr std::size_t kBatchRequests = 1024;

// Replies are sent when they exceed this, though the batch may go on.
constexpr std::size_t kSendBytes = 256 * 1024;

// Reads of one connection in a row while draining.
constexpr int kDrainReads = 64;

// A drain does not wait long for clients to close after we did.
constexpr std::int64_t kDrainLingerMs = 250;

/// Names the running client for as long as its batch runs, also when it ends by an exception.
class RunningScope {
 public:
  RunningScope(ClientRecord& record, const command::Session& session) {
    running_client = {&record, &session};
  }
  ~RunningScope() { running_client = {}; }
  RunningScope(const RunningScope&) = delete;
  RunningScope& operator=(const RunningScope&) = delete;
};

command::Session new_session(Loop& loop, const AcceptedSocket& socket) {
  command::Session session;
  session.id = loop.clients.next_id();
  session.address = socket.address;
  session.local_address = socket.local_address;
  session.unix_socket = socket.unix_socket;
  session.connected_at_ms = loop.unix_ms;
  session.authenticated = loop.services.open_to_all();
  session.queue_limit_bytes = loop.config->query_buffer_limit_bytes;
  return session;
}

}  // namespace

Connection::Connection(Loop& loop, AcceptedSocket socket)
    : EventTarget{Kind::kConnection},
      loop_(loop),
      fd_(std::move(socket.fd)),
      active_ms_(loop.steady_ms),
      session_(new_session(loop, socket)),
      record_(session_, fd_.get(), loop.worker) {
  loop_.clients.add(record_);
}

Connection::~Connection() { close(); }

void Connection::on_events(std::uint32_t events) {
  if (state_ == State::kClosed) return;
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) peer_closed_ = true;
  if ((events & (EPOLLHUP | EPOLLERR)) != 0 && pending_bytes() != 0) {
    return close();  // reset, or closed on both sides: nobody reads the replies
  }
  if ((events & EPOLLOUT) != 0 && wants_writable_) {
    send_pending();
    if (state_ == State::kClosed) return;
    if (!paused()) run_again();
  }
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) read();
}

void Connection::run_again() {
  if (queued || state_ == State::kClosed) return;
  queued = true;
  loop_.again.push_back(this);
}

void Connection::resume() {
  queued = false;
  if (state_ == State::kOpen && blocked_ && !paused()) {
    blocked_ = false;
    process(input_.view());
    if (blocked_) return;
  }
  read();
}

void Connection::read() {
  if (state_ == State::kLingering) return discard();
  // What waits in the socket is read when the client has taken its replies: run_again() then.
  if (state_ != State::kOpen || blocked_ || paused()) return;
  const bool copied = input_.size() <= kCopyBytes;
  char* base;
  std::size_t room;
  if (copied) {
    base = loop_.scratch.get();
    if (input_.size() != 0) std::memcpy(base, input_.data(), input_.size());
    room = Loop::kScratchBytes - input_.size();
  } else {
    input_.room(parser_.needed_bytes_hint());
    base = input_.data();
    room = input_.room_bytes();
  }
  const std::size_t had = input_.size();
  const std::size_t bytes = receive(base + had, room);
  if (bytes == 0) return;
  if (!copied) input_.commit(bytes);
  process({base, had + bytes});
  // Edge-triggered: unless the read came back short there may be more, and no new event for it.
  if (bytes == room || peer_closed_) run_again();
}

/// Bytes from the socket; 0 when there are none now or the connection has ended.
std::size_t Connection::receive(char* at, std::size_t room) {
  const ssize_t n = ::recv(fd_.get(), at, room, 0);
  if (n > 0) {
    const auto bytes = static_cast<std::size_t>(n);
    loop_.counters.input_bytes.add(bytes);
    active_ms_ = loop_.steady_ms;
    return bytes;
  }
  if (n == 0) {
    on_end_of_input();
  } else if (errno == EINTR) {
    run_again();
  } else if (errno != EAGAIN) {
    close();
  }
  return 0;
}

std::optional<std::string_view> Connection::read_ahead(std::uint32_t events, char* at) {
  if (events != EPOLLIN || state_ != State::kOpen || blocked_ || peer_closed_ ||
      input_.size() != 0 || paused()) {
    return std::nullopt;
  }
  return std::string_view(at, receive(at, Loop::kAheadBytes));
}

void Connection::run_ahead(std::string_view bytes) {
  if (state_ != State::kOpen) return;
  process(bytes);
  if (bytes.size() == Loop::kAheadBytes) run_again();
}

void Connection::on_end_of_input() {
  // A client may shut down its side and still read its replies.
  peer_closed_ = true;
  pending_.empty() ? close() : finish();
}

void Connection::discard() {
  const ssize_t n = ::recv(fd_.get(), loop_.scratch.get(), Loop::kScratchBytes, 0);
  if (n > 0) {
    if (static_cast<std::size_t>(n) == Loop::kScratchBytes || peer_closed_) run_again();
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    close();
  }
}

void Connection::process(std::string_view bytes) {
  const Config& config = *loop_.config;
  resp::Limits limits;
  limits.max_args = config.max_arguments;
  limits.max_bulk_bytes = config.max_bulk_bytes;
  for (;;) {
    loop_.batch.clear();
    // Before AUTH has run, what comes behind it is held to other limits: one at a time.
    limits.authenticated = session_.authenticated;
    const std::size_t most = session_.authenticated ? kBatchRequests : 1;
    const auto status = parser_.parse(bytes, limits, loop_.batch, most);
    const std::size_t parsed = loop_.batch.size();
    if (parsed != 0 && execute() == Progress::kStopped) {
      if (state_ == State::kOpen) {
        parser_.reset();
        keep(bytes);
      }
      break;
    }
    bytes.remove_prefix(parser_.consumed());
    if (status == resp::ParseStatus::kError) {
      resp::Writer(output(), session_.protocol).error("ERR " + std::string(parser_.error()));
      finish();
      break;
    }
    if (parsed < most) {
      keep(bytes);
      break;
    }
  }
  loop_.batch.clear();
  if (state_ != State::kClosed) send_output();
  account();
}

Connection::Progress Connection::execute() {
  const resp::RequestBatch& batch = loop_.batch;
  std::size_t next = skip_;
  skip_ = 0;
  for (;;) {
    const std::size_t first = next;
    resp::OutputBuffer& out = output();
    const RunningScope running(record_, session_);
    next = loop_.executor.run(session_, batch, first, out, out.size() + kSendBytes, loop_.unix_ms);
    loop_.counters.requests.add(next - first);
    engine::ThreadScope::quiescent();
    record_.publish(session_, loop_.unix_ms);
    if (session_.close_after_reply) {
      finish();
      return Progress::kStopped;
    }
    if (next == batch.size()) return Progress::kDone;
    send_output();
    if (state_ != State::kOpen) return Progress::kStopped;
    if (paused()) {
      blocked_ = true;
      skip_ = next;
      return Progress::kStopped;
    }
  }
}

void Connection::keep(std::string_view rest) {
  input_.keep(rest);
  loop_.counters.largest_input_bytes.raise_to(rest.size());
  if (rest.size() > loop_.config->query_buffer_limit_bytes) {
    loop_.counters.query_limit_disconnections.add(1);
    close();
  }
}

void Connection::drain() {
  for (int i = 0; i < kDrainReads && state_ == State::kOpen && !blocked_ && !paused(); ++i) {
    const std::uint64_t before = loop_.counters.input_bytes.get();
    read();
    if (loop_.counters.input_bytes.get() == before) break;
  }
  if (state_ == State::kOpen && !blocked_) {
    finish();
    send_output();
  }
  if (state_ == State::kLingering) {
    linger_until_ms_ = std::min(linger_until_ms_, loop_.steady_ms + kDrainLingerMs);
  }
}

void Connection::sweep() {
  if (state_ == State::kClosed) return;
  const std::int64_t now = loop_.steady_ms;
  if (state_ == State::kLingering && now >= linger_until_ms_) return close();
  check_output_limit();
  if (state_ == State::kClosed) return;
  const std::int64_t idle_ms = loop_.config->idle_timeout.count();
  if (idle_ms != 0 && now - active_ms_ > idle_ms) return close();
  if (input_.size() == 0 && input_.capacity() != 0) {
    input_.release();
    account();
  }
}

void Connection::close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  unregister();
  loop_.executor.abandon_transaction(session_);
  fd_.reset();
  input_.release();
  pending_.release();
  // The scratch may hold replies of this client that nobody will read.
  loop_.output.clear();
  account();
}

void Connection::unregister() {
  if (!registered_) return;
  registered_ = false;
  loop_.clients.remove(record_);
  loop_.clients.release();
}

void Connection::account() {
  std::size_t held = 0;
  if (state_ != State::kClosed) {
    held = input_.capacity() + pending_.capacity() + parser_.capacity_bytes() +
           session_.queued_bytes;
  }
  if (held == accounted_bytes_) return;
  // Modulo 2^64, so that it goes down as well.
  loop_.counters.buffer_bytes.add(held - accounted_bytes_);
  accounted_bytes_ = held;
  record_.publish_buffers(input_.size(), input_.capacity() - input_.size(), pending_bytes(),
                          sizeof *this + held);
}

}  // namespace nidus::server

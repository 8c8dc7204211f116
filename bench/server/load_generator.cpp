// SPDX-License-Identifier: Apache-2.0

// The load generator's loop. See load_generator.hpp.

#include "load_generator.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace nidus::bench {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

struct Random {
  std::uint64_t state;
  std::uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() >> 16) % n; }
};

/// Writes requests as bytes: "key:" and 12 digits, a constant value.
class RequestWriter {
 public:
  RequestWriter(const LoadOptions& options, std::string& out)
      : options_(options), out_(out), value_(options.value_bytes, 'v') {
    const std::string size = std::to_string(options.value_bytes);
    resp_value_ = "\r\n$" + size + "\r\n" + value_ + "\r\n";
    memcached_value_ = " 0 0 " + size + "\r\n" + value_ + "\r\n";
  }

  void get(std::size_t i) {
    out_ += resp() ? "*2\r\n$3\r\nGET\r\n$16\r\n" : "get ";
    key(i);
    out_ += "\r\n";
  }
  void set(std::size_t i) {
    out_ += resp() ? "*3\r\n$3\r\nSET\r\n$16\r\n" : "set ";
    key(i);
    out_ += resp() ? resp_value_ : memcached_value_;
  }
  void multi_get(Random& random) {
    const int n = options_.keys_per_multi_get;
    if (resp()) out_ += "*" + std::to_string(n + 1) + "\r\n$4\r\nMGET\r\n";
    if (!resp()) out_ += "get";
    for (int i = 0; i < n; ++i) {
      out_ += resp() ? "$16\r\n" : " ";
      key(random.below(options_.keys));
      if (resp()) out_ += "\r\n";
    }
    if (!resp()) out_ += "\r\n";
  }

 private:
  bool resp() const { return options_.protocol == Protocol::kResp; }
  void key(std::size_t i) {
    char text[] = "key:000000000000";
    for (int digit = 15; i != 0; --digit, i /= 10) {
      text[digit] = static_cast<char>('0' + i % 10);
    }
    out_.append(text, 16);
  }

  const LoadOptions& options_;
  std::string& out_;
  std::string value_, resp_value_, memcached_value_;
};

struct Connection {
  explicit Connection(Protocol protocol) : replies(protocol) {}
  ~Connection() {
    if (fd >= 0) ::close(fd);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  int fd = -1;
  ReplyCounter replies;
  Clock::time_point sent;
};

void connect_to(Connection& connection, const LoadOptions& options) {
  connection.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection.fd < 0) fail("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(options.port));
  if (::inet_pton(AF_INET, options.host.c_str(), &address.sin_addr) != 1) fail(options.host);
  if (::connect(connection.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    fail("connect to port " + std::to_string(options.port));
  }
  const int on = 1;
  ::setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("send");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

class Loader {
 public:
  explicit Loader(const LoadOptions& options)
      : options_(options), writer_(options, out_), random_{options.seed * 2654435769u + 1} {
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0) fail("epoll_create1");
    for (int i = 0; i < options.connections; ++i) {
      auto& connection = *connections_.emplace_back(std::make_unique<Connection>(options.protocol));
      connect_to(connection, options);
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.ptr = &connection;
      if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd, &event) != 0) fail("epoll_ctl");
    }
  }
  ~Loader() { ::close(epoll_); }
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  LoadResult run() {
    const auto start = Clock::now();
    end_ = start + std::chrono::duration_cast<Clock::duration>(
                       std::chrono::duration<double>(options_.seconds));
    for (auto& connection : connections_) send_pipeline(*connection);
    std::array<epoll_event, 256> events;
    while (busy_ > 0) {
      const int n = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 10'000);
      if (n == 0) throw std::runtime_error("no reply for 10 s");
      for (int i = 0; i < n; ++i) {
        receive(*static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr));
      }
    }
    result_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    for (const auto& connection : connections_) result_.hits += connection->replies.hits();
    return std::move(result_);
  }

 private:
  void send_pipeline(Connection& connection) {
    out_.clear();
    std::size_t requests = 0;
    for (; requests < static_cast<std::size_t>(options_.pipeline); ++requests) {
      if (!add_request()) break;
    }
    if (requests == 0) return;
    connection.replies.expect(requests);
    result_.requests += requests;
    ++busy_;
    connection.sent = Clock::now();
    send_all(connection.fd, out_);
  }

  bool add_request() {
    switch (options_.mix) {
      case Mix::kLoad:
        if (loaded_ == options_.keys) return false;
        writer_.set(loaded_++);
        return true;
      case Mix::kMultiGet:
        writer_.multi_get(random_);
        return true;
      case Mix::kGet:
        writer_.get(random_.below(options_.keys));
        return true;
      case Mix::kSet:
        writer_.set(random_.below(options_.keys));
        return true;
      case Mix::kGetSet:
        break;
    }
    const std::size_t key = random_.below(options_.keys);
    if (random_.below(static_cast<std::size_t>(options_.gets_per_set) + 1) == 0) {
      writer_.set(key);
    } else {
      writer_.get(key);
    }
    return true;
  }

  void receive(Connection& connection) {
    const ssize_t n = ::recv(connection.fd, buffer_.get(), kBufferBytes, 0);
    if (n < 0 && errno == EINTR) return;
    if (n <= 0) throw std::runtime_error("the server closed a connection");
    connection.replies.feed(buffer_.get(), static_cast<std::size_t>(n));
    if (!connection.replies.done()) return;
    --busy_;
    const auto now = Clock::now();
    result_.latency.add(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now - connection.sent).count()));
    if (options_.mix == Mix::kLoad || now < end_) send_pipeline(connection);
  }

  static constexpr std::size_t kBufferBytes = 256 * 1024;
  const LoadOptions& options_;
  std::string out_;
  RequestWriter writer_;
  Random random_;
  int epoll_ = -1;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::unique_ptr<char[]> buffer_ = std::make_unique<char[]>(kBufferBytes);
  Clock::time_point end_;
  std::size_t loaded_ = 0;
  int busy_ = 0;
  LoadResult result_;
};

}  // namespace

void ReplyCounter::feed(const char* bytes, std::size_t size) {
  const char* const end = bytes + size;
  while (bytes != end) {
    if (skip_ > 0) {
      const std::size_t n = std::min(skip_, static_cast<std::size_t>(end - bytes));
      skip_ -= n;
      bytes += n;
      continue;
    }
    const auto* newline =
        static_cast<const char*>(std::memchr(bytes, '\n', static_cast<std::size_t>(end - bytes)));
    if (newline == nullptr) {
      rest_.append(bytes, end);
      return;
    }
    if (rest_.empty()) {
      line(bytes, static_cast<std::size_t>(newline - bytes));
    } else {
      rest_.append(bytes, newline);
      line(rest_.data(), rest_.size());
      rest_.clear();
    }
    bytes = newline + 1;
  }
}

/// One line without its newline (a carriage return is still there).
void ReplyCounter::line(const char* begin, std::size_t size) {
  if (size == 0 || pending_ == 0) throw std::runtime_error("a reply that nobody awaits");
  if (protocol_ == Protocol::kResp) {
    resp_line(begin, size);
  } else {
    memcached_line(begin, size);
  }
}

void ReplyCounter::resp_line(const char* begin, std::size_t size) {
  long number = 0;
  switch (*begin) {
    case '$':
      std::from_chars(begin + 1, begin + size, number);
      --pending_;
      if (number < 0) return;
      ++hits_;
      skip_ = static_cast<std::size_t>(number) + 2;
      return;
    case '*':
      std::from_chars(begin + 1, begin + size, number);
      pending_ = pending_ - 1 + static_cast<std::size_t>(std::max(number, 0L));
      return;
    case '+':
    case ':':
      --pending_;
      return;
    default:
      throw std::runtime_error("unexpected reply: " + std::string(begin, size));
  }
}

void ReplyCounter::memcached_line(const char* begin, std::size_t size) {
  const std::string_view text(begin, size);
  if (text.starts_with("VALUE ")) {
    long bytes = 0;
    const std::size_t at = text.rfind(' ') + 1;
    std::from_chars(begin + at, begin + size, bytes);
    skip_ = static_cast<std::size_t>(bytes) + 2;
    ++hits_;
  } else if (text.starts_with("END") || text.starts_with("STORED")) {
    --pending_;
  } else {
    throw std::runtime_error("unexpected reply: " + std::string(text));
  }
}

LoadResult run_load(const LoadOptions& options) { return Loader(options).run(); }

}  // namespace nidus::bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

// A server in this process on a free port, and clients on real sockets whose every read is bounded
// in time.

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "server/log.hpp"
#include "server/server.hpp"

namespace nidus::server::test {

using std::chrono::milliseconds;

inline Config test_config() {
  Config config;
  config.bind = {"127.0.0.1"};
  config.port = kAnyPort;
  config.http_port = kNoPort;
  config.threads = 2;
  config.log_level = LogLevel::kError;
  config.drain_timeout = milliseconds(3000);
  return config;
}

class TestServer {
 public:
  explicit TestServer(const Config& config = test_config()) : live(config), server(live, {}) {
    set_log_level(config.log_level);
    const auto started = server.start();
    if (!started) ADD_FAILURE() << started.error().message;
  }
  int port() const { return server.tcp_port(); }

  LiveConfig live;
  Server server;
};

class Client {
 public:
  static constexpr milliseconds kPatience{20'000};

  explicit Client(int port, int receive_buffer_bytes = 0, const std::string& host = "127.0.0.1")
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer_bytes != 0) {
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  explicit Client(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  Client(Client&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { close(); }

  bool connected() const { return connected_; }
  int fd() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  /// Closes so that the server gets a reset.
  void reset() {
    const linger hard{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }

  /// Sends all; false if the connection broke.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  /// Sends what the socket takes within `patience`; the number of bytes, or -1 if it broke.
  ssize_t send_without_reading(std::string_view bytes, milliseconds patience) {
    pollfd wait{fd_, POLLOUT, 0};
    if (::poll(&wait, 1, static_cast<int>(patience.count())) <= 0) return 0;
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  /// Exactly n bytes, or fewer at the end of the connection or of the patience.
  std::string read(std::size_t n, milliseconds patience = kPatience) {
    std::string out;
    read_while(
        out, patience, [&] { return out.size() < n; }, [&] { return n - out.size(); });
    return out;
  }
  /// Everything up to the end of the connection.
  std::string read_to_end(milliseconds patience = kPatience) {
    std::string out;
    ended_ = false;
    read_while(
        out, patience, [] { return true; }, [] { return std::size_t{65536}; });
    return out;
  }
  /// Up to and with the first line end.
  std::string read_line() {
    std::string out;
    read_while(
        out, kPatience, [&] { return !out.ends_with("\r\n"); }, [] { return std::size_t{1}; });
    return out;
  }
  /// The payload of a bulk reply.
  std::string read_bulk() {
    const std::string header = read_line();
    if (header.size() < 4 || (header[0] != '$' && header[0] != '=')) return header;
    const auto size = static_cast<std::size_t>(std::stoul(header.substr(1)));
    std::string body = read(size + 2);
    if (body.size() == size + 2) body.resize(size);
    return body;
  }
  /// Sends and reads as many bytes as `reply` has; they should be equal.
  void expect(std::string_view request, std::string_view reply) {
    EXPECT_TRUE(send(request));
    EXPECT_EQ(read(reply.size()), reply);
  }
  /// After read_to_end(): the server closed, patience did not run out.
  bool ended() const { return ended_; }

 private:
  void read_while(std::string& out, milliseconds patience, const std::function<bool()>& more,
                  const std::function<std::size_t()>& room) {
    const auto until = std::chrono::steady_clock::now() + patience;
    std::string piece;
    while (more()) {
      const auto left =
          std::chrono::duration_cast<milliseconds>(until - std::chrono::steady_clock::now());
      pollfd wait{fd_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) return;
      piece.resize(room());
      const ssize_t n = ::recv(fd_, piece.data(), piece.size(), 0);
      if (n <= 0) {
        ended_ = true;
        return;
      }
      out.append(piece, 0, static_cast<std::size_t>(n));
    }
  }

  int fd_;
  bool connected_ = false;
  bool ended_ = false;
};

/// Waits until the condition holds; false if it does not within `patience`.
inline bool eventually(const std::function<bool()>& condition,
                       milliseconds patience = milliseconds(10'000)) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

inline std::string bulk(std::string_view bytes) {
  return "$" + std::to_string(bytes.size()) + "\r\n" + std::string(bytes) + "\r\n";
}

inline std::string request(std::initializer_list<std::string_view> args) {
  std::string out = "*" + std::to_string(args.size()) + "\r\n";
  for (const std::string_view arg : args) out += bulk(arg);
  return out;
}

}  // namespace nidus::server::test

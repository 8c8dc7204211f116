// SPDX-License-Identifier: Apache-2.0

// The limit of a server on this machine: one epoll loop that reads, finds the ends of requests
// without checking them, answers a constant, and writes; no table, no clock, no commands. What a
// real server needs above it is what it does for its users.
//
//   bare_server PORT [VALUE_BYTES]

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

struct Connection {
  int fd;
  std::string rest;  // the beginning of a request
};

/// Reads the decimal number behind a mark and moves behind its line. Trusts the sender.
bool number(std::string_view& bytes, std::size_t& value) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return false;
  value = 0;
  for (std::size_t i = 1; i + 1 < end; ++i) {
    value = value * 10 + static_cast<std::size_t>(bytes[i] - '0');
  }
  bytes.remove_prefix(end + 1);
  return true;
}

class Server {
 public:
  explicit Server(std::size_t value_bytes)
      : bulk_("$" + std::to_string(value_bytes) + "\r\n" + std::string(value_bytes, 'v') + "\r\n") {
  }

  int serve(int port) {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    const int on = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener, 512) != 0) {
      std::perror("bare_server");
      return 1;
    }
    const int epoll = ::epoll_create1(0);
    watch(epoll, listener, nullptr);
    std::array<epoll_event, 256> events;
    for (;;) {
      const int n = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < n; ++i) {
        auto* connection = static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (connection != nullptr) {
          if (!answer(*connection)) {
            ::close(connection->fd);
            delete connection;
          }
          continue;
        }
        const int fd = ::accept(listener, nullptr, nullptr);
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (fd >= 0) watch(epoll, fd, new Connection{fd, {}});
      }
    }
  }

 private:
  static void watch(int epoll, int fd, Connection* connection) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = connection;
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  }

  bool answer(Connection& connection) {
    const ssize_t n = ::recv(connection.fd, buffer_.data(), buffer_.size(), 0);
    if (n <= 0) return false;
    std::string_view bytes(buffer_.data(), static_cast<std::size_t>(n));
    if (!connection.rest.empty()) {
      connection.rest.append(bytes);
      bytes = connection.rest;
    }
    out_.clear();
    while (request(bytes)) {
    }
    connection.rest = std::string(bytes);
    for (std::string_view left = out_; !left.empty();) {
      const ssize_t sent = ::send(connection.fd, left.data(), left.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      left.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// Answers one whole request and moves behind it; false if more bytes are needed.
  bool request(std::string_view& bytes) {
    std::string_view at = bytes;
    std::size_t args = 0;
    char name = 0;
    if (at.empty() || !number(at, args)) return false;
    for (std::size_t i = 0; i < args; ++i) {
      std::size_t size = 0;
      if (at.empty() || !number(at, size) || at.size() < size + 2) return false;
      if (i == 0) name = at[0];
      at.remove_prefix(size + 2);
    }
    bytes = at;
    if (name == 'S') {
      out_ += "+OK\r\n";
    } else if (name == 'M') {
      out_ += "*" + std::to_string(args - 1) + "\r\n";
      for (std::size_t i = 1; i < args; ++i) out_ += bulk_;
    } else {
      out_ += bulk_;
    }
    return true;
  }

  std::string bulk_, out_;
  std::array<char, 256 * 1024> buffer_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s PORT [VALUE_BYTES]\n", argv[0]);
    return 2;
  }
  static Server server(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 32);
  return server.serve(std::atoi(argv[1]));
}

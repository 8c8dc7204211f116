// SPDX-License-Identifier: Apache-2.0

// Binding and accepting; see listener.hpp.

#include "server/listener.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

namespace nidus::server {

namespace {

std::string reason(int error) { return std::generic_category().message(error); }

void set_option(int fd, int level, int name, int value) {
  // Without effect on sockets that do not know the option; none of them is needed for correctness.
  ::setsockopt(fd, level, name, &value, sizeof value);
}

/// "host:port" of a TCP address; IPv6 in brackets.
std::string describe(const sockaddr* address, socklen_t size) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "?:0";
  }
  const bool v6 = std::strchr(host.data(), ':') != nullptr;
  return (v6 ? "[" : "") + std::string(host.data()) + (v6 ? "]:" : ":") + port.data();
}

bool is_loopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof in);
    return (ntohl(in.sin_addr.s_addr) >> 24) == 127;
  }
  sockaddr_in6 in6{};
  std::memcpy(&in6, &address, sizeof in6);
  return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr) ||
         (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr) && in6.sin6_addr.s6_addr[12] == 127);
}

int port_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  // The port stands at the same place in both families.
  sockaddr_in in{};
  std::memcpy(&in, &address, sizeof in);
  return ntohs(in.sin_port);
}

FileDescriptor bind_one(const addrinfo& info, int backlog, int& error) {
  FileDescriptor fd(::socket(info.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.valid()) {
    set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (info.ai_family == AF_INET6) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (::bind(fd.get(), info.ai_addr, info.ai_addrlen) == 0 && ::listen(fd.get(), backlog) == 0) {
      return fd;
    }
  }
  error = errno;
  return {};
}

bool somebody_listens(const sockaddr_un& address) {
  const FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

Expected<void> ListenerSet::open(const Config& config) {
  if (config.port != kNoPort) {
    tcp_port_ = config.port == kAnyPort ? 0 : config.port;
    for (const std::string& address : config.bind) {
      if (auto opened = open_tcp(config, address); !opened) {
        close();
        return opened;
      }
    }
  }
  if (!config.unix_socket.empty()) {
    if (auto opened = open_unix(config); !opened) {
      close();
      return opened;
    }
  }
  if (listeners_.empty()) {
    return fail("nothing to listen on: set port and bind, or unix-socket");
  }
  return {};
}

Expected<void> ListenerSet::open_tcp(const Config& config, const std::string& address) {
  const bool optional = address.starts_with('-');
  std::string host = optional ? address.substr(1) : address;
  if (host == "*") host = "0.0.0.0";
  if (host == "::*") host = "::";
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(tcp_port_);
  if (const int rc = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); rc != 0) {
    if (optional) return {};
    return fail("bind " + host + ": " + ::gai_strerror(rc) + "; check the setting bind");
  }
  int error = 0;
  FileDescriptor fd = bind_one(*found, config.tcp_backlog, error);
  ::freeaddrinfo(found);
  if (!fd.valid()) {
    const bool missing = error == EADDRNOTAVAIL || error == EAFNOSUPPORT;
    // A port that the system chose for the first address may be taken for an optional second one.
    const bool unlucky = error == EADDRINUSE && config.port == kAnyPort;
    if (optional && (missing || unlucky)) return {};
    return fail("cannot listen on " + host + " port " + port + ": " + reason(error) +
                (error == EADDRINUSE ? "; is another server running? choose another --port" : ""));
  }
  tcp_port_ = port_of(fd.get());
  listeners_.push_back(std::make_unique<Listener>(std::move(fd), false));
  return {};
}

Expected<void> ListenerSet::open_unix(const Config& config) {
  const std::string& path = config.unix_socket;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return fail("unix-socket " + path + ": the path is longer than " +
                std::to_string(sizeof address.sun_path - 1) + " bytes");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) return fail("unix-socket " + path + ": a file is in the way");
    if (somebody_listens(address)) {
      return fail("unix-socket " + path + ": another server listens on it");
    }
    ::unlink(path.c_str());
  }
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // The permissions hold from the first moment on: the mask, not a later chmod, sets them.
  const mode_t mask = ::umask(~config.unix_socket_permissions & 0777);
  const bool bound = fd.valid() && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address),
                                          sizeof address) == 0;
  const int error = errno;
  ::umask(mask);
  if (!bound) return fail("unix-socket " + path + ": " + reason(error));
  unix_path_ = path;
  ::chmod(path.c_str(), config.unix_socket_permissions);
  if (::listen(fd.get(), config.tcp_backlog) != 0) {
    return fail("unix-socket " + path + ": " + reason(errno));
  }
  listeners_.push_back(std::make_unique<Listener>(std::move(fd), true));
  return {};
}

void ListenerSet::close() {
  listeners_.clear();
  if (!unix_path_.empty()) ::unlink(unix_path_.c_str());
  unix_path_.clear();
}

FileDescriptor open_reserve() { return FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

namespace {

/// Out of descriptors: takes a waiting connection with the reserved one and closes it.
AcceptResult refuse_one(int listening, FileDescriptor& reserve) {
  reserve.reset();
  FileDescriptor refused(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
  const int error = errno;
  const bool any = refused.valid();
  refused.reset();
  reserve = open_reserve();
  if (any) return AcceptResult::kRefused;
  return error == EAGAIN ? AcceptResult::kNothing : AcceptResult::kExhausted;
}

void set_up_tcp(int socket, const Config& config) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  const auto idle_s = static_cast<int>(config.tcp_keepalive.count() / 1000);
  if (idle_s <= 0) return;
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, idle_s);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, idle_s / 3));
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace

AcceptResult accept_from(const Listener& listener, const Config& config, FileDescriptor& reserve,
                         AcceptedSocket& out) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  auto* address = reinterpret_cast<sockaddr*>(&peer);
  FileDescriptor fd(::accept4(listener.fd.get(), address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd.valid()) {
    if (errno == EMFILE || errno == ENFILE) return refuse_one(listener.fd.get(), reserve);
    if (errno == ENOBUFS || errno == ENOMEM) return AcceptResult::kExhausted;
    // Otherwise a connection that was reset before it was taken: look at the next one.
    return errno == EAGAIN ? AcceptResult::kNothing : AcceptResult::kRefused;
  }
  const int socket = fd.get();
  out.fd = std::move(fd);
  out.unix_socket = listener.unix_socket;
  if (listener.unix_socket) {
    out.address = out.local_address = config.unix_socket + ":0";
    return AcceptResult::kAccepted;
  }
  set_up_tcp(socket, config);
  out.address = describe(address, size);
  out.loopback = is_loopback(peer);
  sockaddr_storage local{};
  socklen_t local_size = sizeof local;
  auto* local_address = reinterpret_cast<sockaddr*>(&local);
  if (::getsockname(socket, local_address, &local_size) == 0) {
    out.local_address = describe(local_address, local_size);
  }
  return AcceptResult::kAccepted;
}

}  // namespace nidus::server

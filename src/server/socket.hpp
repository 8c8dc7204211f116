// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file descriptor with an owner, and a connection that was accepted and has no thread yet.

#include <unistd.h>

#include <string>
#include <utility>

namespace nidus::server {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

/// It holds a place among the clients (ClientRegistry::reserve).
struct AcceptedSocket {
  FileDescriptor fd;
  std::string address, local_address;  // "127.0.0.1:4711", "[::1]:4711", "/path:0"
  bool unix_socket = false;
  bool loopback = true;
};

}  // namespace nidus::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The installed redis-server as the other side of a differential test: it listens on a Unix socket
// of its own, keeps nothing on disk, and ends with the test program. Where none is installed,
// running() is false and the test skips itself.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace nidus::testing {

/// A redis-server process of this test program; it ends with it.
class RedisServer {
 public:
  RedisServer() {
    char folder[] = "/tmp/nidus_redis_XXXXXX";
    if (mkdtemp(folder) == nullptr) return;
    folder_ = folder;
    socket_ = folder_ + "/redis.sock";
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // also when the test crashes
      execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket_.c_str(),
             "--save", "", "--appendonly", "no", "--dir", folder_.c_str(), "--logfile", "redis.log",
             nullptr);
      _exit(127);
    }
    for (int i = 0; i < 100 && !running_; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (waitpid(process_, nullptr, WNOHANG) != 0) {  // not installed
        process_ = -1;
        return;
      }
      running_ = exchange("PING\r\n") == "+PONG\r\n";
    }
  }
  ~RedisServer() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    if (!folder_.empty()) {
      unlink(socket_.c_str());
      unlink((folder_ + "/redis.log").c_str());
      rmdir(folder_.c_str());
    }
  }

  bool running() const { return running_; }
  /// Where it listens, for tests that keep a connection.
  const std::string& socket_path() const { return socket_; }

  /// All replies to a connection that sends `bytes` and then no more.
  std::string exchange(const std::string& bytes) const {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_.copy(address.sun_path, sizeof address.sun_path - 1);
    std::string replies;
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      std::size_t sent = 0;
      while (sent < bytes.size()) {
        const ssize_t n = send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) break;
        sent += static_cast<std::size_t>(n);
      }
      shutdown(fd, SHUT_WR);
      char buffer[16 * 1024];
      ssize_t n = 0;
      while ((n = read(fd, buffer, sizeof buffer)) > 0) {
        replies.append(buffer, static_cast<std::size_t>(n));
      }
    }
    close(fd);
    return replies;
  }

 private:
  std::string folder_;
  std::string socket_;
  pid_t process_ = -1;
  bool running_ = false;
};

}  // namespace nidus::testing

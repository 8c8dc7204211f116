// SPDX-License-Identifier: Apache-2.0

// How the server stops: what is complete is answered, everything ends in bounded time.

#include <signal.h>
#include <sys/wait.h>

#include <cstdlib>
#include <vector>

#include "harness.hpp"

namespace nidus::server::test {
namespace {

using Clock = std::chrono::steady_clock;

// Generous: tests also run on busy machines and under sanitizers.
constexpr milliseconds kBounded{10'000};

TEST(ServerDrain, IdleClientsAreClosedAndNewOnesRefused) {
  TestServer node;
  std::vector<Client> clients;
  for (int i = 0; i < 10; ++i) {
    clients.emplace_back(node.port());
    clients.back().expect("PING\r\n", "+PONG\r\n");
  }
  EXPECT_TRUE(node.server.ready());
  const int port = node.port();
  const auto begin = Clock::now();
  std::thread stopper([&] { node.server.stop(); });
  for (Client& client : clients) {
    EXPECT_EQ(client.read_to_end(), "");
    EXPECT_TRUE(client.ended());
    client.close();
  }
  stopper.join();
  EXPECT_LT(Clock::now() - begin, kBounded);
  EXPECT_FALSE(node.server.ready());
  EXPECT_FALSE(Client(port).connected());
}

TEST(ServerDrain, RequestsThatHaveArrivedAreAnsweredInFull) {
  TestServer node;
  Client client(node.port());
  const std::string value(1 << 20, 'v');
  client.expect(request({"SET", "k", value}), "+OK\r\n");
  std::string many;
  for (int i = 0; i < 30; ++i) many += request({"GET", "k"});
  ASSERT_TRUE(client.send(many));
  std::thread stopper([&] { node.server.stop(); });
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(client.read_to_end().size(), 30 * bulk(value).size());
  EXPECT_TRUE(client.ended());
  client.close();
  stopper.join();
}

TEST(ServerDrain, AClientThatNeverReadsDelaysItOnlyToTheTimeout) {
  Config config = test_config();
  config.drain_timeout = milliseconds(500);
  TestServer node(config);
  Client slow(node.port(), 4096);
  slow.expect(request({"SET", "k", std::string(1 << 20, 'v')}), "+OK\r\n");
  std::string many;
  for (int i = 0; i < 50; ++i) many += request({"GET", "k"});
  ASSERT_TRUE(slow.send(many));
  const auto begin = Clock::now();
  node.server.stop();
  EXPECT_GE(Clock::now() - begin, milliseconds(400));
  EXPECT_LT(Clock::now() - begin, kBounded);
}

TEST(ServerDrain, TheShutdownCommandEndsRun) {
  TestServer node;
  Client client(node.port());
  const auto begin = Clock::now();
  std::thread runner([&] { EXPECT_EQ(node.server.run(), 0); });
  ASSERT_TRUE(client.send(request({"SHUTDOWN"})));
  client.read_to_end();
  EXPECT_TRUE(client.ended());
  runner.join();  // though the client does not close
  EXPECT_LT(Clock::now() - begin, kBounded);
}

/// Runs a server in a child process; its port comes through a pipe.
class Child {
 public:
  explicit Child(milliseconds drain_timeout = 2 * kBounded, int threads = 2) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      Config config = test_config();
      config.drain_timeout = drain_timeout;  // by default so that only a second signal is quick
      config.threads = threads;
      config.debug_command = DebugCommand::kLocal;
      TestServer node(config);
      const int port = node.port();
      if (::write(ends[1], &port, sizeof port) != sizeof port) std::_Exit(9);
      std::_Exit(node.server.run());
    }
    if (::read(ends[0], &port_, sizeof port_) != sizeof port_) port_ = 0;
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int port() const { return port_; }
  void signal(int number) { ::kill(pid_, number); }
  /// Its wait status, or -1 if it does not end in time.
  int wait() {
    int status = -1;
    if (!eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; })) return -1;
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
  int port_ = 0;
};

TEST(ServerDrain, SigtermDrainsAndExitsWithZero) {
  Child child;
  Client client(child.port());
  client.expect("PING\r\n", "+PONG\r\n");
  std::this_thread::sleep_for(milliseconds(100));  // run() has its handlers by then
  child.signal(SIGTERM);
  EXPECT_EQ(client.read_to_end(), "");
  client.close();
  const int status = child.wait();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ServerDrain, ALongPipelineAndASilentReaderTogetherDelayItOnlyToTheTimeout) {
  constexpr milliseconds kTimeout{3000};
  Child child(kTimeout, 1);  // one thread: it reads of the drain only when its batch ends
  Client silent(child.port(), 4096);
  silent.expect(request({"SET", "k", std::string(1 << 20, 'v')}), "+OK\r\n");
  std::string many;
  for (int i = 0; i < 50; ++i) many += request({"GET", "k"});
  ASSERT_TRUE(silent.send(many));
  Client busy(child.port());
  std::string slow;
  for (int i = 0; i < 2000; ++i) slow += request({"DEBUG", "SLEEP", "0.02"});
  ASSERT_TRUE(busy.send(slow));
  std::this_thread::sleep_for(milliseconds(300));
  const auto begin = Clock::now();
  child.signal(SIGTERM);
  const int status = child.wait();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_LT(Clock::now() - begin, kTimeout + milliseconds(2000));
}

TEST(ServerDrain, ASecondSignalExitsAtOnce) {
  Child child;
  Client slow(child.port(), 4096);
  slow.expect(request({"SET", "k", std::string(1 << 20, 'v')}), "+OK\r\n");
  std::string many;
  for (int i = 0; i < 50; ++i) many += request({"GET", "k"});
  ASSERT_TRUE(slow.send(many));
  std::this_thread::sleep_for(milliseconds(200));
  child.signal(SIGTERM);
  std::this_thread::sleep_for(milliseconds(200));
  const auto begin = Clock::now();
  child.signal(SIGTERM);
  const int status = child.wait();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
  EXPECT_LT(Clock::now() - begin, kBounded);
}

}  // namespace
}  // namespace nidus::server::test

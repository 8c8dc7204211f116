// SPDX-License-Identifier: Apache-2.0

// Bad clients and scarce resources: the server stays up, serves the others, gives everything back.

#include <sys/resource.h>

#include <ctime>
#include <filesystem>
#include <iterator>
#include <vector>

#include "harness.hpp"

namespace nidus::server::test {
namespace {

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator folder("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(folder), end(folder)));
}

bool all_gone(TestServer& node) {
  return eventually([&] { return node.server.services().server_info().connected_clients == 0; });
}

TEST(ServerFaults, AClientThatNeverReadsIsCutOffAtTheHardLimitAndCostsTheOthersNothing) {
  Config config = test_config();
  config.output_limit = {std::size_t{4} << 20, 0, milliseconds(0)};
  TestServer node(config);
  Client other(node.port());
  other.expect(request({"SET", "k", std::string(100'000, 'v')}), "+OK\r\n");
  Client slow(node.port(), 4096);
  std::string many;
  for (int i = 0; i < 500; ++i) many += request({"GET", "k"});
  for (int i = 0; i < 1000; ++i) {
    if (slow.send_without_reading(many, milliseconds(50)) < 0) break;
    if (node.server.services().server_info().output_buffer_limit_disconnections != 0) break;
    other.expect("PING\r\n", "+PONG\r\n");
  }
  EXPECT_TRUE(eventually([&] {
    return node.server.services().server_info().output_buffer_limit_disconnections == 1;
  }));
  slow.read_to_end();
  EXPECT_TRUE(slow.ended());
  other.expect("PING\r\n", "+PONG\r\n");
  EXPECT_LT(node.server.services().server_info().client_memory_bytes, std::size_t{1} << 20);
}

TEST(ServerFaults, AboveTheSoftLimitReadingPausesAndTheClientIsCutOffAfterTheTime) {
  Config config = test_config();
  config.output_limit = {0, std::size_t{1} << 20, milliseconds(1000)};
  TestServer node(config);
  Client slow(node.port(), 4096);
  slow.expect(request({"SET", "k", std::string(100'000, 'v')}), "+OK\r\n");
  std::string many;
  for (int i = 0; i < 2000; ++i) many += request({"GET", "k"});
  ASSERT_TRUE(slow.send(many));  // 200 MB of replies
  const auto waiting = [&] { return node.server.services().server_info().client_memory_bytes; };
  EXPECT_TRUE(eventually([&] { return waiting() > 0; }));
  EXPECT_LT(waiting(), std::size_t{8} << 20) << "requests wait, not replies";
  EXPECT_TRUE(eventually([&] {
    return node.server.services().server_info().output_buffer_limit_disconnections == 1;
  }));
  EXPECT_TRUE(all_gone(node));
}

TEST(ServerFaults, ASlowReaderGetsEveryReplyInOrderThoughReadingPausedManyTimes) {
  Config config = test_config();
  config.output_limit = {0, std::size_t{256} << 10, milliseconds(60'000)};
  TestServer node(config);
  Client client(node.port(), 4096);
  const std::string value(20'000, 'v');
  client.expect(request({"SET", "k", value}), "+OK\r\n");
  std::string requests, replies;
  for (int i = 0; i < 1500; ++i) {
    const std::string mark = std::to_string(i);
    requests += request({"ECHO", mark}) + request({"GET", "k"});
    replies += bulk(mark) + bulk(value);
  }
  std::thread sender([&] { EXPECT_TRUE(client.send(requests)); });
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_TRUE(client.read(replies.size()) == replies);
  sender.join();
  client.expect("PING\r\n", "+PONG\r\n");
}

TEST(ServerFaults, AQueryBufferAboveItsLimitEndsTheClient) {
  Config config = test_config();
  config.query_buffer_limit_bytes = std::size_t{1} << 20;
  TestServer node(config);
  Client client(node.port());
  client.send("*2\r\n$3\r\nGET\r\n$400000000\r\n" + std::string(std::size_t{3} << 20, 'x'));
  client.read_to_end();
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(node.server.services().server_info().query_buffer_limit_disconnections, 1u);
}

TEST(ServerFaults, HalfSentRequestsAndResetsInMidReplyLeaveNothingBehind) {
  TestServer node;
  Client other(node.port());
  other.expect(request({"SET", "k", std::string(1 << 20, 'v')}), "+OK\r\n");
  for (int i = 0; i < 200; ++i) {
    Client half(node.port());
    half.send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\nabc");
    Client reader(node.port(), 4096);
    std::string many;
    for (int j = 0; j < 20; ++j) many += request({"GET", "k"});
    reader.send(many);
    reader.read(1000);
    i % 2 == 0 ? reader.reset() : reader.close();
    i % 3 == 0 ? half.reset() : half.close();
  }
  other.expect("PING\r\n", "+PONG\r\n");
  EXPECT_TRUE(eventually([&] {
    const auto info = node.server.services().server_info();
    return info.connected_clients == 1 && info.client_memory_bytes < (std::size_t{256} << 10);
  }));
}

TEST(ServerFaults, WavesOfFiveThousandConnectionsComeAndGo) {
  constexpr std::size_t kConnections = 5000;
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < 2 * kConnections + 200) GTEST_SKIP() << "ulimit -Hn is too low";
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  TestServer node;
  for (int wave = 0; wave < 3; ++wave) {
    std::vector<Client> clients;
    clients.reserve(kConnections);
    for (std::size_t i = 0; i < kConnections; ++i) {
      clients.emplace_back(node.port());
      ASSERT_TRUE(clients.back().connected());
      ASSERT_TRUE(clients.back().send("PING\r\n"));
    }
    for (Client& client : clients) ASSERT_EQ(client.read(7), "+PONG\r\n");
    const auto info = node.server.services().server_info();
    EXPECT_EQ(info.connected_clients, kConnections);
    EXPECT_LT(info.client_memory_bytes, kConnections * 256) << "idle clients hold no buffers";
    clients.clear();
    ASSERT_TRUE(all_gone(node));
  }
}

TEST(ServerFaults, WithoutDescriptorsNewClientsAreRefusedWithoutSpinningAndOldOnesServed) {
  // One thread: the descriptor that one thread sets free to refuse a client could else serve another
  // thread to take one in, who then waits for nothing.
  Config config = test_config();
  config.threads = 1;
  TestServer node(config);
  Client old(node.port());
  old.expect("PING\r\n", "+PONG\r\n");
  std::vector<int> hoard;  // this process is server and client: the clients' sockets come first
  std::vector<int> sockets;
  for (int i = 0; i < 20; ++i) sockets.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = open_descriptors() + 8;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  for (int fd = ::open("/dev/null", O_RDONLY); fd >= 0; fd = ::open("/dev/null", O_RDONLY)) {
    hoard.push_back(fd);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(node.port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (const int fd : sockets) {
    ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  for (const int fd : sockets) {
    pollfd wait{fd, POLLIN, 0};
    EXPECT_EQ(::poll(&wait, 1, 10'000), 1) << "refused at once, not left waiting";
  }
  old.expect("PING\r\n", "+PONG\r\n");
  const std::clock_t before_waiting = std::clock();
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_LT(std::clock() - before_waiting, CLOCKS_PER_SEC / 5) << "no thread spins";
  for (const int fd : hoard) ::close(fd);
  for (const int fd : sockets) ::close(fd);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(eventually([&] {
    Client next(node.port());
    return next.send("PING\r\n") && next.read(7, milliseconds(500)) == "+PONG\r\n";
  }));
}

TEST(ServerFaults, EveryDescriptorIsGivenBack) {
  const std::size_t before = open_descriptors();
  {
    TestServer node;
    std::vector<Client> clients;
    for (int i = 0; i < 50; ++i) clients.emplace_back(node.port());
    for (Client& client : clients) client.expect("PING\r\n", "+PONG\r\n");
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace nidus::server::test

// SPDX-License-Identifier: Apache-2.0

// Who is connected, seen and ended from other threads; where clients may connect from; how many.

#include <gmock/gmock.h>
#include <ifaddrs.h>
#include <sys/stat.h>

#include <set>
#include <vector>

#include "harness.hpp"
#include "server/listener.hpp"
#include "server/services.hpp"

namespace nidus::server::test {
namespace {

using testing::HasSubstr;

std::string id_of(Client& client) {
  client.send(request({"CLIENT", "ID"}));
  const std::string line = client.read_line();
  return line.substr(1, line.size() - 3);
}

TEST(ServerClients, ClientsAreSpreadEvenlyOverTheThreads) {
  TestServer node;
  std::vector<Client> clients;
  for (int i = 0; i < 20; ++i) {
    clients.emplace_back(node.port());
    clients.back().expect("PING\r\n", "+PONG\r\n");
  }
  EXPECT_EQ(node.server.services().server_info().connected_clients, 20u);
  EXPECT_EQ(node.server.services().clients().size(), 20u);
  for (const std::size_t clients_of_one : node.server.clients_by_thread()) {
    EXPECT_GE(clients_of_one, 9u);
    EXPECT_LE(clients_of_one, 11u);
  }
}

TEST(ServerClients, ListShowsEveryThreadsClientsWithTheirNames) {
  TestServer node;
  Client first(node.port()), second(node.port());
  first.expect(request({"CLIENT", "SETNAME", "alpha"}), "+OK\r\n");
  second.expect(request({"CLIENT", "SETNAME", "beta"}), "+OK\r\n");
  second.expect(request({"SELECT", "3"}), "+OK\r\n");
  ASSERT_TRUE(first.send(request({"CLIENT", "LIST"})));
  const std::string list = first.read_bulk();
  EXPECT_THAT(list, HasSubstr("name=alpha"));
  EXPECT_THAT(list, HasSubstr("name=beta"));
  EXPECT_THAT(list, HasSubstr("db=3"));
  EXPECT_THAT(list, HasSubstr("cmd=client|list"));
  EXPECT_THAT(list, HasSubstr("cmd=select"));
}

TEST(ServerClients, KillEndsAClientOfAnotherThread) {
  TestServer node;
  std::vector<Client> clients;
  for (int i = 0; i < 8; ++i) clients.emplace_back(node.port());
  std::set<std::string> ids;
  for (Client& client : clients) ids.insert(id_of(client));
  ASSERT_EQ(ids.size(), clients.size());
  Client killer(node.port());
  for (const std::string& id : ids) {
    killer.expect(request({"CLIENT", "KILL", "ID", id}), ":1\r\n");
    killer.expect(request({"CLIENT", "KILL", "ID", id}), ":0\r\n");
  }
  for (Client& client : clients) {
    EXPECT_EQ(client.read_to_end(), "");
    EXPECT_TRUE(client.ended());
  }
  killer.expect("PING\r\n", "+PONG\r\n");
}

TEST(ServerClients, AClientThatKillsItselfGetsTheReplyFirst) {
  TestServer node;
  Client client(node.port());
  const std::string id = id_of(client);
  ASSERT_TRUE(client.send(request({"CLIENT", "KILL", "ID", id, "SKIPME", "no"})));
  EXPECT_EQ(client.read_to_end(), ":1\r\n");
  EXPECT_TRUE(client.ended());
}

TEST(ServerClients, AboveMaxClientsNewOnesAreToldAndTheOthersServed) {
  Config config = test_config();
  config.max_clients = 3;
  TestServer node(config);
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(node.port());
    clients.back().expect("PING\r\n", "+PONG\r\n");
  }
  Client fourth(node.port());
  EXPECT_EQ(fourth.read_to_end(), "-ERR max number of clients reached\r\n");
  clients[0].expect("PING\r\n", "+PONG\r\n");
  clients.pop_back();
  EXPECT_TRUE(eventually([&] {
    Client next(node.port());
    return next.send("PING\r\n") && next.read(7) == "+PONG\r\n";
  })) << "a place that was left is taken again";
  EXPECT_GE(node.server.services().server_info().connections_rejected, 1u);
}

TEST(ServerClients, AnIdleClientIsClosedAndAnActiveOneIsNot) {
  Config config = test_config();
  config.idle_timeout = milliseconds(1200);
  TestServer node(config);
  Client idle(node.port()), active(node.port());
  for (int i = 0; i < 15; ++i) {
    active.expect("PING\r\n", "+PONG\r\n");
    std::this_thread::sleep_for(milliseconds(200));
  }
  EXPECT_EQ(idle.read_to_end(milliseconds(10)), "");
  EXPECT_TRUE(idle.ended());
  active.expect("PING\r\n", "+PONG\r\n");
}

TEST(ServerClients, TheUnixSocketHasItsPermissionsAndServes) {
  Config config = test_config();
  config.unix_socket = testing::TempDir() + "nidus_" + std::to_string(::getpid()) + ".sock";
  config.unix_socket_permissions = 0600;
  {
    TestServer node(config);
    struct stat status {};
    ASSERT_EQ(::stat(config.unix_socket.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    Client client(config.unix_socket);
    client.expect(request({"SET", "k", "v"}), "+OK\r\n");
    client.expect(request({"GET", "k"}), "$1\r\nv\r\n");
    LiveConfig live(config);
    Server second(live, {});
    const auto started = second.start();
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, HasSubstr("another server listens on it"));
    client.expect(request({"GET", "k"}), "$1\r\nv\r\n");
  }
  struct stat status {};
  EXPECT_NE(::stat(config.unix_socket.c_str(), &status), 0) << "the file is removed";
}

TEST(ServerClients, ATakenPortIsAnErrorThatSaysWhatToDo) {
  TestServer node;
  Config config = test_config();
  config.port = node.port();
  LiveConfig live(config);
  Server second(live, {});
  const auto started = second.start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("port " + std::to_string(node.port())));
  EXPECT_THAT(started.error().message, HasSubstr("--port"));
}

TEST(ServerClients, OptionalAddressesMayBeMissing) {
  Config config = test_config();
  config.bind = {"127.0.0.1", "-::1", "-192.0.2.1"};
  TestServer node(config);
  Client client(node.port());
  client.expect("PING\r\n", "+PONG\r\n");
  config.bind = {"192.0.2.1"};
  LiveConfig live(config);
  EXPECT_FALSE(Server(live, {}).start());
}

/// The first IPv4 address of this machine that is not loopback, or empty.
std::string outer_address() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return "";
  std::string found;
  for (const ifaddrs* one = all; one != nullptr && found.empty(); one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in address{};
    std::memcpy(&address, one->ifa_addr, sizeof address);
    if ((ntohl(address.sin_addr.s_addr) >> 24) == 127) continue;
    char text[INET_ADDRSTRLEN] = {};
    ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
    found = text;
  }
  ::freeifaddrs(all);
  return found;
}

TEST(ServerClients, InProtectedModeClientsFromOutsideAreDeniedUntilThereIsAPassword) {
  const std::string outside = outer_address();
  if (outside.empty()) GTEST_SKIP() << "this machine has only its loopback address";
  Config config = test_config();
  config.bind = {"0.0.0.0"};
  TestServer node(config);
  Client inside(node.port());
  inside.expect("PING\r\n", "+PONG\r\n");
  Client denied(node.port(), 0, outside);
  EXPECT_THAT(denied.read_to_end(), testing::StartsWith("-DENIED "));
  EXPECT_TRUE(denied.ended());
  inside.expect(request({"CONFIG", "SET", "requirepass", "secret"}), "+OK\r\n");
  Client asked(node.port(), 0, outside);
  asked.expect("PING\r\n", "-NOAUTH Authentication required.\r\n");
  asked.expect(request({"AUTH", "secret"}), "+OK\r\n");
}

TEST(ServerClients, KeysExpireInTheBackgroundThoughNoClientIsConnected) {
  TestServer node;
  {
    Client client(node.port());
    std::string many;
    for (int i = 0; i < 1000; ++i) {
      many += request({"SET", "k" + std::to_string(i), "v", "PX", "100"});
    }
    ASSERT_TRUE(client.send(many));
    client.read(5 * 1000);
    EXPECT_EQ(node.server.keyspace().database(0).size(), 1000u);
  }
  EXPECT_TRUE(eventually([&] { return node.server.keyspace().database(0).size() == 0; }));
}

TEST(ServerClients, PasswordsAreComparedInFull) {
  EXPECT_TRUE(equal_in_constant_time("secret", "secret"));
  EXPECT_FALSE(equal_in_constant_time("secret", "secreT"));
  EXPECT_FALSE(equal_in_constant_time("secret", "secre"));
  EXPECT_FALSE(equal_in_constant_time("secret", "secrets"));
  EXPECT_FALSE(equal_in_constant_time("secret", ""));
  EXPECT_FALSE(equal_in_constant_time("", "x"));
  EXPECT_TRUE(equal_in_constant_time("", ""));
}

TEST(ServerClients, ResetStatsStartsTheCountersAgain) {
  TestServer node;
  Client client(node.port());
  for (int i = 0; i < 10; ++i) client.expect("PING\r\n", "+PONG\r\n");
  auto& services = node.server.services();
  EXPECT_GE(services.server_info().commands_processed, 10u);
  EXPECT_GE(services.server_info().net_input_bytes, 60u);
  services.reset_stats();
  EXPECT_EQ(services.server_info().commands_processed, 0u);
  EXPECT_EQ(services.server_info().connections_received, 0u);
  EXPECT_EQ(services.server_info().connected_clients, 1u);
}

}  // namespace
}  // namespace nidus::server::test

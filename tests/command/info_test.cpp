// SPDX-License-Identifier: Apache-2.0

// INFO: which sections an argument gives, and the fields that clients and monitoring read.

#include "command/info.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command/info_lines.hpp"
#include "server_harness.hpp"

namespace nidus::command {
namespace {

using namespace server_testing;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The text of an INFO reply, without the bulk's frame.
std::string text_of(const std::string& reply) {
  const std::size_t begin = reply.find("\r\n") + 2;
  return reply.substr(begin, reply.size() - begin - 2);
}

std::string field(const std::string& text, std::string_view name) {
  const std::string mark = "\n" + std::string(name) + ":";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return "(absent)";
  const std::size_t begin = at + mark.size();
  return text.substr(begin, text.find("\r\n", begin) - begin);
}

TEST(Info, WithoutArgumentsGivesTheDefaultSectionsInRedisOrder) {
  Server server;
  const std::string text = text_of(server({"info"}));
  std::size_t last = 0;
  for (const char* title :
       {"# Server\r\nredis_version:", "\r\n\r\n# Clients\r\n", "# Memory\r\n", "# Persistence\r\n",
        "# Stats\r\n", "# Replication\r\n", "# CPU\r\n", "# Cluster\r\n", "# Keyspace\r\n"}) {
    const std::size_t at = text.find(title);
    ASSERT_NE(at, std::string::npos) << title;
    EXPECT_GE(at, last) << title;
    last = at;
  }
  EXPECT_EQ(text_of(server({"info", "default"})).size(), text.size());
  EXPECT_EQ(text_of(server({"info", "everything"})).size(), text.size());
}

TEST(Info, SeveralArgumentsGiveEachSectionOnceAndUnknownOnesNothing) {
  Server server;
  EXPECT_EQ(server({"info", "keyspace", "CLUSTER", "nosuch", "cluster"}),
            bulk("# Cluster\r\ncluster_enabled:0\r\n\r\n# Keyspace\r\n"));
  EXPECT_EQ(server({"info", "nosuch"}), bulk(""));
  server.session.protocol = 3;
  EXPECT_EQ(server({"info", "nosuch"}), "=4\r\ntxt:\r\n");
}

TEST(Info, HoldsWhatClientsNeedToConnect) {
  Server server;
  const std::string text = text_of(server({"info"}));
  EXPECT_EQ(field(text, "redis_version"), kRedisVersion);
  EXPECT_EQ(field(text, "redis_mode"), "standalone");
  EXPECT_EQ(field(text, "loading"), "0");
  EXPECT_EQ(field(text, "role"), "master");
  EXPECT_EQ(field(text, "cluster_enabled"), "0");
}

TEST(Info, ReportsTheServersFigures) {
  Server server;
  server.services.figures.connected_clients = 7;
  server.services.figures.uptime_s = 90'000;
  server.services.figures.input_kbps = 1.256;
  server.services.figures.cpu_user_s = 0.5;
  const std::string text = text_of(server({"info"}));
  EXPECT_EQ(field(text, "connected_clients"), "7");
  EXPECT_EQ(field(text, "uptime_in_seconds"), "90000");
  EXPECT_EQ(field(text, "uptime_in_days"), "1");
  EXPECT_EQ(field(text, "instantaneous_input_kbps"), "1.26");
  EXPECT_EQ(field(text, "used_cpu_user"), "0.500000");
}

TEST(Info, MemoryIsTheSumOfItsParts) {
  Server server;
  server.services.figures.client_memory_bytes = 12'345;
  for (int i = 0; i < 1000; ++i) server({"set", "key" + std::to_string(i), std::string(100, 'v')});
  const std::string text = text_of(server({"info", "memory"}));
  const auto number = [&](std::string_view name) { return std::stoul(field(text, name)); };
  EXPECT_GE(number("nidus_memory_items"), 100'000u);
  EXPECT_GT(number("nidus_memory_index"), 0u);
  EXPECT_EQ(number("mem_clients_normal"), 12'345u);
  EXPECT_EQ(number("used_memory"), number("nidus_memory_items") + number("nidus_memory_index") +
                                       number("nidus_memory_retired") +
                                       number("nidus_memory_client_buffers"));
  EXPECT_EQ(field(text, "maxmemory_policy"), "noeviction");
}

TEST(Info, CountsHitsMissesAndExpiredKeys) {
  Server server;
  server({"set", "a", "1", "px", "10"});
  server({"get", "a"});
  server({"get", "absent"});
  server.now += 20;
  server({"get", "a"});
  const std::string text = text_of(server({"info", "stats"}));
  EXPECT_EQ(field(text, "keyspace_hits"), "1");
  EXPECT_EQ(field(text, "keyspace_misses"), "2");
  EXPECT_EQ(field(text, "expired_keys"), "1");
}

TEST(Info, KeyspaceListsDatabasesThatHoldKeys) {
  Server server;
  server({"set", "a", "1"});
  server.session.database = 5;
  server({"set", "b", "1", "px", "60000"});
  server({"set", "c", "1", "px", "60000"});
  EXPECT_EQ(server({"info", "keyspace"}), bulk("# Keyspace\r\ndb0:keys=1,expires=0,avg_ttl=0\r\n"
                                               "db5:keys=2,expires=2,avg_ttl=60000\r\n"));
}

TEST(Info, SizesForPeopleAreRoundedAsRedisDoes) {
  EXPECT_EQ(human_bytes(0), "0B");
  EXPECT_EQ(human_bytes(1023), "1023B");
  EXPECT_EQ(human_bytes(1024), "1.00K");
  EXPECT_EQ(human_bytes(1'039'672), "1015.30K");
  EXPECT_EQ(human_bytes(25'276'510'208), "23.54G");
}

}  // namespace
}  // namespace nidus::command

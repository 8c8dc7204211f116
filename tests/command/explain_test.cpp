// SPDX-License-Identifier: Apache-2.0

// NIDUS.EXPLAIN: a complete map for present and absent keys, and facts that agree with the key.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server_harness.hpp"

namespace nidus::command {
namespace {

using namespace server_testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Explain, TellsWhereAPresentKeyLives) {
  Server server;
  server({"set", "foo", "value", "px", "5000"});
  const std::string flat = server({"nidus.explain", "foo"});
  EXPECT_THAT(
      flat,
      AllOf(StartsWith("*56\r\n" + bulk("hash") + "$18\r\n0x"), HasSubstr(bulk("found") + ":1\r\n"),
            HasSubstr(bulk("key_bytes") + ":3\r\n"), HasSubstr(bulk("value_bytes") + ":5\r\n"),
            HasSubstr(bulk("ttl_ms") + ":5000\r\n"), HasSubstr(bulk("bucket") + ":1\r\n"),
            HasSubstr(bulk("displacement") + ":0\r\n"), HasSubstr(bulk("item_ns") + ":")));
  server.session.protocol = 3;
  EXPECT_THAT(server({"nidus.explain", "foo"}),
              AllOf(StartsWith("%28\r\n"), HasSubstr(bulk("found") + "#t\r\n")));
}

TEST(Explain, AnAbsentKeyHasAPlaceButNoItem) {
  Server server;
  EXPECT_THAT(server({"nidus.explain", "none"}),
              AllOf(StartsWith("*56\r\n"), HasSubstr(bulk("found") + ":0\r\n"),
                    HasSubstr(bulk("item_bytes") + kNull), HasSubstr(bulk("score") + kNull)));
}

TEST(Explain, HashSlotsAreThoseOfRedisCluster) {
  Server server;
  // From redis-cli CLUSTER KEYSLOT of 7.0.15.
  EXPECT_THAT(server({"nidus.explain", "foo"}), HasSubstr(bulk("hash_slot") + ":12182\r\n"));
  EXPECT_THAT(server({"nidus.explain", "bar{foo}baz"}),
              HasSubstr(bulk("hash_slot") + ":12182\r\n"));
  EXPECT_THAT(server({"nidus.explain", "123456789"}), HasSubstr(bulk("hash_slot") + ":12739\r\n"));
}

TEST(Explain, IsNoUseOfTheKey) {
  Server server;
  server({"set", "foo", "v"});
  server.now += 3200;
  server({"nidus.explain", "foo"});
  EXPECT_EQ(server({"object", "idletime", "foo"}), ":3\r\n");
}

}  // namespace
}  // namespace nidus::command

// SPDX-License-Identifier: Apache-2.0

// Expiries: setting, conditions, asking, removing, and the ends of the range.

#include <gtest/gtest.h>

#include <string>

#include "harness.hpp"

namespace nidus::command {
namespace {

using namespace testing;

class Expire : public ::testing::Test {
 protected:
  void SetUp() override { client({"SET", "a", "1"}); }
  World world;
  Client client{world};
};

TEST_F(Expire, FourCommandsSetOneExpiry) {
  const std::string at_ms = std::to_string(world.now + 7000);
  const std::string at_s = std::to_string(world.now / 1000 + 7);
  EXPECT_EQ(client({"EXPIRE", "a", "7"}), integer(1));
  EXPECT_EQ(client({"PEXPIRETIME", "a"}), ":" + at_ms + "\r\n");
  EXPECT_EQ(client({"PEXPIRE", "a", "7000"}), integer(1));
  EXPECT_EQ(client({"PEXPIRETIME", "a"}), ":" + at_ms + "\r\n");
  EXPECT_EQ(client({"EXPIREAT", "a", at_s}), integer(1));
  EXPECT_EQ(client({"EXPIRETIME", "a"}), ":" + at_s + "\r\n");
  EXPECT_EQ(client({"PEXPIREAT", "a", at_ms}), integer(1));
  EXPECT_EQ(client({"TTL", "a"}), integer(7));
  EXPECT_EQ(client({"PTTL", "a"}), integer(7000));
}

TEST_F(Expire, TheKeyIsGoneAtItsMillisecondAndNotBefore) {
  client({"PEXPIRE", "a", "1500"});
  world.now += 1499;
  EXPECT_EQ(client({"GET", "a"}), bulk("1"));
  EXPECT_EQ(client({"PTTL", "a"}), integer(1));
  world.now += 1;
  EXPECT_EQ(client({"GET", "a"}), kNull);
  EXPECT_EQ(client({"TTL", "a"}), integer(-2));
}

TEST_F(Expire, TtlRoundsToTheNearestSecond) {
  client({"PEXPIRE", "a", "1500"});
  EXPECT_EQ(client({"TTL", "a"}), integer(2));
  client({"PEXPIRE", "a", "1499"});
  EXPECT_EQ(client({"TTL", "a"}), integer(1));
}

TEST_F(Expire, ATimeThatIsOverRemovesTheKey) {
  EXPECT_EQ(client({"EXPIRE", "a", "0"}), integer(1));
  EXPECT_EQ(client({"EXISTS", "a"}), integer(0));
  client({"SET", "a", "1"});
  EXPECT_EQ(client({"PEXPIREAT", "a", "-5"}), integer(1));
  EXPECT_EQ(client({"EXISTS", "a"}), integer(0));
  EXPECT_EQ(client({"EXPIRE", "a", "100"}), integer(0));
}

TEST_F(Expire, ConditionsHoldAgainstTheOldExpiry) {
  EXPECT_EQ(client({"EXPIRE", "a", "100", "XX"}), integer(0));
  EXPECT_EQ(client({"EXPIRE", "a", "100", "GT"}), integer(0));
  EXPECT_EQ(client({"EXPIRE", "a", "100", "nx"}), integer(1));
  EXPECT_EQ(client({"EXPIRE", "a", "200", "NX"}), integer(0));
  EXPECT_EQ(client({"EXPIRE", "a", "100", "GT"}), integer(0));
  EXPECT_EQ(client({"EXPIRE", "a", "100", "LT"}), integer(0));
  EXPECT_EQ(client({"EXPIRE", "a", "101", "GT", "XX"}), integer(1));
  EXPECT_EQ(client({"EXPIRE", "a", "50", "LT", "XX"}), integer(1));
  EXPECT_EQ(client({"TTL", "a"}), integer(50));
  client({"PERSIST", "a"});
  EXPECT_EQ(client({"EXPIRE", "a", "100", "LT", "XX"}), integer(0));
  EXPECT_EQ(client({"EXPIRE", "a", "100", "LT"}), integer(1));
}

TEST_F(Expire, OptionsThatContradictAreRefused) {
  EXPECT_EQ(client({"EXPIRE", "a", "1", "NX", "GT"}),
            error("ERR NX and XX, GT or LT options at the same time are not compatible"));
  EXPECT_EQ(client({"EXPIRE", "a", "1", "GT", "LT", "XX"}),
            error("ERR GT and LT options at the same time are not compatible"));
  EXPECT_EQ(client({"EXPIRE", "a", "x", "FOO"}), error("ERR Unsupported option FOO"));
  EXPECT_EQ(client({"EXPIRE", "a", "x"}), error("ERR value is not an integer or out of range"));
}

TEST_F(Expire, ATimeBeyondTheRangeIsRefusedAndTheKeyStaysAsItWas) {
  for (const char* time : {"9223372036854775807", "9223372036854775", "-9223372036854776"}) {
    EXPECT_EQ(client({"EXPIRE", "a", time}), error("ERR invalid expire time in 'expire' command"));
    EXPECT_EQ(client({"EXPIRE", "none", time}),
              error("ERR invalid expire time in 'expire' command"));
  }
  EXPECT_EQ(client({"PEXPIRE", "a", "9223372036854775807"}),
            error("ERR invalid expire time in 'pexpire' command"));
  EXPECT_EQ(client({"EXPIREAT", "a", "9223372036854775807"}),
            error("ERR invalid expire time in 'expireat' command"));
  EXPECT_EQ(client({"TTL", "a"}), integer(-1));
}

TEST_F(Expire, TheLastTimesOfTheRangeAreLegal) {
  EXPECT_EQ(client({"EXPIREAT", "a", "9223372036854775"}), integer(1));
  EXPECT_EQ(client({"PEXPIRETIME", "a"}), integer(9223372036854775000));
  EXPECT_EQ(client({"PEXPIREAT", "a", "9223372036854775807"}), integer(1));
  EXPECT_EQ(client({"EXPIRETIME", "a"}), integer(9223372036854776));
}

TEST_F(Expire, PersistRemovesAnExpiryAndTellsWhetherThereWasOne) {
  EXPECT_EQ(client({"PERSIST", "a"}), integer(0));
  client({"EXPIRE", "a", "5"});
  EXPECT_EQ(client({"PERSIST", "a"}), integer(1));
  EXPECT_EQ(client({"TTL", "a"}), integer(-1));
  EXPECT_EQ(client({"PERSIST", "none"}), integer(0));
  world.now += 6000;
  EXPECT_EQ(client({"GET", "a"}), bulk("1"));
}

TEST_F(Expire, AskingForTheTimeOfNoKeyOrNoExpiry) {
  for (const char* command : {"TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"}) {
    EXPECT_EQ(client({command, "none"}), integer(-2));
    EXPECT_EQ(client({command, "a"}), integer(-1));
  }
}

}  // namespace
}  // namespace nidus::command

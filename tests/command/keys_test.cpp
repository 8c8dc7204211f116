// SPDX-License-Identifier: Apache-2.0

// Commands on keys whatever their value: the replies that Redis gives, and what they leave behind.

#include <gtest/gtest.h>

#include <string>

#include "harness.hpp"

namespace nidus::command {
namespace {

using namespace testing;

class Keys : public ::testing::Test {
 protected:
  World world;
  Client client{world};
};

TEST_F(Keys, DelAndUnlinkCountWhatTheyRemove) {
  client({"SET", "a", "1"});
  client({"SET", "b", "2"});
  EXPECT_EQ(client({"DEL", "a", "none", "a"}), integer(1));
  EXPECT_EQ(client({"UNLINK", "b"}), integer(1));
  EXPECT_EQ(client({"DEL", "b"}), integer(0));
  EXPECT_EQ(client({"DBSIZE"}), integer(0));
  EXPECT_EQ(client({"DEL"}), error("ERR wrong number of arguments for 'del' command"));
}

TEST_F(Keys, ExistsAndTouchCountAKeyAsOftenAsItIsNamed) {
  client({"SET", "a", "1"});
  EXPECT_EQ(client({"EXISTS", "a", "a", "b"}), integer(2));
  EXPECT_EQ(client({"EXISTS", "b"}), integer(0));
  EXPECT_EQ(client({"TOUCH", "a", "b", "a"}), integer(2));
}

TEST_F(Keys, ExistsIsNoUseOfTheKeyAndTouchIsOne) {
  client({"SET", "a", "1"});
  client({"EXISTS", "a"});
  EXPECT_EQ(world.keyspace.stats().hits, 0u);
  client({"TOUCH", "a"});
  EXPECT_EQ(world.keyspace.stats().hits, 1u);
}

TEST_F(Keys, TypeIsStringOrNone) {
  client({"SET", "a", "1"});
  EXPECT_EQ(client({"TYPE", "a"}), "+string\r\n");
  EXPECT_EQ(client({"TYPE", "b"}), "+none\r\n");
}

TEST_F(Keys, AnExpiredKeyIsNowhere) {
  client({"SET", "a", "1", "PX", "10"});
  world.now += 10;
  EXPECT_EQ(client({"EXISTS", "a"}), integer(0));
  EXPECT_EQ(client({"TYPE", "a"}), "+none\r\n");
  EXPECT_EQ(client({"KEYS", "*"}), "*0\r\n");
  EXPECT_EQ(client({"RANDOMKEY"}), kNull);
  EXPECT_EQ(client({"DEL", "a"}), integer(0));
  EXPECT_EQ(client({"RENAME", "a", "b"}), error("ERR no such key"));
}

TEST_F(Keys, RenameTakesValueAndExpiryAlong) {
  client({"SET", "a", "1", "PX", "5000"});
  client({"SET", "b", "old"});
  EXPECT_EQ(client({"RENAME", "a", "b"}), kOk);
  EXPECT_EQ(client({"GET", "b"}), bulk("1"));
  EXPECT_EQ(client({"PTTL", "b"}), integer(5000));
  EXPECT_EQ(client({"EXISTS", "a"}), integer(0));
  EXPECT_EQ(client({"RENAME", "none", "b"}), error("ERR no such key"));
}

TEST_F(Keys, RenameOntoItselfChangesNothing) {
  client({"SET", "a", "1"});
  EXPECT_EQ(client({"RENAME", "a", "a"}), kOk);
  EXPECT_EQ(client({"RENAMENX", "a", "a"}), integer(0));
  EXPECT_EQ(client({"GET", "a"}), bulk("1"));
  EXPECT_EQ(client({"RENAME", "b", "b"}), error("ERR no such key"));
}

TEST_F(Keys, RenamenxRefusesANameThatIsTaken) {
  client({"SET", "a", "1"});
  client({"SET", "b", "2"});
  EXPECT_EQ(client({"RENAMENX", "a", "b"}), integer(0));
  EXPECT_EQ(client({"RENAMENX", "a", "c"}), integer(1));
  EXPECT_EQ(client({"RENAMENX", "a", "c"}), error("ERR no such key"));
  EXPECT_EQ(client({"MGET", "a", "b", "c"}), "*3\r\n" + kNull + bulk("2") + bulk("1"));
}

TEST_F(Keys, CopyKeepsTheExpiryAndReplacesOnlyWhenAsked) {
  client({"SET", "a", "1", "PX", "5000"});
  EXPECT_EQ(client({"COPY", "a", "b"}), integer(1));
  EXPECT_EQ(client({"PTTL", "b"}), integer(5000));
  client({"SET", "a", "2"});
  EXPECT_EQ(client({"COPY", "a", "b"}), integer(0));
  EXPECT_EQ(client({"COPY", "a", "b", "replace"}), integer(1));
  EXPECT_EQ(client({"GET", "b"}), bulk("2"));
  EXPECT_EQ(client({"PTTL", "b"}), integer(-1));
  EXPECT_EQ(client({"COPY", "none", "b", "REPLACE"}), integer(0));
}

TEST_F(Keys, CopyReachesAnotherDatabase) {
  client({"SET", "a", "1"});
  EXPECT_EQ(client({"COPY", "a", "a", "DB", "3"}), integer(1));
  EXPECT_EQ(client({"COPY", "a", "a"}), error("ERR source and destination objects are the same"));
  client({"SELECT", "3"});
  EXPECT_EQ(client({"GET", "a"}), bulk("1"));
}

TEST_F(Keys, CopyChecksItsOptionsInOrder) {
  EXPECT_EQ(client({"COPY", "a", "b", "DB"}), error("ERR syntax error"));
  EXPECT_EQ(client({"COPY", "a", "b", "FOO"}), error("ERR syntax error"));
  EXPECT_EQ(client({"COPY", "a", "b", "DB", "x"}),
            error("ERR value is not an integer or out of range"));
  EXPECT_EQ(client({"COPY", "a", "b", "DB", "99"}), error("ERR DB index is out of range"));
  EXPECT_EQ(client({"COPY", "a", "b", "DB", "99999999999"}),
            error("ERR value is out of range, value must between -2147483648 and 2147483647"));
}

TEST_F(Keys, MoveRefusesItsOwnDatabaseAndATakenName) {
  client({"SET", "a", "1", "PX", "5000"});
  EXPECT_EQ(client({"MOVE", "a", "0"}), error("ERR source and destination objects are the same"));
  EXPECT_EQ(client({"MOVE", "a", "1"}), integer(1));
  EXPECT_EQ(client({"MOVE", "a", "1"}), integer(0));
  client({"SET", "a", "2"});
  EXPECT_EQ(client({"MOVE", "a", "1"}), integer(0));
  client({"SELECT", "1"});
  EXPECT_EQ(client({"GET", "a"}), bulk("1"));
  EXPECT_EQ(client({"PTTL", "a"}), integer(5000));
}

TEST_F(Keys, KeysMatchesPatternsAndNamesEveryKeyOnce) {
  for (int i = 0; i < 3000; ++i) client({"SET", "key:" + std::to_string(i), "v"});
  client({"SET", "other", "v"});
  EXPECT_EQ(client({"KEYS", "other"}), "*1\r\n" + bulk("other"));
  EXPECT_EQ(client({"KEYS", "none"}), "*0\r\n");
  EXPECT_EQ(client({"KEYS", "o[t]*"}), "*1\r\n" + bulk("other"));
  EXPECT_EQ(client({"KEYS", "key:*"}).substr(0, 7), "*3000\r\n");
  EXPECT_EQ(client({"DBSIZE"}), integer(3001));
}

TEST_F(Keys, RandomkeyNamesAKeyThatIsThere) {
  EXPECT_EQ(client({"RANDOMKEY"}), kNull);
  client({"SET", "only", "v"});
  EXPECT_EQ(client({"RANDOMKEY"}), bulk("only"));
}

}  // namespace
}  // namespace nidus::command

// SPDX-License-Identifier: Apache-2.0

// The string commands: replies and errors to the byte, and what they leave behind.

#include <gtest/gtest.h>

#include "harness.hpp"

namespace nidus::command {
namespace {

using namespace std::string_literals;
using testing::bulk;
using testing::Client;
using testing::error;
using testing::integer;
using testing::kNull;
using testing::kOk;
using testing::World;

const std::string kSyntax = error("ERR syntax error");
const std::string kNoInteger = error("ERR value is not an integer or out of range");

class StringsTest : public ::testing::Test {
 protected:
  std::string invalid_expiry(const std::string& command) {
    return error("ERR invalid expire time in '" + command + "' command");
  }
  /// The key's expiry in Unix ms; -1 none, -2 no key.
  std::string expiry(const std::string& key) { return client_({"PEXPIRETIME", key}); }

  World world_;
  Client client_{world_};
};

TEST_F(StringsTest, SetAndGetAnyBytes) {
  const std::string binary = "\0\r\n$3\r\n\xff"s;
  EXPECT_EQ(client_({"SET", binary, binary}), kOk);
  EXPECT_EQ(client_({"GET", binary}), bulk(binary));
  EXPECT_EQ(client_({"SET", "", ""}), kOk);
  EXPECT_EQ(client_({"GET", ""}), bulk(""));
  EXPECT_EQ(client_({"GET", "absent"}), kNull);
  client_.session.protocol = 3;
  EXPECT_EQ(client_({"GET", "absent"}), "_\r\n");
}

TEST_F(StringsTest, SetUnderConditions) {
  EXPECT_EQ(client_({"SET", "k", "1", "XX"}), kNull);
  EXPECT_EQ(client_({"SET", "k", "1", "nx"}), kOk);
  EXPECT_EQ(client_({"SET", "k", "2", "NX"}), kNull);
  EXPECT_EQ(client_({"SET", "k", "2", "NX", "GET"}), bulk("1"));
  EXPECT_EQ(client_({"SET", "k", "3", "XX", "GET"}), bulk("1"));
  EXPECT_EQ(client_({"GET", "k"}), bulk("3"));
  EXPECT_EQ(client_({"SET", "new", "1", "GET"}), kNull);
  EXPECT_EQ(client_({"GET", "new"}), bulk("1"));
}

TEST_F(StringsTest, SetWithAnExpiryInEachForm) {
  const auto now = world_.now;
  client_({"SET", "k", "v", "EX", "10"});
  EXPECT_EQ(expiry("k"), integer(now + 10'000));
  client_({"SET", "k", "v", "KEEPTTL"});
  EXPECT_EQ(expiry("k"), integer(now + 10'000));
  client_({"SET", "k", "v", "PX", "10"});
  EXPECT_EQ(expiry("k"), integer(now + 10));
  client_({"SET", "k", "v", "EXAT", "4000000000"});
  EXPECT_EQ(expiry("k"), integer(4'000'000'000'000));
  client_({"SET", "k", "v", "PXAT", "4000000000001"});
  EXPECT_EQ(expiry("k"), integer(4'000'000'000'001));
  client_({"SET", "k", "v"});
  EXPECT_EQ(expiry("k"), integer(-1));
}

TEST_F(StringsTest, ValueIsGoneWhenItsTimeHasCome) {
  client_({"SET", "k", "v", "PX", "10"});
  world_.now += 9;
  EXPECT_EQ(client_({"GET", "k"}), bulk("v"));
  world_.now += 1;
  EXPECT_EQ(client_({"GET", "k"}), kNull);
  EXPECT_EQ(client_({"SET", "k", "v", "XX"}), kNull);
  EXPECT_EQ(client_({"APPEND", "k", "x"}), integer(1));
}

TEST_F(StringsTest, RefusedExpiryLeavesTheKeyUntouched) {
  client_({"SET", "k", "v", "EXAT", "4000000000"});
  for (const char* amount : {"0", "-1", "9223372036854775807"}) {
    EXPECT_EQ(client_({"SET", "k", "w", "EX", amount}), invalid_expiry("set"));
    EXPECT_EQ(client_({"SET", "k", "w", "PX", amount}), invalid_expiry("set"));
    EXPECT_EQ(client_({"SETEX", "k", amount, "w"}), invalid_expiry("setex"));
    EXPECT_EQ(client_({"PSETEX", "k", amount, "w"}), invalid_expiry("psetex"));
    EXPECT_EQ(client_({"GETEX", "k", "EX", amount}), invalid_expiry("getex"));
  }
  EXPECT_EQ(client_({"SET", "k", "w", "EX", "ten"}), kNoInteger);
  EXPECT_EQ(client_({"SETEX", "k", "1.5", "w"}), kNoInteger);
  EXPECT_EQ(client_({"GET", "k"}), bulk("v"));
  EXPECT_EQ(expiry("k"), integer(4'000'000'000'000));
}

TEST_F(StringsTest, SetRefusesOptionsThatExcludeEachOther) {
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{"NX", "XX"},
                                             {"XX", "NX"},
                                             {"EX", "1", "PX", "1"},
                                             {"KEEPTTL", "EX", "1"},
                                             {"EX", "1", "KEEPTTL"},
                                             {"EX"},
                                             {"nonsense"},
                                             {"PERSIST"}}) {
    std::vector<std::string> request = {"SET", "k", "v"};
    request.insert(request.end(), options.begin(), options.end());
    EXPECT_EQ(client_(request), kSyntax) << options.front();
  }
  EXPECT_EQ(client_({"GET", "k"}), kNull);
  EXPECT_EQ(client_({"SET", "k", "v", "EX", "1", "EX", "2"}), kOk);
  EXPECT_EQ(expiry("k"), integer(world_.now + 2000));
}

TEST_F(StringsTest, OldNamesOfSet) {
  EXPECT_EQ(client_({"SETNX", "k", "1"}), integer(1));
  EXPECT_EQ(client_({"SETNX", "k", "2"}), integer(0));
  EXPECT_EQ(client_({"SETEX", "k", "10", "3"}), kOk);
  EXPECT_EQ(expiry("k"), integer(world_.now + 10'000));
  EXPECT_EQ(client_({"GETSET", "k", "4"}), bulk("3"));
  EXPECT_EQ(expiry("k"), integer(-1));
  EXPECT_EQ(client_({"PSETEX", "k", "10", "5"}), kOk);
  EXPECT_EQ(expiry("k"), integer(world_.now + 10));
  EXPECT_EQ(client_({"GETDEL", "k"}), bulk("5"));
  EXPECT_EQ(client_({"GETDEL", "k"}), kNull);
}

TEST_F(StringsTest, GetexChangesOnlyTheExpiry) {
  EXPECT_EQ(client_({"GETEX", "k", "EX", "-1"}), kNull);
  client_({"SET", "k", "v"});
  EXPECT_EQ(client_({"GETEX", "k", "PXAT", "4000000000001"}), bulk("v"));
  EXPECT_EQ(expiry("k"), integer(4'000'000'000'001));
  EXPECT_EQ(client_({"GETEX", "k"}), bulk("v"));
  EXPECT_EQ(expiry("k"), integer(4'000'000'000'001));
  EXPECT_EQ(client_({"GETEX", "k", "PERSIST", "EX", "1"}), kSyntax);
  EXPECT_EQ(client_({"GETEX", "k", "KEEPTTL"}), kSyntax);
  EXPECT_EQ(client_({"GETEX", "k", "PERSIST"}), bulk("v"));
  EXPECT_EQ(expiry("k"), integer(-1));
  EXPECT_EQ(client_({"GETEX", "k", "PXAT", "1"}), bulk("v"));
  EXPECT_EQ(client_({"GET", "k"}), kNull);
}

TEST_F(StringsTest, SeveralKeysAtOnce) {
  EXPECT_EQ(client_({"MSET", "a", "1", "b", "2", "a", "3"}), kOk);
  EXPECT_EQ(client_({"MGET", "a", "x", "b"}), "*3\r\n" + bulk("3") + kNull + bulk("2"));
  EXPECT_EQ(client_({"MSETNX", "c", "1", "b", "9"}), integer(0));
  EXPECT_EQ(client_({"MGET", "c", "b"}), "*2\r\n" + kNull + bulk("2"));
  EXPECT_EQ(client_({"MSETNX", "c", "1", "c", "2"}), integer(1));
  EXPECT_EQ(client_({"GET", "c"}), bulk("2"));
  EXPECT_EQ(client_({"MSET", "a", "1", "b"}),
            error("ERR wrong number of arguments for 'mset' command"));
  EXPECT_EQ(client_({"MSETNX", "a", "1", "b"}),
            error("ERR wrong number of arguments for 'msetnx' command"));
}

TEST_F(StringsTest, PartsOfAValue) {
  EXPECT_EQ(client_({"APPEND", "k", "Hello"}), integer(5));
  EXPECT_EQ(client_({"APPEND", "k", " World"}), integer(11));
  EXPECT_EQ(client_({"STRLEN", "k"}), integer(11));
  EXPECT_EQ(client_({"GETRANGE", "k", "0", "4"}), bulk("Hello"));
  EXPECT_EQ(client_({"SUBSTR", "k", "-5", "-1"}), bulk("World"));
  EXPECT_EQ(client_({"GETRANGE", "k", "-9223372036854775808", "9223372036854775807"}),
            bulk("Hello World"));
  EXPECT_EQ(client_({"GETRANGE", "k", "5", "2"}), bulk(""));
  EXPECT_EQ(client_({"GETRANGE", "k", "x", "2"}), kNoInteger);
  EXPECT_EQ(client_({"SETRANGE", "k", "6", "redis"}), integer(11));
  EXPECT_EQ(client_({"GET", "k"}), bulk("Hello redis"));
  EXPECT_EQ(client_({"SETRANGE", "gap", "3", "x"}), integer(4));
  EXPECT_EQ(client_({"GET", "gap"}), bulk("\0\0\0x"s));
  EXPECT_EQ(client_({"SETRANGE", "none", "3", ""}), integer(0));
  EXPECT_EQ(client_({"EXISTS", "none"}), integer(0));
  EXPECT_EQ(client_({"SETRANGE", "k", "-1", "x"}), error("ERR offset is out of range"));
  EXPECT_EQ(client_({"SETRANGE", "k", "536870912", "x"}),
            error("ERR string exceeds maximum allowed size (proto-max-bulk-len)"));
}

TEST_F(StringsTest, PartialWritesKeepTheExpiry) {
  client_({"SET", "k", "1", "PXAT", "4000000000001"});
  client_({"APPEND", "k", "2"});
  client_({"SETRANGE", "k", "0", "3"});
  client_({"INCR", "k"});
  client_({"INCRBYFLOAT", "k", "0.5"});
  client_({"SETBIT", "k", "100", "1"});
  EXPECT_EQ(expiry("k"), integer(4'000'000'000'001));
}

TEST_F(StringsTest, CountersAreCheckedAndExact) {
  EXPECT_EQ(client_({"INCR", "n"}), integer(1));
  EXPECT_EQ(client_({"DECRBY", "n", "3"}), integer(-2));
  client_({"SET", "n", "9223372036854775807"});
  const std::string overflow = error("ERR increment or decrement would overflow");
  EXPECT_EQ(client_({"INCR", "n"}), overflow);
  EXPECT_EQ(client_({"INCRBY", "n", "1"}), overflow);
  EXPECT_EQ(client_({"DECRBY", "n", "-9223372036854775808"}),
            error("ERR decrement would overflow"));
  EXPECT_EQ(client_({"GET", "n"}), bulk("9223372036854775807"));
  client_({"SET", "n", "-9223372036854775808"});
  EXPECT_EQ(client_({"DECR", "n"}), overflow);
  for (const char* unfit : {" 1", "1 ", "01", "-0", "+1", "", "1.0", "9223372036854775808", "x"}) {
    client_({"SET", "n", unfit});
    EXPECT_EQ(client_({"INCR", "n"}), kNoInteger) << unfit;
    EXPECT_EQ(client_({"GET", "n"}), bulk(unfit));
  }
}

TEST_F(StringsTest, FloatingCounters) {
  EXPECT_EQ(client_({"INCRBYFLOAT", "n", "10.50"}), bulk("10.5"));
  EXPECT_EQ(client_({"INCRBYFLOAT", "n", "0.1"}), bulk("10.6"));
  EXPECT_EQ(client_({"INCRBYFLOAT", "n", "-5e0"}), bulk("5.6"));
  EXPECT_EQ(client_({"INCRBYFLOAT", "n", "x"}), error("ERR value is not a valid float"));
  EXPECT_EQ(client_({"INCRBYFLOAT", "n", "+inf"}),
            error("ERR increment would produce NaN or Infinity"));
  EXPECT_EQ(client_({"GET", "n"}), bulk("5.6"));
}

TEST_F(StringsTest, LongestCommonSubsequence) {
  client_({"MSET", "a", "ohmytext", "b", "mynewtext"});
  EXPECT_EQ(client_({"LCS", "a", "b"}), bulk("mytext"));
  EXPECT_EQ(client_({"LCS", "a", "b", "LEN"}), integer(6));
  EXPECT_EQ(client_({"LCS", "a", "b", "IDX", "MINMATCHLEN", "4", "WITHMATCHLEN"}),
            "*4\r\n" + bulk("matches") + "*1\r\n*3\r\n*2\r\n:4\r\n:7\r\n*2\r\n:5\r\n:8\r\n:4\r\n" +
                bulk("len") + ":6\r\n");
  EXPECT_EQ(client_({"LCS", "a", "absent"}), bulk(""));
  EXPECT_EQ(client_({"LCS", "a", "b", "LEN", "IDX"}),
            error("ERR If you want both the length and indexes, please just use IDX."));
}

}  // namespace
}  // namespace nidus::command

// SPDX-License-Identifier: Apache-2.0

// CONFIG, FLUSHALL, TIME, SHUTDOWN, DEBUG and the answers to questions about what is not there.
// The replies are those of redis-server 7.0.15.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "server_harness.hpp"

namespace nidus::command {
namespace {

using namespace server_testing;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ConfigCommand, GetGivesNamesAndValuesOfEveryPatternOnce) {
  Server server;
  EXPECT_EQ(server({"config", "get", "maxmemory"}), "*2\r\n" + bulk("maxmemory") + bulk("0"));
  EXPECT_EQ(server({"CONFIG", "GET", "maxmemory*", "MAXMEMORY", "save"}),
            "*6\r\n" + bulk("maxmemory") + bulk("0") + bulk("maxmemory-policy") +
                bulk("noeviction") + bulk("save") + bulk(""));
  EXPECT_EQ(server({"config", "get", "nope"}), "*0\r\n");
  server.session.protocol = 3;
  EXPECT_EQ(server({"config", "get", "nope"}), "%0\r\n");
  EXPECT_EQ(server({"config", "get", "save"}), "%1\r\n" + bulk("save") + bulk(""));
}

TEST(ConfigCommand, SetTakesSeveralParametersOrNone) {
  Server server;
  EXPECT_EQ(server({"config", "set", "maxmemory", "1", "save", "x"}), kOk);
  EXPECT_EQ(server.services.config["maxmemory"], "1");
  EXPECT_EQ(server.services.config["save"], "x");
  EXPECT_EQ(server({"config", "set", "maxmemory", "2", "nope", "1"}),
            error("ERR Unknown option or number of arguments for CONFIG SET - 'nope'"));
  EXPECT_EQ(server.services.config["maxmemory"], "1");
}

TEST(ConfigCommand, SetRefusesHalfPairsAndRepeatedNames) {
  Server server;
  EXPECT_EQ(server({"config", "set", "maxmemory"}), wrong_arity("config|set"));
  EXPECT_EQ(server({"config", "set", "maxmemory", "1", "save"}), kSyntax);
  EXPECT_EQ(server({"config", "set", "maxmemory", "1", "MAXMEMORY", "2"}),
            error("ERR CONFIG SET failed (possibly related to argument 'MAXMEMORY') - duplicate "
                  "parameter"));
}

TEST(ConfigCommand, ResetstatResetsTheServerAndTheKeyspace) {
  Server server;
  server({"get", "absent"});
  EXPECT_EQ(server.keyspace.stats().misses, 1u);
  EXPECT_EQ(server({"config", "resetstat"}), kOk);
  EXPECT_EQ(server.keyspace.stats().misses, 0u);
  EXPECT_EQ(server.services.stat_resets, 1);
}

TEST(ConfigCommand, RewriteSaysThatItIsNotSupported) {
  Server server;
  EXPECT_THAT(server({"config", "rewrite"}), StartsWith("-ERR CONFIG REWRITE is not supported"));
}

TEST(ConfigCommand, HelpListsEverySubcommandAsStatusReplies) {
  Server server;
  const std::string help = server({"config", "help"});
  EXPECT_THAT(help, StartsWith("*11\r\n+CONFIG <subcommand> [<arg> [value] [opt] ...]. "
                               "Subcommands are:\r\n+GET parameter [parameter ...]\r\n+    "));
  EXPECT_THAT(help, HasSubstr("+RESETSTAT\r\n"));
  EXPECT_TRUE(help.ends_with("+HELP\r\n+    Prints this help.\r\n"));
  EXPECT_EQ(server({"config"}), wrong_arity("config"));
  EXPECT_EQ(server({"config", "foo"}), error("ERR unknown subcommand 'foo'. Try CONFIG HELP."));
}

TEST(Flush, FlushallEmptiesEveryDatabaseAndFlushdbOne) {
  Server server;
  server({"set", "a", "1"});
  server.session.database = 3;
  server({"set", "b", "1"});
  EXPECT_EQ(server({"flushdb", "sync"}), kOk);
  EXPECT_EQ(server({"get", "b"}), kNull);
  server({"set", "b", "1"});
  server.session.database = 0;
  EXPECT_EQ(server({"get", "a"}), bulk("1"));
  EXPECT_EQ(server({"flushall", "ASYNC"}), kOk);
  for (int i = 0; i < engine::kDatabases; ++i) EXPECT_EQ(server.keyspace.database(i).size(), 0u);
}

TEST(Flush, AnythingButOneModeIsASyntaxErrorAndFlushesNothing) {
  Server server;
  server({"set", "a", "1"});
  for (const char* command : {"flushall", "flushdb"}) {
    EXPECT_EQ(server({command, "x"}), kSyntax);
    EXPECT_EQ(server({command, "async", "sync"}), kSyntax);
  }
  EXPECT_EQ(server({"get", "a"}), bulk("1"));
}

TEST(TimeCommand, GivesSecondsAndMicrosecondsOfTheWallClock) {
  Server server;
  const auto before = std::chrono::duration_cast<std::chrono::seconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  const std::string reply = server({"time"});
  ASSERT_THAT(reply, StartsWith("*2\r\n$10\r\n"));
  const long long seconds = std::stoll(reply.substr(9, 10));
  EXPECT_GE(seconds, before);
  EXPECT_LE(seconds, before + 60);
  const std::size_t at = reply.find("\r\n", 23) + 2;
  EXPECT_LT(std::stol(reply.substr(at)), 1'000'000);
}

TEST(ShutdownCommand, DrainsTheServerAndClosesWithoutAReply) {
  Server server;
  EXPECT_EQ(server({"shutdown", "NOSAVE", "NOW", "FORCE"}), "");
  EXPECT_EQ(server.services.shut_downs, 1);
  EXPECT_TRUE(server.session.close_after_reply);
}

TEST(ShutdownCommand, RefusesWhatItCannotDoAndStaysUp) {
  Server server;
  EXPECT_EQ(server({"shutdown", "abort"}), error("ERR No shutdown in progress."));
  EXPECT_THAT(server({"shutdown", "save"}), StartsWith("-ERR SHUTDOWN SAVE is not supported"));
  EXPECT_EQ(server({"shutdown", "foo"}), kSyntax);
  EXPECT_EQ(server({"shutdown", "save", "nosave"}), kSyntax);
  EXPECT_EQ(server({"shutdown", "abort", "now"}), kSyntax);
  EXPECT_EQ(server.services.shut_downs, 0);
  EXPECT_FALSE(server.session.close_after_reply);
}

TEST(DebugCommand, IsRefusedUnlessTheParameterAllowsThisClient) {
  Server server;
  EXPECT_THAT(server({"debug", "sleep", "0"}), StartsWith("-ERR DEBUG command not allowed. If "));
  server.services.config["enable-debug-command"] = "local";
  EXPECT_EQ(server({"debug", "sleep", "0"}), kOk);
  server.session.address = "10.0.0.7:4711";
  EXPECT_THAT(server({"debug", "sleep", "0"}), StartsWith("-ERR DEBUG command not allowed"));
  server.services.config["enable-debug-command"] = "yes";
  EXPECT_EQ(server({"debug", "sleep", "x"}), kOk);
  EXPECT_EQ(server({"debug", "log", "text"}), kOk);
  EXPECT_EQ(server({"debug", "sleep"}),
            error("ERR unknown subcommand or wrong number of arguments for 'sleep'. Try DEBUG "
                  "HELP."));
}

TEST(DebugCommand, ProtocolGivesEachTypeInBothProtocols) {
  Server server;
  server.services.config["enable-debug-command"] = "yes";
  EXPECT_EQ(server({"debug", "protocol", "true"}), ":1\r\n");
  EXPECT_EQ(server({"debug", "protocol", "attrib"}),
            bulk("Some real reply following the attribute"));
  EXPECT_THAT(server({"debug", "protocol", "push"}), StartsWith("-ERR RESP2 is not supported"));
  server.session.protocol = 3;
  EXPECT_EQ(server({"debug", "protocol", "false"}), "#f\r\n");
  EXPECT_EQ(server({"debug", "protocol", "map"}), "%3\r\n:0\r\n#f\r\n:1\r\n#t\r\n:2\r\n#f\r\n");
  EXPECT_EQ(server({"debug", "protocol", "set"}), "~3\r\n:0\r\n:1\r\n:2\r\n");
  EXPECT_THAT(server({"debug", "protocol", "bignum"}), StartsWith("(1234567999"));
  EXPECT_THAT(server({"debug", "protocol", "attrib"}), StartsWith("|1\r\n"));
  EXPECT_THAT(server({"debug", "protocol", "x"}), StartsWith("-ERR Wrong protocol type name."));
}

TEST(ServerQuestions, WhatIsNotThereSaysSo) {
  Server server;
  for (const char* command : {"save", "bgsave", "lastsave", "bgrewriteaof"}) {
    EXPECT_THAT(server({command}), HasSubstr(" is not supported: "));
  }
  EXPECT_EQ(server({"cluster", "info"}), error("ERR This instance has cluster support disabled"));
  EXPECT_EQ(server({"readonly"}), error("ERR This instance has cluster support disabled"));
  EXPECT_EQ(server({"role"}), "*3\r\n" + bulk("master") + ":0\r\n*0\r\n");
  EXPECT_EQ(server({"module", "list"}), "*0\r\n");
  EXPECT_EQ(server({"function", "flush"}), kOk);
}

}  // namespace
}  // namespace nidus::command

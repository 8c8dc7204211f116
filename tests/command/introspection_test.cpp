// SPDX-License-Identifier: Apache-2.0

// COMMAND, OBJECT, MEMORY: reply shapes and errors as redis-server 7.0.15 gives them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command/command_facts.hpp"
#include "command/registry.hpp"
#include "server_harness.hpp"

namespace nidus::command {
namespace {

using namespace server_testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(CommandCommand, InfoTellsArityFlagsKeysCategoriesAndKeySpecs) {
  Server server;
  EXPECT_EQ(
      server({"command", "info", "GET"}),
      "*1\r\n*10\r\n$3\r\nget\r\n:2\r\n*2\r\n+readonly\r\n+fast\r\n:1\r\n:1\r\n:1\r\n"
      "*3\r\n+@read\r\n+@string\r\n+@fast\r\n*0\r\n*1\r\n*6\r\n$5\r\nflags\r\n*2\r\n+RO\r\n"
      "+access\r\n$12\r\nbegin_search\r\n*4\r\n$4\r\ntype\r\n$5\r\nindex\r\n$4\r\nspec\r\n"
      "*2\r\n$5\r\nindex\r\n:1\r\n$9\r\nfind_keys\r\n*4\r\n$4\r\ntype\r\n$5\r\nrange\r\n"
      "$4\r\nspec\r\n*6\r\n$7\r\nlastkey\r\n:0\r\n$7\r\nkeystep\r\n:1\r\n$5\r\nlimit\r\n:0\r\n"
      "*0\r\n");
  server.session.protocol = 3;
  EXPECT_EQ(server({"command", "info", "config|get", "nosuch"}),
            "*2\r\n*10\r\n$10\r\nconfig|get\r\n:-3\r\n~4\r\n+admin\r\n+noscript\r\n+loading\r\n"
            "+stale\r\n:0\r\n:0\r\n:0\r\n~3\r\n+@admin\r\n+@slow\r\n+@dangerous\r\n~0\r\n~0\r\n"
            "~0\r\n_\r\n");
}

TEST(CommandCommand, CountListAndAllAgree) {
  Server server;
  const std::size_t count = all_commands().size();
  EXPECT_EQ(server({"command", "count"}), ":" + std::to_string(count) + "\r\n");
  EXPECT_THAT(server({"command"}), StartsWith("*" + std::to_string(count) + "\r\n*10\r\n"));
  EXPECT_EQ(server({"command", "info"}), server({"command"}));
  EXPECT_THAT(server({"command", "docs"}), StartsWith("*" + std::to_string(2 * count) + "\r\n"));
  EXPECT_THAT(server({"command", "list"}),
              AllOf(HasSubstr(bulk("get")), HasSubstr(bulk("config|resetstat"))));
}

TEST(CommandCommand, ListFiltersByPatternAndCategory) {
  Server server;
  EXPECT_EQ(server({"command", "list", "filterby", "pattern", "CONFIG|RE*"}),
            "*2\r\n" + bulk("config|resetstat") + bulk("config|rewrite"));
  EXPECT_THAT(server({"command", "list", "filterby", "aclcat", "bitmap"}),
              Not(HasSubstr(bulk("get"))));
  EXPECT_THAT(server({"command", "list", "filterby", "aclcat", "string"}),
              AllOf(HasSubstr(bulk("get")), Not(HasSubstr(bulk("config")))));
  EXPECT_EQ(server({"command", "list", "filterby", "aclcat", "nosuch"}), "*0\r\n");
  EXPECT_EQ(server({"command", "list", "filterby", "module", "x"}), "*0\r\n");
  EXPECT_EQ(server({"command", "list", "filterby", "foo", "x"}), kSyntax);
  EXPECT_EQ(server({"command", "list", "filterby", "pattern"}), kSyntax);
  EXPECT_EQ(server({"command", "list", "foo"}), kSyntax);
}

TEST(CommandCommand, GetkeysFindsTheKeysOfAWholeRequest) {
  Server server;
  EXPECT_EQ(server({"command", "getkeys", "get", "a"}), "*1\r\n" + bulk("a"));
  EXPECT_EQ(server({"command", "getkeys", "mset", "a", "b", "c", "d"}),
            "*2\r\n" + bulk("a") + bulk("c"));
  EXPECT_EQ(server({"command", "getkeys", "object", "encoding", "x"}), "*1\r\n" + bulk("x"));
  EXPECT_EQ(server({"command", "getkeysandflags", "get", "a"}),
            "*1\r\n*2\r\n" + bulk("a") + "*2\r\n+RO\r\n+access\r\n");
  EXPECT_EQ(server({"command", "getkeysandflags", "set", "a", "1"}),
            "*1\r\n*2\r\n" + bulk("a") + "*2\r\n+OW\r\n+update\r\n");
  EXPECT_EQ(server({"command", "getkeysandflags", "set", "a", "1", "GET"}),
            "*1\r\n*2\r\n" + bulk("a") + "*3\r\n+RW\r\n+access\r\n+update\r\n");
  EXPECT_EQ(server({"command", "getkeysandflags", "bitfield", "a", "get", "u8", "0"}),
            "*1\r\n*2\r\n" + bulk("a") + "*2\r\n+RO\r\n+access\r\n");
  EXPECT_EQ(server({"command", "getkeysandflags", "rename", "a", "b"}),
            "*2\r\n*2\r\n" + bulk("a") + "*3\r\n+RW\r\n+access\r\n+delete\r\n*2\r\n" + bulk("b") +
                "*2\r\n+OW\r\n+update\r\n");
  EXPECT_EQ(server({"command", "getkeys", "get"}), wrong_arity("command|getkeys"));
  EXPECT_EQ(server({"command", "getkeys", "nosuch", "a"}), error("ERR Invalid command specified"));
  EXPECT_EQ(server({"command", "getkeys", "info", "a"}),
            error("ERR The command has no key arguments"));
  EXPECT_EQ(server({"command", "getkeys", "mset", "a"}),
            error("ERR Invalid number of arguments specified for command"));
}

TEST(CommandCommand, DocsDescribeNamedCommandsAndSkipUnknownOnes) {
  Server server;
  EXPECT_EQ(server({"command", "docs", "nosuch"}), "*0\r\n");
  EXPECT_THAT(server({"command", "docs", "get"}),
              AllOf(StartsWith("*2\r\n$3\r\nget\r\n*10\r\n$7\r\nsummary\r\n"),
                    HasSubstr(bulk("group") + bulk("string")), HasSubstr(bulk("since")),
                    HasSubstr(bulk("key_spec_index") + ":0\r\n")));
  server.session.protocol = 3;
  EXPECT_THAT(server({"command", "docs", "config"}),
              AllOf(StartsWith("%1\r\n$6\r\nconfig\r\n%5\r\n"),
                    HasSubstr(bulk("subcommands") + "%5\r\n" + bulk("config|get"))));
}

TEST(CommandTable, EveryCommandIsDocumentedAndCanRun) {
  for_each_command([](const NamedCommand& command) {
    const CommandSpec& spec = *command.spec;
    const std::string name = command.full_name();
    EXPECT_NE(spec.arity, 0) << name;
    EXPECT_FALSE(spec.summary.empty() || spec.since.empty() || spec.group.empty() ||
                 spec.complexity.empty())
        << name;
    EXPECT_TRUE(spec.handler != nullptr || !spec.subcommands.empty()) << name;
    EXPECT_EQ(spec.keys.first > 0, spec.keys.step > 0) << name;
    for (const char c : spec.name) EXPECT_FALSE(c >= 'A' && c <= 'Z') << name;
    EXPECT_FALSE((spec.flags & kWrite) != 0 && (spec.flags & kReadonly) != 0) << name;
  });
}

TEST(ObjectCommand, EncodingIsWhatRedisWouldChoose) {
  Server server;
  const auto encoding = [&](std::string_view value) {
    server({"set", "k", value});
    return server({"object", "encoding", "k"});
  };
  EXPECT_EQ(encoding("12"), bulk("int"));
  EXPECT_EQ(encoding("-9223372036854775808"), bulk("int"));
  EXPECT_EQ(encoding("9223372036854775808"), bulk("embstr"));
  EXPECT_EQ(encoding("01"), bulk("embstr"));
  EXPECT_EQ(encoding(""), bulk("embstr"));
  EXPECT_EQ(encoding(std::string(44, 'x')), bulk("embstr"));
  EXPECT_EQ(encoding(std::string(45, 'x')), bulk("raw"));
  EXPECT_EQ(server({"object", "encoding", "absent"}), kNull);
}

TEST(ObjectCommand, FreqAndIdletimeFollowThePolicy) {
  Server server;
  server({"set", "k", "v"});
  server.now += 5200;
  EXPECT_THAT(server({"object", "freq", "k"}),
              StartsWith("-ERR An LFU maxmemory policy is not selected, access frequency"));
  EXPECT_EQ(server({"object", "idletime", "k"}), ":5\r\n");
  server({"get", "k"});
  EXPECT_EQ(server({"object", "idletime", "k"}), ":0\r\n");
  server.keyspace.set_policy(engine::Policy::kAllKeysLfu);
  server({"set", "fresh", "v"});
  EXPECT_EQ(server({"object", "freq", "fresh"}), ":5\r\n");
  EXPECT_THAT(server({"object", "idletime", "k"}),
              StartsWith("-ERR An LFU maxmemory policy is selected, idle time not tracked"));
  EXPECT_EQ(server({"object", "freq", "absent"}), kNull);
}

TEST(ObjectCommand, RefcountOfSmallIntegersIsThatOfASharedObject) {
  Server server;
  server({"set", "k", "9999"});
  EXPECT_EQ(server({"object", "refcount", "k"}), ":2147483647\r\n");
  server({"set", "k", "10000"});
  EXPECT_EQ(server({"object", "refcount", "k"}), ":1\r\n");
  EXPECT_EQ(server({"object", "foo", "k"}),
            error("ERR unknown subcommand 'foo'. Try OBJECT HELP."));
  EXPECT_EQ(server({"object", "encoding"}), wrong_arity("object|encoding"));
}

TEST(MemoryCommand, UsageCountsTheAllocationAndChecksItsOptions) {
  Server server;
  server({"set", "k", std::string(1000, 'v')});
  const std::string usage = server({"memory", "usage", "k"});
  EXPECT_GE(std::stol(usage.substr(1)), 1017);
  EXPECT_LT(std::stol(usage.substr(1)), 1300);
  EXPECT_EQ(server({"memory", "usage", "k", "samples", "0"}), usage);
  EXPECT_EQ(server({"memory", "usage", "k", "samples"}), kSyntax);
  EXPECT_EQ(server({"memory", "usage", "k", "foo", "1"}), kSyntax);
  EXPECT_EQ(server({"memory", "usage", "k", "samples", "-1"}), kSyntax);
  EXPECT_EQ(server({"memory", "usage", "k", "samples", "x"}),
            error("ERR value is not an integer or out of range"));
  EXPECT_EQ(server({"memory", "usage", "absent"}), kNull);
}

TEST(MemoryCommand, StatsIsAMapOfAsManyFieldsAsItSays) {
  Server server;
  server({"set", "k", "v"});
  const std::string reply = server({"memory", "stats"});
  EXPECT_THAT(reply, AllOf(StartsWith("*38\r\n" + bulk("peak.allocated") + ":"),
                           HasSubstr(bulk("db.0") + "*2\r\n" + bulk("keys.count") + ":1\r\n"),
                           HasSubstr(bulk("nidus.retired"))));
  std::size_t names_and_values = 0;
  for (const char c : reply) names_and_values += c == '$' || c == ':' || c == '*' ? 1u : 0u;
  // All but the outer array's own mark and the four of db.0's map: name, header, name, value.
  EXPECT_EQ(names_and_values - 1 - 2, 38u);
  EXPECT_THAT(server({"memory", "doctor"}), StartsWith("-ERR MEMORY DOCTOR is not supported"));
}

}  // namespace
}  // namespace nidus::command

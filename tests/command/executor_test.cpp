// SPDX-License-Identifier: Apache-2.0

// What the executor does around the handlers: look-up, arity, authentication, transactions' queue,
// CLIENT REPLY, the limit of the output, room in memory.

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
using testing::kQueued;
using testing::World;

class ExecutorTest : public ::testing::Test {
 protected:
  World world_;
  Client client_{world_};
};

TEST_F(ExecutorTest, FindsACommandInAnyCase) {
  EXPECT_EQ(find_command("GeT"), find_command("get"));
  ASSERT_NE(find_command("INCRBYFLOAT"), nullptr);
  EXPECT_EQ(find_command("INCRBYFLOAT")->name, "incrbyfloat");
}

TEST_F(ExecutorTest, ABrowsersRequestEndsTheConnectionBeforeWhatFollows) {
  for (const char* first : {"POST / HTTP/1.1\r\n", "post / HTTP/1.1\r\n", "Host: x\r\n",
                            "*2\r\n$4\r\nPOST\r\n$1\r\n/\r\n"}) {
    Client victim(world_, 7);
    EXPECT_EQ(client_({"SET", "k", "v"}), kOk);
    EXPECT_EQ(victim.bytes(std::string(first) + "FLUSHALL\r\n"), "") << first;
    EXPECT_TRUE(victim.session.close_after_reply) << first;
    EXPECT_EQ(client_({"EXISTS", "k"}), testing::integer(1)) << first;
  }
}

TEST_F(ExecutorTest, StoppingEndsABatchBeforeItsNextCommand) {
  Executor executor(world_.keyspace, world_.services);
  Session session;
  session.authenticated = true;
  resp::Parser parser;
  resp::RequestBatch batch;
  resp::OutputBuffer out;
  parser.parse("INCR a\r\nINCR a\r\nINCR a\r\n", {}, batch);
  executor.stop();
  EXPECT_EQ(executor.run(session, batch, 0, out, 1 << 20, world_.now), 1u);
  EXPECT_EQ(out.view(), ":1\r\n");
  EXPECT_TRUE(session.close_after_reply);
}

TEST_F(ExecutorTest, FindsEveryCommandOfTheTableAndNothingElse) {
  for (const CommandSpec* spec : all_commands()) {
    EXPECT_EQ(find_command(spec->name), spec);
    EXPECT_EQ(find_command(std::string(spec->name) + "\0"s), nullptr) << spec->name;
    EXPECT_EQ(find_command(std::string(spec->name) + "x"), nullptr) << spec->name;
  }
  // Bytes that differ from a letter or '_' only in the bit of the case are other names.
  for (const std::string& name : {"bitfield\x7fro"s, "\0"s, ""s, std::string(17, 'a'), "g\xc5t"s}) {
    EXPECT_EQ(find_command(name), nullptr);
  }
}

TEST_F(ExecutorTest, EveryCommandIsDocumentedAndCanRun) {
  for (const CommandSpec* spec : all_commands()) {
    EXPECT_TRUE(spec->handler != nullptr || !spec->subcommands.empty()) << spec->name;
    EXPECT_FALSE(spec->summary.empty()) << spec->name;
    EXPECT_FALSE(spec->group.empty()) << spec->name;
    EXPECT_EQ(spec->keys.first == 0, spec->keys.step == 0) << spec->name;
  }
}

TEST_F(ExecutorTest, UnknownCommandQuotesItsFirstArguments) {
  EXPECT_EQ(client_({"NoSuch", "a", "b\r\nc"}),
            error("ERR unknown command 'NoSuch', with args beginning with: 'a' 'b  c' "));
  EXPECT_EQ(client_({"nosuch"}), error("ERR unknown command 'nosuch', with args beginning with: "));
  const std::string longer(200, 'x');
  EXPECT_EQ(client_({longer, longer, "never quoted"}),
            error("ERR unknown command '" + longer.substr(0, 128) +
                  "', with args beginning with: '" + longer.substr(0, 128) + "' "));
}

TEST_F(ExecutorTest, WrongArityNamesTheCommand) {
  EXPECT_EQ(client_({"GET"}), error("ERR wrong number of arguments for 'get' command"));
  EXPECT_EQ(client_({"get", "a", "b"}), error("ERR wrong number of arguments for 'get' command"));
}

TEST_F(ExecutorTest, RunsAPipelineLongerThanItsWindowInOrder) {
  std::vector<std::vector<std::string>> requests;
  std::string expected;
  for (int i = 0; i < 500; ++i) {
    requests.push_back({"INCR", "n"});
    requests.push_back({"MGET", "n", "absent", "n"});
    const std::string value = bulk(std::to_string(i + 1));
    expected += integer(i + 1) + "*3\r\n" + value + kNull + value;
  }
  EXPECT_EQ(client_.send(requests), expected);
}

TEST_F(ExecutorTest, RequestWithMoreKeysThanAWindowHolds) {
  std::vector<std::string> set = {"MSET"}, get = {"MGET"};
  std::string expected = "*1000\r\n";
  for (int i = 0; i < 1000; ++i) {
    set.insert(set.end(), {"k" + std::to_string(i), std::to_string(i)});
    get.push_back("k" + std::to_string(i));
    expected += bulk(std::to_string(i));
  }
  EXPECT_EQ(client_.send({set, get, {"GET", "k999"}}), kOk + expected + bulk("999"));
}

TEST_F(ExecutorTest, StopsAtTheLimitOfTheOutputAndGoesOn) {
  client_({"SET", "k", std::string(100, 'v')});
  client_.output_limit_bytes = 150;
  const std::string one = bulk(std::string(100, 'v'));
  EXPECT_EQ(client_.send({{"GET", "k"}, {"GET", "k"}, {"GET", "k"}}), one + one + one);
  EXPECT_EQ(client_.runs, 2u);
}

TEST_F(ExecutorTest, NothingRunsBehindAClosingReply) {
  EXPECT_EQ(client_.send({{"QUIT"}, {"SET", "k", "v"}}), kOk);
  Client other(world_, 2);
  EXPECT_EQ(other({"GET", "k"}), kNull);
}

TEST_F(ExecutorTest, UnauthenticatedClientMayOnlyAuthenticate) {
  world_.services.password = "secret";
  Client stranger(world_, 2);
  const std::string refused = error("NOAUTH Authentication required.");
  EXPECT_EQ(stranger({"GET", "k"}), refused);
  EXPECT_EQ(stranger({"SET", "k", "v"}), refused);
  EXPECT_EQ(stranger({"AUTH", "secret"}), kOk);
  EXPECT_EQ(stranger({"GET", "k"}), kNull);
}

TEST_F(ExecutorTest, RefusedRequestFailsTheTransaction) {
  for (const std::vector<std::string>& unfit :
       {std::vector<std::string>{"GET"}, std::vector<std::string>{"nosuch"}}) {
    EXPECT_EQ(client_({"MULTI"}), kOk);
    EXPECT_EQ(client_({"SET", "k", "v"}), kQueued);
    EXPECT_EQ(client_(unfit).substr(0, 5), "-ERR ");
    EXPECT_EQ(client_({"SET", "k", "v"}), kQueued);
    EXPECT_EQ(client_({"EXEC"}),
              error("EXECABORT Transaction discarded because of previous errors."));
    EXPECT_EQ(client_({"GET", "k"}), kNull);
  }
}

TEST_F(ExecutorTest, UnfitExecEndsTheTransaction) {
  EXPECT_EQ(client_({"MULTI"}), kOk);
  EXPECT_EQ(
      client_({"EXEC", "now"}),
      error("EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' "
            "command"));
  EXPECT_EQ(client_({"GET", "k"}), kNull);
}

TEST_F(ExecutorTest, QueuedRequestRunsWithItsOwnCopyOfTheArguments) {
  EXPECT_EQ(client_.bytes("*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"),
            kOk + kQueued);
  EXPECT_EQ(client_({"EXEC"}), "*1\r\n" + kOk);
  EXPECT_EQ(client_({"GET", "k"}), bulk("v"));
}

TEST_F(ExecutorTest, ReplyOffSilencesAndOnSpeaksAgain) {
  EXPECT_EQ(client_({"CLIENT", "REPLY", "OFF"}), "");
  EXPECT_EQ(client_.send({{"SET", "k", "v"}, {"GET", "k"}, {"nosuch"}}), "");
  EXPECT_EQ(client_({"CLIENT", "REPLY", "ON"}), kOk);
  EXPECT_EQ(client_({"GET", "k"}), bulk("v"));
}

TEST_F(ExecutorTest, ReplySkipSilencesOneRequest) {
  EXPECT_EQ(client_.send({{"CLIENT", "REPLY", "SKIP"}, {"SET", "k", "v"}, {"GET", "k"}}),
            bulk("v"));
  EXPECT_EQ(client_.send({{"CLIENT", "REPLY", "SKIP"},
                          {"CLIENT", "REPLY", "SKIP"},
                          {"GET", "k"},
                          {"STRLEN", "k"}}),
            integer(1));
}

TEST_F(ExecutorTest, FullMemoryRefusesWhatMayGrowAndNothingElse) {
  client_({"SET", "k", std::string(1000, 'v')});
  world_.keyspace.set_memory_limit(1);
  const std::string refused = error("OOM command not allowed when used memory > 'maxmemory'.");
  EXPECT_EQ(client_({"SET", "other", "v"}), refused);
  EXPECT_EQ(client_({"STRLEN", "k"}), integer(1000));
  EXPECT_EQ(client_({"MULTI"}), kOk);
  EXPECT_EQ(client_({"STRLEN", "k"}), refused);
  EXPECT_EQ(client_({"EXEC"}),
            error("EXECABORT Transaction discarded because of previous errors."));
  world_.keyspace.set_memory_limit(0);
  EXPECT_EQ(client_({"SET", "other", "v"}), kOk);
}

TEST_F(ExecutorTest, CountsRequestsAndRemembersTheLast) {
  client_.send({{"GET", "k"}, {"CLIENT", "ID"}});
  EXPECT_EQ(client_.session.commands, 2u);
  EXPECT_EQ(client_.session.last_command->name, "client");
  EXPECT_EQ(client_.session.last_subcommand, "id");
}

}  // namespace
}  // namespace nidus::command

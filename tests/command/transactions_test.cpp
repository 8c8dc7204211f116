// SPDX-License-Identifier: Apache-2.0

// MULTI, EXEC, DISCARD, WATCH, UNWATCH: the replies, what makes EXEC refuse, and that a transaction
// is one moment for everybody else.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "harness.hpp"

namespace nidus::command {
namespace {

using namespace testing;

const std::string kAborted = "*-1\r\n";

class Transactions : public ::testing::Test {
 protected:
  World world;
  Client client{world};
  Client other{world, 2};
};

TEST_F(Transactions, ExecRunsTheQueueInOrder) {
  EXPECT_EQ(client({"MULTI"}), kOk);
  EXPECT_EQ(client({"SET", "a", "1"}), kQueued);
  EXPECT_EQ(client({"INCR", "a"}), kQueued);
  EXPECT_EQ(client({"GET", "a"}), kQueued);
  EXPECT_EQ(other({"GET", "a"}), kNull);
  EXPECT_EQ(client({"EXEC"}), "*3\r\n" + kOk + integer(2) + bulk("2"));
  EXPECT_EQ(client({"MULTI"}), kOk);
  EXPECT_EQ(client({"EXEC"}), "*0\r\n");
}

TEST_F(Transactions, AQueueAboveItsLimitFailsTheTransactionAndHoldsNothing) {
  client.session.queue_limit_bytes = 10'000;
  EXPECT_EQ(client({"MULTI"}), kOk);
  EXPECT_EQ(client({"SET", "a", std::string(5'000, 'x')}), kQueued);
  EXPECT_GT(client.session.queued_bytes, 5'000u);
  EXPECT_EQ(client({"SET", "b", std::string(5'000, 'x')}),
            error("ERR the transaction is larger than the query buffer limit"));
  EXPECT_EQ(client.session.queued_bytes, 0u);
  EXPECT_EQ(client({"EXEC"}),
            error("EXECABORT Transaction discarded because of previous errors."));
  EXPECT_EQ(client({"EXISTS", "a", "b"}), integer(0));
}

TEST_F(Transactions, AnEvictingPolicyHoldsTheLimitWithinATransaction) {
  constexpr std::size_t kLimit = 4 << 20;
  world.keyspace.set_policy(engine::Policy::kAllKeysLru);
  world.keyspace.set_memory_limit(kLimit);
  EXPECT_EQ(client({"MULTI"}), kOk);
  for (int i = 0; i < 200; ++i) {
    client({"SET", "key" + std::to_string(i), std::string(100'000, 'x')});
  }
  const std::string replies = client({"EXEC"});
  EXPECT_TRUE(replies.starts_with("*200\r\n+OK\r\n"));
  EXPECT_LE(world.keyspace.memory().live_bytes(), kLimit + kLimit / 50);
  EXPECT_GE(world.keyspace.stats().evicted, 150u);
}

TEST_F(Transactions, ABitfieldThatChangesNothingIsNoWrite) {
  for (const char* number : {"256", "255"}) {
    EXPECT_EQ(client({"SET", "k", "0"}), kOk);
    EXPECT_EQ(client({"WATCH", "k"}), kOk);
    EXPECT_EQ(other({"BITFIELD", "k", "INCRBY", "u8", "0", number}),
              "*1\r\n" + integer(number == std::string("256") ? 48 : 47));
    EXPECT_EQ(client({"MULTI"}), kOk);
    EXPECT_EQ(client({"STRLEN", "k"}), kQueued);
    EXPECT_EQ(client({"EXEC"}), number == std::string("256") ? "*1\r\n" + integer(1) : kAborted);
  }
}

TEST_F(Transactions, CommandsOutOfPlaceAreErrors) {
  EXPECT_EQ(client({"EXEC"}), error("ERR EXEC without MULTI"));
  EXPECT_EQ(client({"DISCARD"}), error("ERR DISCARD without MULTI"));
  client({"MULTI"});
  EXPECT_EQ(client({"MULTI"}), error("ERR MULTI calls can not be nested"));
  EXPECT_EQ(client({"WATCH", "a"}), error("ERR WATCH inside MULTI is not allowed"));
  EXPECT_EQ(client({"EXEC"}), "*0\r\n");
}

TEST_F(Transactions, ARequestThatCannotBeQueuedMakesExecRefuse) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"NOSUCH"}, std::vector<std::string>{"GET"}}) {
    client({"MULTI"});
    client({"SET", "a", "1"});
    EXPECT_EQ(client(wrong)[0], '-');
    EXPECT_EQ(client({"EXEC"}),
              error("EXECABORT Transaction discarded because of previous errors."));
    EXPECT_EQ(client({"EXISTS", "a"}), integer(0));
  }
}

TEST_F(Transactions, ARequestThatFailsWhenRunDoesNotStopTheOthers) {
  client({"MULTI"});
  client({"SET", "a", "x"});
  client({"INCR", "a"});
  client({"SET", "b", "1"});
  EXPECT_EQ(client({"EXEC"}),
            "*3\r\n" + kOk + error("ERR value is not an integer or out of range") + kOk);
  EXPECT_EQ(client({"GET", "b"}), bulk("1"));
}

TEST_F(Transactions, DiscardDropsQueueAndWatches) {
  client({"WATCH", "a"});
  client({"MULTI"});
  client({"SET", "b", "1"});
  EXPECT_EQ(client({"DISCARD"}), kOk);
  other({"SET", "a", "2"});
  client({"MULTI"});
  EXPECT_EQ(client({"EXEC"}), "*0\r\n");
  EXPECT_EQ(client({"EXISTS", "b"}), integer(0));
}

TEST_F(Transactions, AWriteToAWatchedKeyMakesExecReplyNull) {
  client({"WATCH", "a", "b"});
  other({"SET", "b", "1"});
  client({"MULTI"});
  client({"SET", "c", "1"});
  EXPECT_EQ(client({"EXEC"}), kAborted);
  EXPECT_EQ(client({"EXISTS", "c"}), integer(0));
  client({"MULTI"});
  EXPECT_EQ(client({"EXEC"}), "*0\r\n");
}

TEST_F(Transactions, EveryKindOfWriteCounts) {
  const std::vector<std::vector<std::string>> writes = {
      {"SET", "w", "2"},  {"DEL", "w"},         {"APPEND", "w", "x"}, {"EXPIRE", "w", "100"},
      {"INCR", "w"},      {"RENAME", "w", "v"}, {"GETDEL", "w"},      {"COPY", "s", "w", "REPLACE"},
      {"MOVE", "w", "1"}, {"RENAME", "s", "w"}, {"MSET", "w", "1"},   {"PEXPIREAT", "w", "1"}};
  for (const auto& write : writes) {
    client({"MSET", "w", "1", "s", "5"});
    client({"WATCH", "w"});
    other(write);
    client({"MULTI"});
    EXPECT_EQ(client({"EXEC"}), kAborted) << write[0];
    other({"SELECT", "1"});
    other({"DEL", "w"});
    other({"SELECT", "0"});
  }
}

TEST_F(Transactions, ReadsAndWritesThatChangeNothingDoNotCount) {
  client({"SET", "w", "1"});
  client({"WATCH", "w", "none"});
  other({"GET", "w"});
  other({"DEL", "none"});
  other({"PERSIST", "w"});
  other({"SET", "w", "2", "NX"});
  other({"SET", "other", "2"});
  client({"MULTI"});
  EXPECT_EQ(client({"EXEC"}), "*0\r\n");
}

TEST_F(Transactions, OnesOwnWriteCountsToo) {
  client({"WATCH", "w"});
  client({"SET", "w", "1"});
  client({"MULTI"});
  EXPECT_EQ(client({"EXEC"}), kAborted);
}

TEST_F(Transactions, UnwatchForgets) {
  client({"WATCH", "w"});
  other({"SET", "w", "1"});
  EXPECT_EQ(client({"UNWATCH"}), kOk);
  client({"MULTI"});
  EXPECT_EQ(client({"UNWATCH"}), kQueued);
  EXPECT_EQ(client({"EXEC"}), "*1\r\n" + kOk);
}

TEST_F(Transactions, AWatchIsOnOneDatabase) {
  client({"WATCH", "w"});
  other({"SELECT", "1"});
  other({"SET", "w", "1"});
  client({"MULTI"});
  EXPECT_EQ(client({"EXEC"}), "*0\r\n");
}

TEST_F(Transactions, AWatchedKeyThatExpiresMakesExecReplyNull) {
  client({"SET", "w", "1", "PX", "100"});
  client({"WATCH", "w"});
  world.now += 100;
  client({"MULTI"});
  EXPECT_EQ(client({"EXEC"}), kAborted);
}

TEST_F(Transactions, AKeyThatHadExpiredWhenWatchedIsNoChange) {
  client({"SET", "w", "1", "PX", "100"});
  world.now += 100;
  client({"WATCH", "w"});
  world.keyspace.maintain(world.now, 1000);
  other({"GET", "w"});
  client({"MULTI"});
  EXPECT_EQ(client({"EXEC"}), "*0\r\n");
}

TEST_F(Transactions, SelectCountsForWhatFollowsIt) {
  client({"MULTI"});
  client({"SELECT", "2"});
  client({"SET", "a", "two"});
  client({"COPY", "a", "a", "DB", "3"});
  client({"MOVE", "a", "4"});
  EXPECT_EQ(client({"EXEC"}), "*4\r\n" + kOk + kOk + integer(1) + integer(1));
  EXPECT_EQ(client.session.database, 2);
  client({"SELECT", "3"});
  EXPECT_EQ(client({"GET", "a"}), bulk("two"));
  client({"SELECT", "4"});
  EXPECT_EQ(client({"GET", "a"}), bulk("two"));
}

TEST_F(Transactions, CommandsOnTheWholeDatabaseRunInOne) {
  client({"MULTI"});
  client({"SET", "a", "1"});
  client({"DBSIZE"});
  client({"KEYS", "*"});
  client({"SCAN", "0"});
  client({"RANDOMKEY"});
  client({"PING"});
  EXPECT_EQ(client({"EXEC"}), "*6\r\n" + kOk + integer(1) + "*1\r\n" + bulk("a") + "*2\r\n" +
                                  bulk("0") + "*1\r\n" + bulk("a") + bulk("a") + "+PONG\r\n");
}

TEST_F(Transactions, InResp3AnAbortedExecIsTheNullType) {
  client({"HELLO", "3"});
  client({"WATCH", "w"});
  other({"SET", "w", "1"});
  client({"MULTI"});
  EXPECT_EQ(client({"EXEC"}), "_\r\n");
}

TEST_F(Transactions, ResetLeavesTheTransaction) {
  client({"WATCH", "w"});
  client({"MULTI"});
  client({"SET", "a", "1"});
  EXPECT_EQ(client({"RESET"}), "+RESET\r\n");
  EXPECT_EQ(client({"EXEC"}), error("ERR EXEC without MULTI"));
  other({"SET", "w", "1"});
  client({"MULTI"});
  EXPECT_EQ(client({"EXEC"}), "*0\r\n");
}

// Two accounts; transfers go both ways, an observer reads both: the sum never changes.
TEST_F(Transactions, NobodySeesHalfOfATransaction) {
  client({"MSET", "left", "1000", "right", "1000"});
  std::atomic<bool> stop{false};
  const auto transfer = [&](std::string from, std::string to, std::uint64_t id) {
    const engine::ThreadScope scope;
    Client mover(world, id);
    for (int i = 0; i < 3000; ++i) {
      mover.send({{"MULTI"}, {"DECR", from}, {"INCR", to}, {"EXEC"}});
    }
  };
  const auto rename = [&] {  // grows and shrinks the table beside
    const engine::ThreadScope scope;
    Client writer(world, 30);
    for (int i = 0; i < 20'000; ++i) writer({"SET", "key:" + std::to_string(i), "v"});
  };
  int wrong = 0;
  const auto observe = [&] {
    const engine::ThreadScope scope;
    Client observer(world, 20);
    while (!stop) {
      const std::string reply = observer({"MGET", "left", "right"});
      const std::size_t left = reply.find("\r\n", 4) + 2;
      const std::size_t right = reply.find("\r\n", reply.find('$', left)) + 2;
      wrong += std::stoi(reply.substr(left)) + std::stoi(reply.substr(right)) == 2000 ? 0 : 1;
    }
  };
  std::thread observer(observe);
  std::vector<std::thread> threads;
  threads.emplace_back(transfer, "left", "right", 10);
  threads.emplace_back(transfer, "right", "left", 11);
  threads.emplace_back(rename);
  engine::ThreadScope::offline();
  for (std::thread& thread : threads) thread.join();
  stop = true;
  observer.join();
  engine::ThreadScope::online();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(client({"MGET", "left", "right"}), "*2\r\n" + bulk("1000") + bulk("1000"));
}

// Optimistic locking: of all increments by WATCH, GET, MULTI, SET, EXEC none is lost.
TEST_F(Transactions, NoIncrementIsLostBetweenWatchAndExec) {
  client({"SET", "n", "0"});
  constexpr int kThreads = 3;
  constexpr int kIncrements = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const engine::ThreadScope scope;
      Client adder(world, static_cast<std::uint64_t>(100 + t));
      for (int done = 0; done < kIncrements;) {
        adder({"WATCH", "n"});
        const std::string reply = adder({"GET", "n"});
        const int n = std::stoi(reply.substr(reply.find("\r\n") + 2));
        const std::string end =
            adder.send({{"MULTI"}, {"SET", "n", std::to_string(n + 1)}, {"EXEC"}});
        if (end.ends_with("*1\r\n+OK\r\n")) ++done;
      }
    });
  }
  engine::ThreadScope::offline();
  for (std::thread& thread : threads) thread.join();
  engine::ThreadScope::online();
  EXPECT_EQ(client({"GET", "n"}), bulk(std::to_string(kThreads * kIncrements)));
}

}  // namespace
}  // namespace nidus::command

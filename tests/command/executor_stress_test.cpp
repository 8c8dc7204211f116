// SPDX-License-Identifier: Apache-2.0

// Commands of several threads on the same keys: no update is lost, and no reader sees half of a
// command that writes several keys. Values check themselves. Each scaffold first runs with one
// thread, then with four.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "harness.hpp"

namespace nidus::command {
namespace {

using testing::Client;
using testing::integer;
using testing::kOk;
using testing::World;

// Long enough for the threads to overlap, also where a thread's start takes a millisecond.
constexpr int kRounds = 20'000;
constexpr int kCopyingRounds = 2000;  // each copies a value that grows to some kilobytes

/// Runs body(client, number) on each of n threads, all registered with the engine.
template <class Body>
void on_threads(World& world, int n, Body&& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) {
    threads.emplace_back([&world, &body, i] {
      const engine::ThreadScope scope;
      Client client(world, static_cast<std::uint64_t>(i) + 2);
      body(client, i);
    });
  }
  // The waiting thread holds nothing of the engine: memory is reclaimed without it.
  engine::ThreadScope::offline();
  for (std::thread& thread : threads) thread.join();
  engine::ThreadScope::online();
}

class ExecutorStress : public ::testing::TestWithParam<int> {};

TEST_P(ExecutorStress, NoIncrementIsLost) {
  World world;
  on_threads(world, GetParam(), [](Client& client, int) {
    for (int i = 0; i < kCopyingRounds; ++i) {
      client.send({{"INCR", "n"},
                   {"APPEND", "bytes", "x"},
                   {"SETBIT", "bits", "5", "1"},
                   {"BITFIELD", "field", "INCRBY", "u32", "0", "1"}});
    }
  });
  const int total = GetParam() * kCopyingRounds;
  Client client(world);
  EXPECT_EQ(client({"INCRBY", "n", "0"}), integer(total));
  EXPECT_EQ(client({"STRLEN", "bytes"}), integer(total));
  EXPECT_EQ(client({"BITFIELD_RO", "field", "GET", "u32", "0"}), "*1\r\n" + integer(total));
}

TEST_P(ExecutorStress, ManyKeysAreWrittenAndReadAtOneMoment) {
  World world;
  Client writer(world);
  writer({"MSET", "a", "0", "b", "0", "c", "0", "d", "0"});
  std::atomic<int> torn = 0;
  on_threads(world, GetParam(), [&torn](Client& client, int number) {
    for (int i = 0; i < kRounds; ++i) {
      const std::string value = std::to_string(number * kRounds + i);
      // Each thread names the keys in an order of its own.
      if (number % 2 == 0) client({"MSET", "a", value, "b", value, "c", value, "d", value});
      if (number % 2 == 1) client({"MSET", "d", value, "c", value, "b", value, "a", value});
      const std::string seen = client({"MGET", "b", "d", "a", "c"});
      // Four equal bulks behind "*4\r\n".
      const std::size_t one = (seen.size() - 4) / 4;
      for (std::size_t at = 4 + one; at < seen.size(); at += one) {
        if (seen.compare(at, one, seen, 4, one) != 0) {
          ++torn;
          break;
        }
      }
    }
  });
  EXPECT_EQ(torn, 0);
}

TEST_P(ExecutorStress, OnlyOneClientGetsAllOfMsetnx) {
  World world;
  std::atomic<int> winners = 0;
  on_threads(world, GetParam(), [&winners](Client& client, int number) {
    for (int i = 0; i < kRounds; ++i) {
      const std::string x = "x" + std::to_string(i), y = "y" + std::to_string(i);
      const std::string me = std::to_string(number);
      if (client({"MSETNX", number % 2 == 0 ? x : y, me, number % 2 == 0 ? y : x, me}) ==
          ":1\r\n") {
        ++winners;
      }
    }
  });
  EXPECT_EQ(winners, kRounds);
  Client client(world);
  for (int i = 0; i < kRounds; ++i) {
    const std::string n = std::to_string(i);
    EXPECT_EQ(client({"GET", "x" + n}), client({"GET", "y" + n}));
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, ExecutorStress, ::testing::Values(1, 4));

}  // namespace
}  // namespace nidus::command

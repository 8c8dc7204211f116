// SPDX-License-Identifier: Apache-2.0

// A counter with a shard a thread.

#include <nidus/sync/sharded_counter.hpp>

#include <barrier>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace nidus::sync {
namespace {

TEST(ShardedCounter, SumsWhatAllThreadsAdded) {
  ShardedCounter counter;
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10'000; ++i) counter.add(t);
      counter.add(-t);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(counter.sum(), (10'000 - 1) * (1 + 2 + 3 + 4));
}

TEST(ShardedCounter, MoreThreadsThanShardsLoseNothing) {
  constexpr std::size_t kThreads = ShardedCounter::kShards + 16;
  ShardedCounter counter;
  std::barrier together(static_cast<std::ptrdiff_t>(kThreads));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      (void)thread_index();
      together.arrive_and_wait();  // all live at once, so some have no shard of their own
      for (int i = 0; i < 1'000; ++i) counter.add(1);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(counter.sum(), static_cast<std::int64_t>(kThreads) * 1'000);
}

TEST(ShardedCounter, CountsFromZeroAfterAReset) {
  ShardedCounter counter;
  counter.add(41);
  std::thread([&] { counter.add(1); }).join();
  counter.reset();
  EXPECT_EQ(counter.sum(), 0);
  counter.add(5);
  EXPECT_EQ(counter.sum(), 5);
}

}  // namespace
}  // namespace nidus::sync

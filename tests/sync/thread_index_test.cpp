// SPDX-License-Identifier: Apache-2.0

// Small numbers for threads.

#include <nidus/sync/thread_index.hpp>

#include <barrier>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace nidus::sync {
namespace {

TEST(ThreadIndex, IsAtLeastOneAndStaysTheSame) {
  const std::uint32_t mine = thread_index();
  EXPECT_GE(mine, 1u);
  EXPECT_EQ(thread_index(), mine);
}

TEST(ThreadIndex, IsUniqueAmongLivingThreads) {
  constexpr int kThreads = 16;
  const std::uint32_t mine = thread_index();  // asked for first: a thread that ends gives its back
  std::barrier together(kThreads);
  std::vector<std::uint32_t> indexes(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      indexes[i] = thread_index();
      together.arrive_and_wait();
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<std::uint32_t> unique(indexes.begin(), indexes.end());
  unique.insert(mine);
  EXPECT_EQ(unique.size(), kThreads + 1u);
}

TEST(ThreadIndex, IsUsedAgainAfterAThreadEnds) {
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 100; ++i) std::thread([&] { seen.insert(thread_index()); }).join();
  EXPECT_EQ(seen.size(), 1u);
}

}  // namespace
}  // namespace nidus::sync

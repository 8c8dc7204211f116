// SPDX-License-Identifier: Apache-2.0

// Reclaiming: nothing is freed while a thread may hold it, everything is freed afterwards.

#include "engine/thread.hpp"

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace nidus::engine {
namespace {

std::atomic<int> freed{0};

void retire_one() {
  retire(new int(7), 4, [](void* object) {
    delete static_cast<int*>(object);
    ++freed;
  });
}

class Reclaim : public testing::Test {
 protected:
  void SetUp() override {
    const ThreadScope scope;
    reclaim_now();  // what earlier tests left
    freed = 0;
  }
};

TEST_F(Reclaim, FreesWhatWasRetiredAndCountsIt) {
  const ThreadScope scope;
  const std::size_t before = retired_bytes();
  for (int i = 0; i < 10; ++i) retire_one();
  EXPECT_EQ(freed, 0);
  EXPECT_EQ(retired_bytes(), before + 40);
  reclaim_now();
  EXPECT_EQ(freed, 10);
  EXPECT_EQ(retired_bytes(), before);
}

TEST_F(Reclaim, WaitsForEveryReader) {
  std::latch reading(1), release(1);
  std::thread reader([&] {
    const ThreadScope scope;
    reading.count_down();
    release.wait();  // holds whatever it has read
  });
  reading.wait();
  std::atomic<bool> reclaimed{false};
  std::thread writer([&] {
    const ThreadScope scope;
    retire_one();
    reclaim_now();
    reclaimed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(reclaimed);
  EXPECT_EQ(freed, 0);
  release.count_down();
  reader.join();
  writer.join();
  EXPECT_EQ(freed, 1);
}

TEST_F(Reclaim, AnOfflineThreadHoldsNothingUp) {
  std::latch offline(1), release(1);
  std::thread sleeper([&] {
    const ThreadScope scope;
    ThreadScope::offline();
    offline.count_down();
    release.wait();
    ThreadScope::online();
  });
  offline.wait();
  {
    const ThreadScope scope;
    retire_one();
    reclaim_now();
    EXPECT_EQ(freed, 1);
  }
  release.count_down();
  sleeper.join();
}

TEST_F(Reclaim, QuiescentStatesFreeFullBatches) {
  const ThreadScope scope;
  for (int i = 0; i < 10'000; ++i) retire_one();
  for (int i = 0; i < 2'000 && freed < 9'000; ++i) {
    ThreadScope::quiescent();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GE(freed, 9'000);
  reclaim_now();
  EXPECT_EQ(freed, 10'000);
}

TEST_F(Reclaim, AThreadThatEndsLeavesNothing) {
  const std::size_t before = retired_bytes();
  std::thread([&] {
    const ThreadScope scope;
    for (int i = 0; i < 1'000; ++i) retire_one();
  }).join();
  for (int i = 0; i < 2'000 && freed < 1'000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(freed, 1'000);
  EXPECT_EQ(retired_bytes(), before);
}

TEST_F(Reclaim, AThreadMayLeaveAndComeBack) {
  for (int round = 0; round < 50; ++round) {
    const ThreadScope outer;
    const ThreadScope inner;
    for (int i = 0; i < 300; ++i) retire_one();
    ThreadScope::quiescent();
  }
  const ThreadScope scope;
  reclaim_now();
  for (int i = 0; i < 2'000 && freed < 15'000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ThreadScope::quiescent();
  }
  EXPECT_EQ(freed, 15'000);
}

TEST_F(Reclaim, ManyThreadsRetireAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      const ThreadScope scope;
      for (int i = 0; i < 20'000; ++i) {
        retire_one();
        if (i % 16 == 0) ThreadScope::quiescent();
        if (i % 5'000 == 0) reclaim_now();
      }
      reclaim_now();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(freed, 80'000);
}

}  // namespace
}  // namespace nidus::engine

// SPDX-License-Identifier: Apache-2.0

// The memory of items: places do not overlap, sizes are kept apart, blocks go back, and threads may
// free each other's items.

#include "engine/item_arena.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <nidus/base/platform.hpp>

namespace nidus::engine {
namespace {

struct Held {
  char* at;
  std::size_t bytes;
  unsigned char mark;
};

Held make(std::size_t bytes, unsigned char mark) {
  auto* at = static_cast<char*>(allocate_item(bytes));
  std::memset(at, mark, bytes);
  return {at, bytes, mark};
}

bool intact(const Held& held) {
  return std::all_of(held.at, held.at + held.bytes,
                     [&](char c) { return static_cast<unsigned char>(c) == held.mark; });
}

TEST(ItemArena, EverySizeGetsAlignedBytesOfItsOwn) {
  std::vector<Held> held;
  for (std::size_t bytes = 8; bytes <= 1100; ++bytes) {
    for (int copy = 0; copy < 3; ++copy) {
      held.push_back(
          make(bytes, static_cast<unsigned char>(bytes * 7 + static_cast<std::size_t>(copy))));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(held.back().at) % 8, 0u);
      EXPECT_GE(item_allocation_bytes(bytes), bytes);
    }
  }
  for (const Held& one : held) {
    EXPECT_TRUE(intact(one)) << one.bytes;
    free_item(one.at, one.bytes);
  }
}

TEST(ItemArena, SmallItemsAreRoundedToEightBytes) {
  for (std::size_t bytes = 8; bytes <= 512; ++bytes) {
    EXPECT_EQ(item_allocation_bytes(bytes), (bytes + 7) / 8 * 8);
  }
}

TEST(ItemArena, RandomAllocationsAndFreesKeepEveryByte) {
  std::mt19937_64 random(3);
  std::vector<Held> held;
  for (int step = 0; step < 200'000; ++step) {
    if (held.empty() || random() % 100 < (step < 100'000 ? 60 : 40)) {
      held.push_back(make(8 + random() % 200, static_cast<unsigned char>(random())));
      continue;
    }
    std::swap(held[random() % held.size()], held.back());
    ASSERT_TRUE(intact(held.back()));
    free_item(held.back().at, held.back().bytes);
    held.pop_back();
  }
  for (const Held& one : held) {
    ASSERT_TRUE(intact(one));
    free_item(one.at, one.bytes);
  }
}

TEST(ItemArena, EmptyBlocksGoBack) {
  const std::size_t before = item_block_bytes();
  std::vector<Held> held;
  for (int i = 0; i < 100'000; ++i) held.push_back(make(56, 1));
  const std::size_t full = item_block_bytes();
  if (NIDUS_CHECKED_ALLOCATION == 0) {
    // 291 items of 56 bytes fit into a block.
    EXPECT_GE(full - before, 100'000u * 56);
    EXPECT_LE(full - before, 100'000u * 57);
  }
  std::mt19937_64 random(4);
  std::shuffle(held.begin(), held.end(), random);
  for (const Held& one : held) free_item(one.at, one.bytes);
  EXPECT_LE(item_block_bytes(), before + (16 << 10));  // the current block stays
}

TEST(ItemArena, ThreadsMayFreeEachOthersItems) {
  constexpr int kRounds = 20;
  constexpr std::size_t kItems = 5000;
  std::vector<Held> mine, theirs;
  for (int round = 0; round < kRounds; ++round) {
    const auto work = [round](std::vector<Held>& held, unsigned char salt) {
      std::mt19937_64 random(static_cast<std::uint64_t>(round) * 2 + salt);
      bool good = true;
      for (const Held& one : held) {
        good = good && intact(one);
        free_item(one.at, one.bytes);
      }
      held.clear();
      for (std::size_t i = 0; i < kItems; ++i) {
        held.push_back(make(8 + random() % 100, static_cast<unsigned char>(random() ^ salt)));
      }
      EXPECT_TRUE(good);
    };
    std::swap(mine, theirs);  // each frees what the other made
    std::thread a([&] { work(mine, 0); });
    std::thread b([&] { work(theirs, 1); });
    a.join();
    b.join();
  }
  for (const auto* all : {&mine, &theirs}) {
    for (const Held& one : *all) free_item(one.at, one.bytes);
  }
}

}  // namespace
}  // namespace nidus::engine

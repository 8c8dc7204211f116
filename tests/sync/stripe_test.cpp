// SPDX-License-Identifier: Apache-2.0

// A stripe: one writer, versions for readers, exclusive holds, the end of what it guards.

#include <nidus/sync/stripe.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace nidus::sync {
namespace {

TEST(Stripe, ATicketHoldsWhileNothingChanges) {
  const Stripe stripe;
  const auto ticket = stripe.ticket();
  EXPECT_TRUE(stripe.still_valid(ticket));
  EXPECT_FALSE(Stripe::dead(ticket));
}

TEST(Stripe, AWriteEndsOldTickets) {
  Stripe stripe;
  const auto ticket = stripe.ticket();
  stripe.lock();
  EXPECT_TRUE(stripe.still_valid(ticket)) << "nothing has been changed yet";
  stripe.unlock();
  EXPECT_FALSE(stripe.still_valid(ticket));
  EXPECT_TRUE(stripe.still_valid(stripe.ticket()));
}

TEST(Stripe, AHoldWithoutChangeLeavesTicketsValid) {
  Stripe stripe;
  const auto ticket = stripe.ticket();
  stripe.lock();
  stripe.unlock_unchanged();
  EXPECT_TRUE(stripe.still_valid(ticket));
}

TEST(Stripe, ABumpEndsTicketsBeforeTheWriteEnds) {
  Stripe stripe;
  stripe.lock();
  const auto ticket = stripe.ticket();
  stripe.bump();
  EXPECT_FALSE(stripe.still_valid(ticket));
  EXPECT_TRUE(stripe.held_by_me());
  stripe.unlock();
}

TEST(Stripe, KnowsItsOwner) {
  Stripe stripe;
  EXPECT_FALSE(stripe.held_by_me());
  stripe.lock();
  EXPECT_TRUE(stripe.held_by_me());
  std::thread([&] { EXPECT_FALSE(stripe.held_by_me()); }).join();
  stripe.unlock();
  EXPECT_FALSE(stripe.held_by_me());
}

TEST(Stripe, AHeldStripeCannotBeTakenByOthers) {
  Stripe stripe;
  stripe.lock();
  std::thread([&] { EXPECT_FALSE(stripe.try_lock()); }).join();
  stripe.unlock();
  std::thread([&] {
    EXPECT_TRUE(stripe.try_lock());
    stripe.unlock_unchanged();
  }).join();
}

TEST(Stripe, ReadersWaitForAnExclusiveHoldButItsOwnerPasses) {
  Stripe stripe;
  stripe.lock(true);
  stripe.ticket();  // the owner's own reads do not wait
  std::atomic<bool> passed{false};
  std::thread reader([&] {
    stripe.ticket();
    passed = true;
  });
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  EXPECT_FALSE(passed);
  stripe.unlock();
  reader.join();
  EXPECT_TRUE(passed);
}

TEST(Stripe, AnExclusiveHoldEndsTicketsAtOnce) {
  Stripe stripe;
  const auto ticket = stripe.ticket();
  stripe.lock(true);
  EXPECT_FALSE(stripe.still_valid(ticket));
  stripe.unlock();
}

TEST(Stripe, ReadersPassASharedHold) {
  Stripe stripe;
  stripe.lock();
  std::thread([&] { EXPECT_TRUE(stripe.still_valid(stripe.ticket())); }).join();
  stripe.unlock();
}

TEST(Stripe, DeathIsFinalAndEndsTickets) {
  Stripe stripe;
  const auto ticket = stripe.ticket();
  stripe.lock();
  stripe.mark_dead();
  EXPECT_FALSE(stripe.still_valid(ticket));
  stripe.unlock();
  EXPECT_TRUE(stripe.dead());
  EXPECT_TRUE(Stripe::dead(stripe.ticket()));
  stripe.lock();
  stripe.unlock_unchanged();
  EXPECT_TRUE(stripe.dead());
}

TEST(Stripe, VersionsNeverDecrease) {
  Stripe stripe;
  auto last = stripe.ticket();
  for (int i = 0; i < 100; ++i) {
    stripe.lock(i % 3 == 0);
    if (i % 2 == 0) stripe.bump();
    stripe.unlock();
    ASSERT_GT(stripe.ticket(), last);
    last = stripe.ticket();
  }
}

// Two words that a writer always changes together: a reader with a valid ticket sees a pair.
TEST(Stripe, ReadersWithAValidTicketSeeWholeWrites) {
  Stripe stripe;
  std::atomic<std::uint64_t> left{0}, right{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; ++w) {
    writers.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        stripe.lock(true);
        const std::uint64_t next = left.load(std::memory_order_relaxed) + 1;  // relaxed: locked
        left.store(next, std::memory_order_release);   // release: pairs with the reader
        right.store(next, std::memory_order_release);  // release: same
        stripe.unlock();
      }
    });
  }
  std::uint64_t valid = 0;
  std::thread reader([&] {
    while (!done) {
      const auto ticket = stripe.ticket();
      // acquire (both): done before still_valid(); pair with the writer's releases
      const auto a = left.load(std::memory_order_acquire);
      const auto b = right.load(std::memory_order_acquire);
      if (!stripe.still_valid(ticket)) continue;
      ++valid;
      ASSERT_EQ(a, b);
    }
  });
  for (auto& writer : writers) writer.join();
  done = true;
  reader.join();
  EXPECT_EQ(left, 40'000u) << "two writers held the stripe at once";
  RecordProperty("valid_reads", static_cast<int>(valid));
}

}  // namespace
}  // namespace nidus::sync

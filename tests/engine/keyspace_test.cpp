// SPDX-License-Identifier: Apache-2.0

// The keyspace on one thread: entries, expiry, growth, clearing, locks, watches, mutations.

#include "engine/keyspace.hpp"

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "keyspace_rig.hpp"

#include <gtest/gtest.h>

namespace nidus::engine {
namespace {

TEST(Keyspace, StoresReplacesAndErases) {
  KeyspaceRig rig;
  EXPECT_EQ(rig.get("a"), std::nullopt);
  EXPECT_EQ(rig.set("a", "1"), WriteStatus::kOk);
  EXPECT_EQ(rig.get("a"), "1");
  EXPECT_EQ(rig.set("a", "a longer value"), WriteStatus::kOk);
  EXPECT_EQ(rig.get("a"), "a longer value");
  EXPECT_EQ(rig.database().size(), 1u);
  EXPECT_TRUE(rig.erase("a"));
  EXPECT_FALSE(rig.erase("a"));
  EXPECT_EQ(rig.get("a"), std::nullopt);
  EXPECT_EQ(rig.database().size(), 0u);
}

TEST(Keyspace, EmptyAndBinaryKeysAreKeys) {
  KeyspaceRig rig;
  const std::string nul("\0\r\n", 3);
  rig.set("", "empty");
  rig.set(nul, nul);
  EXPECT_EQ(rig.get(""), "empty");
  EXPECT_EQ(rig.get(nul), nul);
  EXPECT_EQ(rig.get(std::string("\0", 1)), std::nullopt);
}

TEST(Keyspace, DatabasesAreApart) {
  KeyspaceRig rig;
  rig.set("k", "in 0");
  EXPECT_EQ(rig.keyspace.database(1).find(rig.keyspace.key("k"), rig.now), nullptr);
  EXPECT_EQ(rig.keyspace.database(15).size(), 0u);
}

TEST(Keyspace, AnEntryWritesInPlaceFromTheOldValue) {
  KeyspaceRig rig;
  rig.set("k", "abc", rig.now + 50);
  {
    Entry entry = rig.database().lock(rig.keyspace.key("k"), rig.now);
    const std::string_view old = entry.item()->value();
    EXPECT_EQ(entry.set_with(6, entry.item()->expires_at(),
                             [old](char* bytes) {
                               old.copy(bytes, 3);
                               old.copy(bytes + 3, 3);
                             }),
              WriteStatus::kOk);
    EXPECT_EQ(entry.item()->value(), "abcabc");
    EXPECT_EQ(entry.set_expiry(rig.now + 70), WriteStatus::kOk);
    EXPECT_EQ(entry.item()->value(), "abcabc");
    EXPECT_EQ(entry.item()->expires_at(), rig.now + 70);
  }
  EXPECT_EQ(rig.get("k"), "abcabc");
  EXPECT_EQ(rig.database().expiring(), 1u);
}

TEST(Keyspace, OldValuesStayReadableUntilAQuiescentState) {
  KeyspaceRig rig;
  rig.set("k", "first");
  const Item* held = rig.database().find(rig.keyspace.key("k"), rig.now);
  for (int i = 0; i < 10'000; ++i) rig.set("k", std::to_string(i));
  EXPECT_EQ(held->value(), "first");
  EXPECT_GT(retired_bytes(), 0u);
  reclaim_now();
  EXPECT_EQ(retired_bytes(), 0u);
}

TEST(Expiry, AnExpiredKeyIsAbsentAndLeavesOnAccess) {
  KeyspaceRig rig;
  rig.set("k", "v", rig.now + 100);
  rig.now += 99;
  EXPECT_EQ(rig.get("k"), "v");
  rig.now += 1;
  EXPECT_EQ(rig.database().size(), 1u);
  EXPECT_EQ(rig.get("k"), std::nullopt);
  EXPECT_EQ(rig.database().size(), 0u);
  EXPECT_EQ(rig.keyspace.stats().expired, 1u);
}

TEST(Expiry, AnEntryOfAnExpiredKeyIsEmpty) {
  KeyspaceRig rig;
  rig.set("k", "v", rig.now + 100);
  rig.now += 100;
  Entry entry = rig.database().lock(rig.keyspace.key("k"), rig.now);
  EXPECT_EQ(entry.item(), nullptr);
  EXPECT_FALSE(entry.erase());
}

TEST(Expiry, MaintenanceRemovesWhatNobodyReads) {
  KeyspaceRig rig;
  for (std::uint64_t n = 0; n < 20'000; ++n) {
    rig.set(key_of(n), "v", n % 2 == 0 ? rig.now + 1'000 + static_cast<Millis>(n) : kNoExpiry);
  }
  EXPECT_EQ(rig.database().expiring(), 10'000u);
  rig.now += 1'000 + 9'999;
  rig.settle();
  EXPECT_EQ(rig.database().size(), 15'000u);
  rig.now += 100'000;
  rig.settle();
  EXPECT_EQ(rig.database().size(), 10'000u);
  EXPECT_EQ(rig.database().expiring(), 0u);
  EXPECT_EQ(rig.get(key_of(1)), "v");
}

TEST(Expiry, MaintenanceReachesEveryDatabaseInSmallSlices) {
  KeyspaceRig rig;
  for (int d = 0; d < kDatabases; ++d) {
    for (std::uint64_t n = 0; n < 3'000; ++n) {
      rig.keyspace.database(d).lock(rig.keyspace.key(key_of(n)), rig.now).set("v", rig.now + 1);
    }
  }
  rig.now += 1;
  int slices = 0;
  while (slices < 100'000) {
    ++slices;
    rig.keyspace.maintain(rig.now, 0);
    std::size_t left = 0;
    for (int d = 0; d < kDatabases; ++d) left += rig.keyspace.database(d).size();
    if (left == 0) break;
    ThreadScope::quiescent();
  }
  EXPECT_LT(slices, 100'000);
}

TEST(Growth, OneMillionKeysAndBack) {
  KeyspaceRig rig;
  const std::size_t empty = rig.keyspace.memory().index_bytes();
  constexpr std::uint64_t kKeys = 1'000'000;
  for (std::uint64_t n = 0; n < kKeys; ++n) {
    ASSERT_EQ(rig.set(key_of(n), "v"), WriteStatus::kOk);
    if (n % 64 == 0) ThreadScope::quiescent();
  }
  EXPECT_EQ(rig.database().size(), kKeys);
  // Filled to 60 % or more: 8 / 0.6 bytes a key, segment headers and the directory.
  EXPECT_LE(rig.keyspace.memory().index_bytes(), kKeys * 19);
  for (std::uint64_t n = 0; n < kKeys; n += 97) ASSERT_EQ(rig.get(key_of(n)), "v");
  for (std::uint64_t n = 10; n < kKeys; ++n) {
    ASSERT_TRUE(rig.erase(key_of(n)));
    if (n % 64 == 0) ThreadScope::quiescent();
  }
  rig.settle();
  EXPECT_EQ(rig.database().size(), 10u);
  for (std::uint64_t n = 0; n < 10; ++n) EXPECT_EQ(rig.get(key_of(n)), "v");
  EXPECT_LE(rig.keyspace.memory().index_bytes(), empty + 4'096) << "an empty table stays large";
  EXPECT_LE(rig.keyspace.memory().item_bytes(), 10u * 64);
  EXPECT_EQ(retired_bytes(), 0u);
}

TEST(Clear, EmptiesOneDatabaseAndGivesItsMemoryBack) {
  KeyspaceRig rig;
  const std::size_t empty = rig.keyspace.memory().live_bytes();
  for (std::uint64_t n = 0; n < 50'000; ++n) rig.set(key_of(n), std::string(100, 'x'));
  rig.keyspace.database(1).lock(rig.keyspace.key("other"), rig.now).set("stays", kNoExpiry);
  const Item* held = rig.database().find(rig.keyspace.key(key_of(7)), rig.now);
  rig.database().clear();
  EXPECT_EQ(rig.database().size(), 0u);
  EXPECT_EQ(rig.get(key_of(7)), std::nullopt);
  EXPECT_EQ(held->value(), std::string(100, 'x')) << "a reader still holds it";
  rig.settle();
  EXPECT_LE(rig.keyspace.memory().live_bytes(), empty + 256);
  EXPECT_EQ(rig.keyspace.database(1).size(), 1u);
  for (std::uint64_t n = 0; n < 50'000; ++n) ASSERT_EQ(rig.set(key_of(n), "y"), WriteStatus::kOk);
  EXPECT_EQ(rig.database().size(), 50'000u);
}

TEST(KeyLocks, EntriesOfTheHoldingThreadPass) {
  KeyspaceRig rig;
  rig.set("a", "1");
  const std::array<KeyLocks::Target, 3> targets{
      {{&rig.database(), rig.keyspace.hash("a")},
       {&rig.keyspace.database(3), rig.keyspace.hash("b")},
       {&rig.database(), rig.keyspace.hash("a")}}};
  {
    const KeyLocks locks(targets);
    EXPECT_EQ(rig.get("a"), "1");
    EXPECT_EQ(rig.set("a", "2"), WriteStatus::kOk);
    EXPECT_EQ(rig.keyspace.database(3).lock(rig.keyspace.key("b"), rig.now).set("3", kNoExpiry),
              WriteStatus::kOk);
    EXPECT_EQ(rig.get("a"), "2");
    const std::array<KeyRef, 1> keys{rig.keyspace.key("a")};
    std::array<const Item*, 1> out{};
    rig.database().find_batch(keys, rig.now, out);
    EXPECT_EQ(out[0]->value(), "2");
  }
  EXPECT_EQ(rig.get("a"), "2");
  EXPECT_EQ(rig.set("a", "4"), WriteStatus::kOk) << "the stripe is free again";
}

TEST(KeyLocks, TablesGrowUnderATransaction) {
  KeyspaceRig rig;
  const std::array<Database*, 1> whole{&rig.database()};
  {
    const KeyLocks locks(whole);
    for (std::uint64_t n = 0; n < 30'000; ++n) ASSERT_EQ(rig.set(key_of(n), "v"), WriteStatus::kOk);
    EXPECT_EQ(rig.database().size(), 30'000u);
  }
  std::uint64_t from = 0;
  do {  // every successor is unlocked
    from = rig.database().index().for_each_segment(from, [](Segment&) { return false; });
  } while (from != 0);
  for (std::uint64_t n = 0; n < 30'000; ++n) ASSERT_TRUE(rig.erase(key_of(n)));
}

TEST(KeyLocks, ATransactionMayClearItsDatabase) {
  KeyspaceRig rig;
  for (std::uint64_t n = 0; n < 5'000; ++n) rig.set(key_of(n), "v");
  const std::array<Database*, 2> whole{&rig.database(), &rig.keyspace.database(1)};
  {
    const KeyLocks locks(whole);
    rig.database().clear();
    EXPECT_EQ(rig.database().size(), 0u);
    EXPECT_EQ(rig.set("after", "1"), WriteStatus::kOk);
    rig.database().clear();
    for (std::uint64_t n = 0; n < 5'000; ++n) rig.set(key_of(n), "w");
  }
  EXPECT_EQ(rig.database().size(), 5'000u);
  for (std::uint64_t n = 0; n < 5'000; ++n) ASSERT_TRUE(rig.erase(key_of(n)));
  rig.settle();
}

TEST(Watch, AWriteMarksWhoWatchesTheKey) {
  KeyspaceRig rig;
  const auto watch = [&rig](std::string_view key) {
    auto flag = std::make_shared<WatchFlag>();
    rig.keyspace.watches().watch(0, key, rig.keyspace.hash(key), flag);
    return flag;
  };
  rig.set("a", "1");
  rig.set("e", "1", rig.now + 10);
  rig.set("c", "1");
  const auto a = watch("a"), other = watch("other"), cleared = watch("c");
  const auto erased = watch("a"), expired = watch("e");
  EXPECT_FALSE(a->dirty());
  rig.get("a");
  EXPECT_FALSE(a->dirty()) << "a read is no write";
  rig.set("a", "2");
  EXPECT_TRUE(a->dirty());
  EXPECT_FALSE(other->dirty());
  EXPECT_TRUE(erased->dirty());
  rig.keyspace.database(1).lock(rig.keyspace.key("other"), rig.now).set("x", kNoExpiry);
  EXPECT_FALSE(other->dirty()) << "another database";
  rig.now += 10;
  rig.get("e");
  EXPECT_TRUE(expired->dirty());
  EXPECT_FALSE(cleared->dirty());
  rig.database().clear();
  EXPECT_TRUE(cleared->dirty());
  EXPECT_FALSE(other->dirty()) << "it was absent and stayed so";
}

TEST(Watch, AnUnwatchedFlagStaysClean) {
  KeyspaceRig rig;
  const auto flag = std::make_shared<WatchFlag>();
  const std::uint64_t hash = rig.keyspace.hash("a");
  rig.keyspace.watches().watch(0, "a", hash, flag);
  rig.keyspace.watches().watch(0, "a", hash, flag);
  rig.keyspace.watches().unwatch(0, "a", hash, flag);
  rig.set("a", "1");
  EXPECT_FALSE(flag->dirty());
}

class Recorder : public MutationSink {
 public:
  void apply(const Mutation& mutation) override {
    log.push_back(std::to_string(static_cast<int>(mutation.kind)) + " " +
                  std::to_string(mutation.database) + " " + std::string(mutation.key) + "=" +
                  std::string(mutation.value) + "@" +
                  (mutation.expires_at == kNoExpiry ? "-" : std::to_string(mutation.expires_at)));
  }
  std::vector<std::string> log;
};

TEST(Mutation, EveryWriteLeavesOnceAsTheStateAfterIt) {
  Recorder recorder;
  KeyspaceRig rig({.sink = &recorder});
  rig.now = 5;
  rig.set("a", "1", 100);
  rig.set("a", "2");
  rig.erase("a");
  rig.erase("a");
  rig.set("b", "3", 7);
  rig.now = 7;
  rig.get("b");
  rig.database().clear();
  EXPECT_EQ(recorder.log, (std::vector<std::string>{"0 0 a=1@100", "0 0 a=2@-", "1 0 a=@-",
                                                    "0 0 b=3@7", "2 0 b=@-", "4 0 =@-"}));
}

TEST(Keyspace, RandomItemsAreLive) {
  KeyspaceRig rig;
  EXPECT_EQ(rig.database().random_item(1, rig.now), nullptr);
  for (std::uint64_t n = 0; n < 100; ++n) rig.set(key_of(n), "v", n < 50 ? rig.now + 1 : kNoExpiry);
  rig.now += 1;
  std::set<std::string> seen;
  for (std::uint64_t r = 0; r < 10'000; ++r) {
    const Item* item = rig.database().random_item(r * 0x9E3779B97F4A7C15ull, rig.now);
    ASSERT_NE(item, nullptr);
    seen.insert(std::string(item->key()));
  }
  EXPECT_EQ(seen.size(), 50u);
}

TEST(Keyspace, StatisticsCountWhatHappened) {
  KeyspaceRig rig;
  rig.set("a", "1");
  rig.get("a");
  rig.get("b");
  rig.database().find(rig.keyspace.key("a"), rig.now, Touch::kNo);
  const KeyspaceStats stats = rig.keyspace.stats();
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.misses, 1u);
  EXPECT_EQ(stats.writes, 1u);
  rig.keyspace.reset_stats();
  EXPECT_EQ(rig.keyspace.stats().hits, 0u);
}

TEST(Keyspace, TwoProcessesHashApartAndASeedRepeats) {
  ThreadScope scope;
  const Keyspace a({}), b({}), c({.seed = 7}), d({.seed = 7});
  EXPECT_NE(a.hash("key"), b.hash("key"));
  EXPECT_EQ(c.hash("key"), d.hash("key"));
}

TEST(Keyspace, ExplainsWhereAKeyLives) {
  KeyspaceRig rig;
  for (std::uint64_t n = 0; n < 10'000; ++n) rig.set(key_of(n), "v");
  const Explanation here = rig.database().explain(key_of(5), rig.now);
  EXPECT_EQ(here.hash, rig.keyspace.hash(key_of(5)));
  EXPECT_TRUE(here.bucket == 1 || here.bucket == 2);
  EXPECT_EQ(here.item->value(), "v");
  EXPECT_TRUE((here.bucket == 1 ? here.tag_matches1 : here.tag_matches2) >> here.slot & 1);
  const Explanation absent = rig.database().explain("absent", rig.now);
  EXPECT_EQ(absent.bucket, 0);
  EXPECT_EQ(absent.item, nullptr);
}

}  // namespace
}  // namespace nidus::engine

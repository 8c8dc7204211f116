// SPDX-License-Identifier: Apache-2.0

// The named races of one segment, each forced at a pause point. NIDUS_MUTANT plants the fault that
// a test is there to notice; CMakeLists.txt lists the pairs.

#include <cstdlib>
#include <string>
#include <vector>

#include "interleave.hpp"

#include <gtest/gtest.h>

namespace nidus::engine {
namespace {

using sync::Mutant;

/// Plants the mutant that the environment names by its number.
class MutantEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    if (const char* number = std::getenv("NIDUS_MUTANT")) {
      sync::planted_mutant = static_cast<Mutant>(std::atoi(number));
    }
  }
};
const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new MutantEnvironment);

/// Tags whose distance is 1 (from bucket 0 to 1) and 3 (from 0 to 3) in a segment of four buckets.
std::vector<std::uint16_t> tags_of_distance(std::uint64_t distance) {
  std::vector<std::uint16_t> tags;
  for (std::uint32_t tag = 1; tag < 65536; ++tag) {
    const auto t = static_cast<std::uint16_t>(tag);
    if (Geometry::alternate(0, t, 3) == distance) tags.push_back(t);
  }
  return tags;
}

/// Four buckets; bucket 0 has one empty slot, buckets 1 and 2 are full, and the first key of bucket
/// 1 can move to bucket 0. A newcomer of bucket 1 then displaces exactly that key.
struct MovingKey {
  explicit MovingKey(bool guest) {
    const auto near = tags_of_distance(1), far = tags_of_distance(3);
    std::vector<std::string> zero;
    for (std::size_t i = 0; i < 8; ++i) zero.push_back(key_in(0, near[i]));
    for (const auto& key : zero) rig.put(key);
    moving = key_in(guest ? 0 : 1, near[100]);
    rig.put(moving);  // a guest: its first bucket is full
    for (std::size_t i = 0; i < 7; ++i) rig.put(key_in(1, far[200 + i]));  // may move to 2 only
    for (std::size_t i = 0; i < 8; ++i) rig.put(key_in(2, near[300 + i]));
    rig.erase(zero[3]);
    newcomer = key_in(1, far[400]);
    EXPECT_EQ(rig.index.segment_for(0)->bucket_mask, 3u);
    EXPECT_EQ(rig.get(moving), "v");
  }
  InterleaveRig rig;
  std::string moving, newcomer;
};

TEST(Interleave, AReaderBetweenTheTwoLoadsFindsAKeyThatMovesHome) {
  MovingKey at(true);
  std::optional<std::string> found;
  Actor reader(PausePoint::kReaderAfterFirstBucket, [&] { found = at.rig.get(at.moving); });
  ASSERT_TRUE(reader.stops()) << "it stands in its second bucket";
  ASSERT_TRUE(at.rig.put(at.newcomer));  // moves the key from the second to the first
  reader.finish();
  EXPECT_EQ(found, "v");
  EXPECT_EQ(at.rig.faults(), "");
}

class MoveInSteps : public testing::TestWithParam<bool> {};

TEST_P(MoveInSteps, AMovingKeyIsFoundAtEveryMoment) {
  MovingKey at(GetParam());
  Actor writer(PausePoint::kMoveAfterCopy, [&] { at.rig.put(at.newcomer); });
  int stops = 0;
  while (writer.stops()) {
    ++stops;
    EXPECT_EQ(at.rig.get(at.moving), "v") << "stop " << stops;
    writer.step();
  }
  writer.finish();
  EXPECT_GE(stops, 1) << "nothing was moved";
  EXPECT_EQ(at.rig.get(at.moving), "v");
  EXPECT_EQ(at.rig.get(at.newcomer), "v");
  EXPECT_EQ(at.rig.faults(), "");
}

INSTANTIATE_TEST_SUITE_P(Interleave, MoveInSteps, testing::Bool(), [](const auto& kind) {
  return std::string(kind.param ? "GuestGoesHome" : "ResidentLeavesHome");
});

// Paths are searched and executed under the stripe: nobody can invalidate one in between.
TEST(Interleave, NobodyWritesBetweenTheSearchOfAPathAndItsMoves) {
  MovingKey at(true);
  Actor first(PausePoint::kPathBeforeMove, [&] { at.rig.put(at.newcomer); });
  ASSERT_TRUE(first.stops());
  // A second key would take the very slot in which the path ends.
  const std::string second = key_in(0, tags_of_distance(1)[500]);
  Actor writer(PausePoint::kSplitAfterPublish, [&] { at.rig.put(second); });
  writer.ends(kBlockedFor);
  EXPECT_EQ(at.rig.get(at.moving), "v") << "readers go on";
  first.finish();
  writer.finish();
  EXPECT_EQ(at.rig.get(at.moving), "v");
  EXPECT_EQ(at.rig.get(at.newcomer), "v");
  EXPECT_EQ(at.rig.get(second), "v");
  EXPECT_EQ(at.rig.faults(), "");
}

TEST(Interleave, AReaderOfAReplacedSegmentLooksForItsSuccessor) {
  for (const std::size_t keys : {std::size_t{10}, std::size_t{3'000}}) {  // doubles; splits
    InterleaveRig rig;
    const std::string old_key = key_at(0x1234'5678'9ABC'DEF1),
                      new_key = key_at(0x1234'5678'9ABC'DEF3);
    rig.put(old_key);
    for (std::uint64_t n = 1; n < keys; ++n) rig.put(key_at(n * 0xD1B54A32D192ED03ull));
    std::optional<std::string> found_old, found_new;
    Actor old_reader(PausePoint::kReaderAfterDirectory, [&] { found_old = rig.get(old_key); });
    ASSERT_TRUE(old_reader.stops());
    Actor new_reader(PausePoint::kReaderAfterDirectory, [&] { found_new = rig.get(new_key); });
    ASSERT_TRUE(new_reader.stops());
    rig.replace_segment_of(old_key);
    rig.put(new_key, "new");
    new_reader.release();
    old_reader.finish();
    new_reader.finish();
    EXPECT_EQ(found_old, "v");
    EXPECT_EQ(found_new, "new") << "it stands only in the successor";
  }
}

TEST(Interleave, ASplitIsInvisibleToReadersAtEveryMoment) {
  for (const PausePoint point : {PausePoint::kSplitBeforePublish, PausePoint::kSplitAfterPublish}) {
    InterleaveRig rig;
    std::vector<std::string> keys;
    for (std::uint64_t n = 1; n <= 5'000; ++n) keys.push_back(key_at(n * 0xD1B54A32D192ED03ull));
    std::atomic<std::size_t> stored{0};
    Actor writer(point, [&] {
      for (const auto& key : keys) {
        rig.put(key);
        ++stored;
      }
    });
    int splits = 0;
    for (; writer.stops(); ++splits, writer.step()) {
      const std::size_t sure = stored;
      std::size_t absent = 0;
      for (std::size_t n = 0; n < sure; ++n) absent += rig.get(keys[n]) ? 0 : 1;
      ASSERT_EQ(absent, 0u) << "of " << sure;
      std::vector<const Item*> page;
      std::size_t scanned = 0;
      std::uint64_t cursor = 0;
      do {
        cursor = rig.index.collect(cursor, 100, page);
        scanned += page.size();
      } while (cursor != 0);
      ASSERT_GE(scanned, sure);
    }
    writer.finish();
    EXPECT_GE(splits, 7);
    EXPECT_EQ(rig.faults(), "");
  }
}

TEST(Interleave, AWriterOfAReplacedSegmentWritesItsSuccessor) {
  InterleaveRig rig;
  const std::string key = key_at(0x7777'0000'1111'2222);
  rig.put(key, "early");
  Actor writer(PausePoint::kWriterBeforeLock, [&] { rig.put(key, "late"); });
  ASSERT_TRUE(writer.stops());
  rig.replace_segment_of(key);
  writer.finish();
  EXPECT_EQ(rig.get(key), "late");
  EXPECT_EQ(rig.faults(), "");
}

}  // namespace
}  // namespace nidus::engine

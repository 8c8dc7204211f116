// SPDX-License-Identifier: Apache-2.0

// The named races of several keys: crossing stripes, batches of one moment, units of several
// writes.

#include <array>
#include <cstdlib>
#include <string>

#include "interleave.hpp"

#include <gtest/gtest.h>

namespace nidus::engine {
namespace {

/// Two keys in different segments, and one that is absent and lies with neither.
struct TwoSegments {
  TwoSegments() {
    for (std::uint64_t n = 1; n <= 6'000; ++n) rig.put(key_at(n * 0xD1B54A32D192ED03ull));
    rig.put(a, "old");
    rig.put(b, "old");
    const Segment* other = rig.index.segment_for(rig.hash(absent));
    EXPECT_NE(rig.index.segment_for(rig.hash(a)), rig.index.segment_for(rig.hash(b)));
    EXPECT_NE(rig.index.segment_for(rig.hash(a)), other);
    EXPECT_NE(rig.index.segment_for(rig.hash(b)), other);
    // A reader passes kReaderAfterFirstBucket only at a key that is not in its first bucket.
    const Probe where_a = rig.index.probe(rig.hash(a), a),
                where_b = rig.index.probe(rig.hash(b), b);
    EXPECT_EQ(where_a.bucket, 1);
    EXPECT_EQ(where_b.bucket, 1);
  }
  Index::LockSet::Target target(const std::string& key) { return {&rig.index, rig.hash(key)}; }

  InterleaveRig rig;
  std::string a = key_at(0x1000'0000'0000'0A01), b = key_at(0xF000'0000'0000'0B01),
              absent = key_at(0x7000'0000'0000'0C01);
};

TEST(InterleaveMany, TwoWritersOnCrossingStripesDoNotWaitForEachOther) {
  TwoSegments at;
  const auto lock_both = [&](const std::string& first, const std::string& second) {
    const std::array<Index::LockSet::Target, 2> targets{at.target(first), at.target(second)};
    const Index::LockSet locks(targets);
  };
  Actor one(PausePoint::kWriterBeforeLock, [&] { lock_both(at.a, at.b); });
  ASSERT_TRUE(one.stops());  // holds its first stripe
  Actor two(PausePoint::kWriterBeforeLock, [&] { lock_both(at.b, at.a); });
  two.stops(kBlockedFor);  // holds one too, or waits for the same
  one.release();
  two.release();
  const bool both = one.ends(std::chrono::seconds(5)) && two.ends(std::chrono::seconds(5));
  EXPECT_TRUE(both) << "each waits for the other";
  if (!both) std::_Exit(1);  // they cannot be joined
}

TEST(InterleaveMany, ALockSetFollowsASegmentThatIsReplacedWhileItWaits) {
  TwoSegments at;
  Actor writer(PausePoint::kWriterBeforeLock, [&] {
    const std::array<Index::LockSet::Target, 2> targets{at.target(at.a), at.target(at.b)};
    const Index::LockSet locks(targets);
    at.rig.put(at.a, "new");
    at.rig.put(at.b, "new");
  });
  ASSERT_TRUE(writer.stops());  // one of the two is locked
  const bool holds_a = !at.rig.index.segment_for(at.rig.hash(at.a))->stripe.try_lock();
  if (!holds_a) at.rig.index.segment_for(at.rig.hash(at.a))->stripe.unlock_unchanged();
  at.rig.replace_segment_of(holds_a ? at.b : at.a);
  writer.finish();
  EXPECT_EQ(at.rig.get_batch({at.a, at.b}), "new,new");
  EXPECT_EQ(at.rig.faults(), "");
}

TEST(InterleaveMany, AReaderWaitsForAUnitOfWrites) {
  TwoSegments at;
  const std::array<Index::LockSet::Target, 2> targets{at.target(at.a), at.target(at.b)};
  std::optional<std::string> found;
  std::string batch;
  std::optional<Actor> single, many;
  {
    const Index::LockSet locks(targets);
    at.rig.put(at.a, "half");
    single.emplace(PausePoint::kSplitAfterPublish, [&] { found = at.rig.get(at.a); });
    many.emplace(PausePoint::kSplitAfterPublish, [&] { batch = at.rig.get_batch({at.a, at.b}); });
    EXPECT_FALSE(single->ends(kBlockedFor));
    EXPECT_FALSE(many->ends(kBlockedFor));
    EXPECT_EQ(at.rig.get(at.a), "half") << "the holder's own reads pass";
    at.rig.put(at.a, "new");
    at.rig.put(at.b, "new");
  }
  single->finish();
  many->finish();
  EXPECT_EQ(found, "new");
  EXPECT_EQ(batch, "new,new");
}

TEST(InterleaveMany, ABatchThatAUnitOfWritesOvertakesReadsAgain) {
  TwoSegments at;
  std::string batch;
  Actor reader(PausePoint::kReaderAfterFirstBucket, [&] {
    batch = at.rig.get_batch({at.a, at.absent, at.b});
  });
  ASSERT_TRUE(reader.stops());  // a has been read, b has not
  {
    const std::array<Index::LockSet::Target, 2> targets{at.target(at.a), at.target(at.b)};
    const Index::LockSet locks(targets);
    at.rig.put(at.a, "new");
    at.rig.put(at.b, "new");
  }
  reader.finish();
  EXPECT_EQ(batch, "new,-,new");
}

TEST(InterleaveMany, ABatchReadsNoReplacedSegment) {
  TwoSegments at;
  std::string batch;
  Actor reader(PausePoint::kReaderAfterDirectory, [&] { batch = at.rig.get_batch({at.a, at.b}); });
  ASSERT_TRUE(reader.stops());  // knows the segment of a, has no ticket
  at.rig.replace_segment_of(at.a);
  at.rig.put(at.a, "new");
  at.rig.put(at.b, "new");
  reader.finish();
  EXPECT_EQ(batch, "new,new") << "a was written before b";
}

// Who has seen a write knows that it came before his own: so must a batch, although neither writer
// has let its stripe go.
TEST(InterleaveMany, ABatchSeesAWriteThatOthersHaveSeen) {
  TwoSegments at;
  std::string batch;
  Actor reader(PausePoint::kReaderAfterFirstBucket, [&] {
    batch = at.rig.get_batch({at.a, at.absent, at.b});
  });
  ASSERT_TRUE(reader.stops());  // a has been read, b has not
  Actor first(PausePoint::kWriteAfterStore, [&] { at.rig.put(at.a, "new"); });
  ASSERT_TRUE(first.stops());  // stored, and still holds the stripe
  ASSERT_EQ(at.rig.get(at.a), "new");
  Actor second(PausePoint::kWriteAfterStore, [&] { at.rig.put(at.b, "new"); });
  ASSERT_TRUE(second.stops());
  reader.release();
  reader.ends(kBlockedFor);
  first.finish();
  second.finish();
  reader.finish();
  EXPECT_EQ(batch, "new,-,new");
}

TEST(InterleaveMany, ABatchWaitsForAWriteThatIsUnderWay) {
  TwoSegments at;
  std::string batch;
  std::optional<Actor> reader;
  {
    // Both are locked before the batch begins, and stored while it reads.
    Index::Locked a(at.rig.index, at.rig.hash(at.a), at.a);
    Index::Locked b(at.rig.index, at.rig.hash(at.b), at.b);
    reader.emplace(PausePoint::kReaderAfterFirstBucket, [&] {
      batch = at.rig.get_batch({at.a, at.absent, at.b});
    });
    reader->stops(kBlockedFor);  // a correct batch has not begun
    at.rig.put(a, at.a, "new");
    at.rig.put(b, at.b, "new");
    reader->release();
    reader->ends(kBlockedFor);
  }
  reader->finish();
  EXPECT_EQ(batch, "new,-,new");
}

}  // namespace
}  // namespace nidus::engine

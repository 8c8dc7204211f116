// SPDX-License-Identifier: Apache-2.0

// Pause points call the hook, and only while there is one; mutants are off until planted.

#include <nidus/sync/pause_point.hpp>

#include <gtest/gtest.h>

namespace nidus::sync {
namespace {

int calls = 0;
PausePoint last;

TEST(PausePoint, CallsTheInstalledHook) {
  pause_point(PausePoint::kMoveAfterCopy);
  EXPECT_EQ(calls, 0);
  pause_hook = [](PausePoint point) {
    ++calls;
    last = point;
  };
  pause_point(PausePoint::kMoveAfterCopy);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(last, PausePoint::kMoveAfterCopy);
  pause_hook = nullptr;
  pause_point(PausePoint::kMoveAfterCopy);
  EXPECT_EQ(calls, 1);
}

TEST(PausePoint, AMutantIsOffUntilItIsPlanted) {
  EXPECT_FALSE(mutant(Mutant::kReaderTrustsMiss));
  planted_mutant = Mutant::kReaderTrustsMiss;
  EXPECT_TRUE(mutant(Mutant::kReaderTrustsMiss));
  EXPECT_FALSE(mutant(Mutant::kMoveClearsFirst));
  planted_mutant = Mutant::kNone;
}

}  // namespace
}  // namespace nidus::sync

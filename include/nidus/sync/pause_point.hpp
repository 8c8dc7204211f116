// SPDX-License-Identifier: Apache-2.0
#pragma once

// Named places at which a test can stop a thread, so that a race becomes a unit test: the test
// installs a hook, and the code calls it at each pause point. The same switch lets a test plant a
// named fault (a mutant) and prove that its test would notice. Both exist only where
// NIDUS_PAUSE_POINTS is defined for a target; elsewhere they compile to nothing.

#include <atomic>
#include <cstdint>

namespace nidus::sync {

enum class PausePoint {
  kReaderAfterFirstBucket,  // a reader has read the first bucket, not yet the second
  kReaderAfterDirectory,    // a reader holds a segment, has not read its version
  kWriterBeforeLock,        // a writer knows its segment, has not locked it
  kMoveAfterCopy,           // a key stands in two buckets
  kPathBeforeMove,          // a path is found and not yet executed
  kWriteAfterStore,         // a new value stands in its slot, the stripe is still held
  kSplitBeforePublish,      // the new segments are built and not yet in the directory
  kSplitAfterPublish,       // the directory shows them; the old one is not yet dead
};

enum class Mutant {
  kNone,
  kReaderTrustsMiss,        // a miss is believed without looking at the version again
  kReaderIgnoresDead,       // a miss in a replaced segment is believed
  kWriterTrustsSegment,     // a writer does not look again after locking
  kMoveClearsFirst,         // a move empties its source before it fills its target
  kLocksUnordered,          // several stripes are locked in the caller's order
  kMarkAfterMove,           // an overflow mark is set after its key has left
  kPathUnlocked,            // the stripe is free between the search of a path and its moves
  kReaderIgnoresExclusive,  // a reader enters what is being changed as one unit
  kBatchTrustsTickets,      // a batch is believed without looking at the versions again
  kBatchIgnoresWriters,     // a batch begins while a write is under way
  kGeometryBeforeVersion,   // a reader learns where the buckets are before it has their version
};

#ifdef NIDUS_PAUSE_POINTS
/// With which version new stripes begin: a test of the wrap cannot wait for it.
inline std::atomic<std::uint64_t> first_version{0};
inline std::atomic<void (*)(PausePoint)> pause_hook{nullptr};
inline std::atomic<Mutant> planted_mutant{Mutant::kNone};

inline void pause_point(PausePoint point) {
  // acquire: pairs with the test's store of the hook
  if (auto* hook = pause_hook.load(std::memory_order_acquire)) hook(point);
}
inline bool mutant(Mutant which) {
  // acquire: pairs with the test's store of the mutant
  return planted_mutant.load(std::memory_order_acquire) == which;
}
inline std::uint64_t version_of_new_stripes() {
  return first_version.load(std::memory_order_relaxed);  // relaxed: set before the stripes are made
}
#else
constexpr std::uint64_t version_of_new_stripes() { return 0; }
inline void pause_point(PausePoint) {}
constexpr bool mutant(Mutant) { return false; }
#endif

}  // namespace nidus::sync

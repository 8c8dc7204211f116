// SPDX-License-Identifier: Apache-2.0

// Several stripes held as one unit. They are locked in the order of their addresses, and checked to
// be alive afterwards; a dead one means that the set is collected again. See index.hpp.

#include <algorithm>

#include <nidus/sync/pause_point.hpp>

#include "engine/index.hpp"

namespace nidus::engine {

Index::LockSet*& lock_set_of_this_thread();

bool Index::this_thread_holds_locks() { return lock_set_of_this_thread() != nullptr; }

template <class Collect>
void Index::LockSet::acquire(Collect&& collect) {
  outer_ = lock_set_of_this_thread();
  for (;;) {
    held_.clear();
    collect(held_);
    // What this thread holds already stays with the outer set.
    std::erase_if(held_, [](const Segment* s) { return s->stripe.held_by_me(); });
    if (!sync::mutant(sync::Mutant::kLocksUnordered)) std::sort(held_.begin(), held_.end());
    held_.erase(std::unique(held_.begin(), held_.end()), held_.end());
    bool alive = true;
    std::size_t locked = 0;
    for (; locked < held_.size() && alive; ++locked) {
      held_[locked]->stripe.lock(true);
      sync::pause_point(sync::PausePoint::kWriterBeforeLock);
      alive = !held_[locked]->stripe.dead();
    }
    if (alive) {
      // Something may have been replaced while we waited: are these still the segments?
      std::vector<Segment*> again;
      collect(again);
      alive = std::all_of(again.begin(), again.end(),
                          [](const Segment* s) { return s->stripe.held_by_me(); });
    }
    if (alive) break;
    for (std::size_t i = 0; i < locked; ++i) held_[i]->stripe.unlock_unchanged();
  }
  lock_set_of_this_thread() = this;
}

Index::LockSet::LockSet(std::span<const Target> targets) {
  acquire([targets](std::vector<Segment*>& out) {
    for (const Target& target : targets) out.push_back(target.index->segment_for(target.hash));
  });
}

Index::LockSet::LockSet(std::span<Index* const> whole) {
  acquire([whole](std::vector<Segment*>& out) {
    for (const Index* index : whole) {
      std::uint64_t hash = 0;
      do {
        Segment* segment = index->segment_for(hash);
        out.push_back(segment);
        hash = segment->end();
      } while (hash != 0);
    }
  });
}

Index::LockSet::~LockSet() {
  lock_set_of_this_thread() = outer_;
  for (Segment* segment : held_) segment->stripe.unlock();
}

/// Growth under the set: the successors, locked already, take the old segment's place.
void Index::LockSet::replace(Segment* old, Segment* first, Segment* second) {
  for (LockSet* set = this; set != nullptr; set = set->outer_) {
    const auto at = std::find(set->held_.begin(), set->held_.end(), old);
    if (at == set->held_.end()) continue;
    set->held_.erase(at);
    if (first != nullptr) set->held_.push_back(first);
    if (second != nullptr) set->held_.push_back(second);
    return;
  }
}

}  // namespace nidus::engine

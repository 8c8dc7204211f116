// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table under ConcurrentMap: a directory of segments, the way in for readers and for writers,
// and growth, which replaces one segment at a time. It knows hashes and places; the map above knows
// what a user may ask.
//
//   directory --> segment: stripe, range of hashes, block --> buckets
//
// Thread-safety: every call from every thread, except construction and destruction.
// State: a segment has no buckets -> a block -> a block of twice the size -> ... -> it keeps the
//   lower half of its range and a new segment has the upper one. First the stripes multiply (until
//   there are kStripesPerCore a core), then the blocks grow (to kBlockBytes), then segments split
//   for ever.
// Lock order: one stripe, then growth_. No call holds two stripes, but for the one that a split has
//   just made and that nobody else has seen.
// Publish: a block is complete before its segment shows it; a split enters the new segment into the
//   directory before it unlocks the old one.
// Validate: a reader asks the segment for its range and block after it took the ticket, and for the
//   ticket after it read. So it either sees a segment before a change, or after it, or looks again.
// Reclaim: stripes, outgrown directories and chunks of blocks live as long as the table. A replaced
//   block is used again at once: readers touch no memory that is not a block, and believe nothing
//   that they read from a block that was replaced. So readers need no registration and leave no
//   trace.
// Invariant: the ranges of the segments cover every hash once.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <nidus/map/concurrent_arena.hpp>
#include <nidus/map/concurrent_directory.hpp>
#include <nidus/map/concurrent_segment.hpp>
#include <nidus/sync/pause_point.hpp>

namespace nidus::map {

template <class B, class Policy, class Allocator, bool kOptimistic>
class ConcurrentTable {
 public:
  using Bucket = B;
  using View = SegmentBuckets<B, Policy, Allocator, kOptimistic>;
  using Segment = nidus::map::Segment<B>;
  using Parts = Functions<B, Allocator>;

  explicit ConcurrentTable(const Parts& parts)
      : parts_(parts),
        segments_(SegmentAllocator(parts.allocator)),
        arena_(parts.allocator),
        directory_(&segments_.emplace_back(), parts.allocator),
        wanted_segments_(kStripesPerCore * std::max(1u, std::thread::hardware_concurrency())) {}
  ConcurrentTable(const ConcurrentTable&) = delete;
  ConcurrentTable& operator=(const ConcurrentTable&) = delete;
  ~ConcurrentTable() {
    if constexpr (!kOptimistic) {
      for (auto& segment : segments_) {
        const View view = view_of(segment);
        view.for_each([&](Spot at) { view.remove(at); });
      }
    }
  }

  const Parts& parts() const { return parts_; }
  template <class K>
  std::uint64_t hash(const K& key) const {
    return B::hash(parts_.hasher, key);
  }
  Segment& segment_of(std::uint64_t hash) const { return *directory_.find(hash); }
  View view_of(const Segment& segment) const { return View(segment.load_block(), parts_); }

  /// Calls look(view) until what it returns is true of one moment, and returns that. `look` copies
  /// what it wants, and what it copies may be torn until this call returns.
  template <class Look>
  auto read(std::uint64_t hash, Look look) const {
    for (;;) {
      const Segment& segment = segment_of(hash);
      const bool swapped = sync::mutant(sync::Mutant::kGeometryBeforeVersion);
      const auto early = swapped ? segment.load_block() : Block<B>{};
      sync::pause_point(sync::PausePoint::kReaderAfterDirectory);
      const auto ticket = segment.stripe.quiet_ticket();
      if (!swapped && !segment.covers(hash)) [[unlikely]]
        continue;
      const View view(swapped ? early : segment.load_block(), parts_);
      auto result = look(view);
      lanes::fence_after_vector_loads();
      if (segment.stripe.still_quiet(ticket)) [[likely]]
        return result;
    }
  }

  /// Holds the stripe of a hash. What stands there does not change, but by the holder.
  class Hold {
   public:
    Hold(const ConcurrentTable& table, std::uint64_t hash) {
      for (;;) {
        segment_ = &table.segment_of(hash);
        sync::pause_point(sync::PausePoint::kWriterBeforeLock);
        segment_->stripe.lock();
        if (segment_->covers(hash)) [[likely]]
          return;
        segment_->stripe.unlock_unchanged();
      }
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() {
      if (changed_) {
        segment_->stripe.unlock();
      } else {
        segment_->stripe.unlock_unchanged();
      }
    }
    Segment& operator*() const { return *segment_; }
    Segment* operator->() const { return segment_; }
    /// Readers that began before must look again.
    void changes() { changed_ = true; }

   private:
    friend class ConcurrentTable;
    Segment* segment_;
    bool changed_ = false;
  };

  /// An empty spot for a new key, which makes the segment grow if need be. The hold may be of
  /// another segment afterwards. Errors: std::length_error if the hashes are so alike that growing
  /// does not help; std::bad_alloc; no element has come or gone.
  Spot make_place(Hold& hold, std::uint64_t hash) {
    hold.changes();
    for (unsigned growths = 0;; ++growths) {
      const View view = view_of(*hold);
      const std::uint64_t count = hold->count();
      const bool room = hold->has_buckets() && count * 8 < view.slots() * kFullEighths;
      if (room) {
        if (const Spot at = view.place(hash)) return at;
        // Good hashes fill half of any table. What does not fit in a quarter never will.
        if (growths == kMaxGrowths || count * 4 < view.slots()) throw_alike();
      }
      grow(hold, hash, room);
    }
  }

  /// Puts a new element into a spot that make_place() gave.
  template <class K, class Value>
  void put(Hold& hold, Spot at, std::uint64_t hash, K&& key, Value&& value) {
    view_of(*hold).put(at, hash, std::forward<K>(key), std::forward<Value>(value));
    hold->set_count(hold->count() + 1);
  }

  void remove(Hold& hold, Spot at) {
    remove_untidily(hold, at);
    tidy_if_needed(hold);
  }
  /// Moves no other element: for use within View::for_each().
  void remove_untidily(Hold& hold, Spot at) {
    hold.changes();
    hold->departures += view_of(*hold).remove(at);
    hold->set_count(hold->count() - 1);
  }
  /// Guests go home and marks become exact when enough guests have left.
  void tidy_if_needed(Hold& hold) {
    if constexpr (View::kSureAlternate) {
      const View view = view_of(*hold);
      if (hold->departures * std::uint64_t{16} <= view.slots()) return;
      hold.changes();
      view.tidy();
      hold->departures = 0;
    }
  }

  /// Holds one segment after the other, in the order of their ranges; each hash lies in exactly one
  /// that is visited, however segments split meanwhile.
  template <class Visit>
  void for_each_segment(Visit visit) const {
    std::uint64_t begin = 0;
    do {
      Hold hold(*this, begin);
      visit(hold);
      // relaxed, twice: under the stripe
      begin = hold->prefix.load(std::memory_order_relaxed) +
              ~hold->prefix_mask.load(std::memory_order_relaxed) + 1;
    } while (begin != 0);
  }

  std::uint64_t size() const {
    const std::lock_guard lock(growth_);
    std::uint64_t sum = 0;
    for (const auto& segment : segments_) sum += segment.count();
    return sum;
  }
  std::size_t memory_usage() const {
    const std::lock_guard lock(growth_);
    return sizeof(*this) + arena_.bytes() + directory_.bytes() +
           (segments_.size() + kDequeSpare) * sizeof(Segment);
  }
  std::size_t stripes() const {
    const std::lock_guard lock(growth_);
    return segments_.size();
  }
  std::uint64_t slots() const {
    const std::lock_guard lock(growth_);
    std::uint64_t sum = 0;
    for (const auto& segment : segments_) {
      if (segment.has_buckets()) sum += view_of(segment).slots();
    }
    return sum;
  }

  /// Grows until this many keys with good hashes are likely to fit without growth. Each pass brings
  /// every segment to the same level, so that all split equally often.
  void reserve(std::uint64_t keys) {
    const std::uint64_t wanted = keys + keys / 4;  // 4/5 of the slots; a segment is full at 7/8
    for (unsigned level = 1; keys > 0; ++level) {
      for_each_segment([&](Hold& hold) {
        // relaxed, twice: under the stripe
        const std::uint64_t bits = hold->prefix_mask.load(std::memory_order_relaxed);
        const std::uint64_t prefix = hold->prefix.load(std::memory_order_relaxed);
        const unsigned blocks = hold->has_buckets() ? hold->load_block().log2 : 0;
        if (static_cast<unsigned>(std::popcount(bits)) + blocks < level) grow(hold, prefix, false);
      });
      if ((std::uint64_t{B::kSlots} << level) >= wanted) return;
    }
  }

 private:
  using SegmentAllocator =
      typename std::allocator_traits<Allocator>::template rebind_alloc<Segment>;
  static constexpr unsigned kMinLog2 = 3;             // 8 buckets
  static constexpr std::size_t kBlockBytes = 131072;  // replaced in some 50 us
  static constexpr unsigned kStripesPerCore = 32;     // two writers meet in 1 of 32 on one core
  static constexpr unsigned kFullEighths = 7;         // beyond 7/8 insertions begin to cost
  static constexpr unsigned kMaxGrowths = 2;          // an insertion; more would not help
  static constexpr unsigned kSlackBits = 8;           // by which the deepest range may be too deep
  static constexpr std::size_t kDequeSpare = 8;       // what the deque of segments holds ahead
  static constexpr unsigned largest_block() {
    unsigned log2 = kMinLog2;
    while ((sizeof(B) << (log2 + 1)) <= kBlockBytes) ++log2;
    return log2;
  }
  static constexpr unsigned kMaxLog2 = std::max(largest_block(), kMinLog2 + 1);
  static_assert(B::kMinBuckets <= std::uint64_t{1} << (kMinLog2 + 1));
  static constexpr unsigned kFirstLog2 = B::kMinBuckets <= 8 ? kMinLog2 : kMinLog2 + 1;

  Block<B> take_block(unsigned log2) {
    const Block<B> block{arena_.take(log2), log2};
    View(block, parts_).reset();
    return block;
  }

  /// Hashes of the elements in the order of for_each(), where hashing may throw: then before
  /// anything moves.
  std::vector<std::uint64_t> hashes_of(const View& view) const {
    std::vector<std::uint64_t> hashes;
    if constexpr (!B::kNothrowHash) {
      view.for_each([&](Spot at) { hashes.push_back(view.hash_of(at)); });
    }
    return hashes;
  }

  [[noreturn]] NIDUS_NOINLINE static void throw_alike() {
    throw std::length_error("nidus::ConcurrentMap: too many keys with alike hashes");
  }

  /// `in_place`: the segment is not full, but a key found no place: a larger block has more paths,
  /// where a split may send all keys to one half.
  void grow(Hold& hold, std::uint64_t hash, bool in_place) {
    hold.changes();
    const std::lock_guard lock(growth_);
    Segment& segment = *hold;
    if (!segment.has_buckets()) return segment.set_block(take_block(kFirstLog2));
    const unsigned log2 = segment.load_block().log2;
    // relaxed: under the stripe
    const auto bits =
        static_cast<unsigned>(std::popcount(segment.prefix_mask.load(std::memory_order_relaxed)));
    const bool few = segments_.size() < wanted_segments_ && !in_place;
    if (log2 < kMaxLog2 && !few) return enlarge(segment, log2);
    // Good hashes split every segment equally often, but for a few bits.
    if (bits >= std::bit_width(segments_.size()) + kSlackBits) throw_alike();
    split(hold, bits, hash);
  }

  /// Gives a segment a block of twice the size. With one more bit of index a key of bucket b
  /// belongs in b or b + n and finds its slot free there: nothing is displaced, nothing can fail.
  void enlarge(Segment& segment, unsigned log2) {
    const View from = view_of(segment);
    const auto hashes = hashes_of(from);
    const Block<B> old = segment.load_block();
    const Block<B> block = take_block(log2 + 1);
    const View to(block, parts_);
    refill(from, hashes, [&](std::uint64_t) -> const View& { return to; });
    segment.set_block(block);
    finish(segment, to);
    arena_.give_back(old.buckets, old.log2);
  }

  /// Moves every element to the view that pick(hash) names, to its slot of old.
  template <class Pick>
  void refill(const View& from, const std::vector<std::uint64_t>& hashes, Pick pick) const {
    auto known = hashes.cbegin();
    from.for_each([&](Spot at) {
      std::uint64_t hash = 0;
      if constexpr (B::kNothrowHash) {
        hash = from.hash_of(at);
      } else {
        hash = *known++;
      }
      const View& to = pick(hash);
      to.take(from, at, {from.guest(at) ? to.second(hash) : to.first(hash), at.slot}, hash);
    });
  }

  /// Guests of a new block go home.
  static void finish(Segment& segment, const View& view) {
    if constexpr (View::kSureAlternate) view.tidy();
    segment.departures = 0;
  }

  void split(Hold& hold, unsigned bits, std::uint64_t hash) {
    Segment& lower = *hold;
    const Block<B> old = lower.load_block();
    const View from(old, parts_);
    const auto hashes = hashes_of(from);
    const std::uint64_t new_bit = std::uint64_t{1} << (63 - bits);
    // relaxed, twice: under the stripe
    const std::uint64_t prefix = lower.prefix.load(std::memory_order_relaxed);
    const std::uint64_t mask = lower.prefix_mask.load(std::memory_order_relaxed) | new_bit;
    directory_.deepen(bits + 1);
    Segment& upper = segments_.emplace_back();
    Block<B> blocks[2];
    try {
      blocks[0] = take_block(old.log2);
      blocks[1] = take_two(old.log2, blocks[0]);
    } catch (...) {
      segments_.pop_back();
      throw;
    }
    const View low(blocks[0], parts_);
    const View high(blocks[1], parts_);
    std::uint64_t went_up = 0;
    refill(from, hashes, [&](std::uint64_t hash_there) -> const View& {
      const bool up = (hash_there & new_bit) != 0;
      went_up += up;
      return up ? high : low;
    });
    upper.stripe.lock();
    upper.set_block(blocks[1]);
    upper.set_range(prefix | new_bit, mask);
    upper.set_count(went_up);
    finish(upper, high);
    sync::pause_point(sync::PausePoint::kSplitBeforePublish);
    directory_.assign(prefix | new_bit, bits + 1, &upper);
    sync::pause_point(sync::PausePoint::kSplitAfterPublish);
    lower.set_block(blocks[0]);
    lower.set_range(prefix, mask);
    lower.set_count(lower.count() - went_up);
    finish(lower, low);
    arena_.give_back(old.buckets, old.log2);
    if ((hash & new_bit) != 0) {
      lower.stripe.unlock();
      hold.segment_ = &upper;
    } else {
      upper.stripe.unlock();
    }
  }
  Block<B> take_two(unsigned log2, Block<B> first) {
    try {
      return take_block(log2);
    } catch (...) {
      arena_.give_back(first.buckets, first.log2);
      throw;
    }
  }

  [[no_unique_address]] Parts parts_;
  mutable std::mutex growth_;
  std::deque<Segment, SegmentAllocator> segments_;
  BlockArena<B, Allocator> arena_;
  Directory<Segment, Allocator> directory_;
  std::size_t wanted_segments_;
};

}  // namespace nidus::map

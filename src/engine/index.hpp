// SPDX-License-Identifier: Apache-2.0
#pragma once

// The index: from a hash to an item, for all threads at once. A directory (extendible hashing) maps
// the leading bits of a hash to a segment; a full segment is replaced by a larger one or by two, a
// pair of empty ones by one, and nothing else stops meanwhile. Items belong to whoever uses the
// index: it stores and returns pointers and never frees an item.
//
// Thread-safety: find, find_batch, scan, size: any registered thread, no lock. Everything that
// takes
//   a Locked: the holder of that stripe.
// State: a segment is live, or dead (replaced); a dead one keeps its last content until every
// reader
//   has passed a quiescent state.
// Lock order: stripes by address; then directory_mutex_; nothing is locked under it.
// Publish: new segments are complete before the directory shows them; then the old one is dead.
// Validate: "absent" is true only if the ticket taken before the first probe still holds.
// Reclaim: segments and directories are retired (thread.hpp).
// Invariant: the directory entries of a segment are exactly those of its prefix.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "engine/memory.hpp"
#include "engine/segment.hpp"

namespace nidus::engine {

/// A key with its hash.
struct KeyRef {
  std::string_view bytes;
  std::uint64_t hash = 0;
};

struct Probe {  // what NIDUS.EXPLAIN shows
  std::uint64_t bucket1 = 0, bucket2 = 0;
  std::uint32_t matches1 = 0, matches2 = 0;
  bool second_read = false;
  int bucket = 0, slot = -1;
  const Item* item = nullptr;
  std::size_t segment_buckets = 0, segment_keys = 0;
  std::uint64_t directory_index = 0;
  unsigned directory_bits = 0;
};

class Index {
 public:
  /// The hash of an item's key; must not change during the index's life.
  struct Hasher {
    const void* context;
    std::uint64_t (*hash)(const void* context, std::string_view key);
    std::uint64_t operator()(const Item& item) const { return hash(context, item.key()); }
  };

  /// A directory of 2^36 segments would hold 10^13 keys; deeper only a bad hash would go.
  static constexpr unsigned kMaxLocalBits = 36;

  Index(Hasher hasher, MemoryAccount& memory);
  ~Index();  // frees the segments, not the items
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  // --- readers ---
  const Item* find(std::uint64_t hash, std::string_view key) const;
  /// All of one moment. Cost: as find() each; repeated while writers end in between.
  void find_batch(std::span<const KeyRef> keys, std::span<const Item*> out) const;
  void prefetch_bucket(std::uint64_t hash) const {
    const Segment* segment = segment_for(hash);
    lanes::prefetch(&segment->first_bucket(hash));
  }
  void prefetch_item(std::uint64_t hash) const;
  Probe probe(std::uint64_t hash, std::string_view key) const;

  std::size_t size() const;
  std::size_t expiring() const;
  std::size_t segment_count() const;
  unsigned directory_bits() const;

  /// Collects some `count` items from the cursor on; the next cursor, 0 at the end, below 2^53.
  std::uint64_t collect(std::uint64_t cursor, std::size_t count,
                        std::vector<const Item*>& out) const;
  const Item* random_item(std::uint64_t random) const;

  // --- writers ---
  /// The stripe of a hash, held; and the place of the key in it.
  class Locked {
   public:
    Locked(Index& index, std::uint64_t hash, std::string_view key);
    /// Only if nobody holds it; see held().
    Locked(Index& index, std::uint64_t hash, std::string_view key, std::try_to_lock_t);
    ~Locked();
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

    bool held() const { return segment_ != nullptr; }
    const Item* item() const { return item_; }
    /// Puts `fresh` in the key's place; returns false if it has none and finds none.
    /// The old item, if any, is the caller's to retire.
    bool put(const Item* fresh);
    void erase();
    Segment& segment() { return *segment_; }
    std::uint64_t hash() const { return hash_; }

   private:
    friend class Index;
    void locate(std::string_view key);
    Index& index_;
    std::uint64_t hash_;
    Segment* segment_ = nullptr;
    bool nested_ = false;
    bool changed_ = false;
    Bucket* bucket_ = nullptr;
    unsigned slot_ = 0;
    const Item* item_ = nullptr;
  };

  /// Several stripes, of any indexes, held as one unit; readers of them wait.
  class LockSet {
   public:
    struct Target {
      Index* index;
      std::uint64_t hash;
    };
    explicit LockSet(std::span<const Target> targets);
    explicit LockSet(std::span<Index* const> whole);
    ~LockSet();
    LockSet(const LockSet&) = delete;
    LockSet& operator=(const LockSet&) = delete;

   private:
    friend class Index;
    template <class Collect>
    void acquire(Collect&& collect);
    void replace(Segment* old, Segment* first, Segment* second);
    std::vector<Segment*> held_;
    LockSet* outer_ = nullptr;
  };

  /// Does the calling thread hold a LockSet?
  static bool this_thread_holds_locks();

  /// Calls visit(segment) for every segment of the index, in the order of hashes, under a stripe
  /// that is held only for the call. visit may remove keys. Starts at `from`; returns the hash to
  /// go on from, 0 at the end; stops when visit returns false.
  template <class Visit>
  std::uint64_t for_each_segment(std::uint64_t from, Visit&& visit);

  /// The live segment of a hash, without its stripe (a hint: it may be replaced at once).
  Segment* segment_for(std::uint64_t hash) const {
    // acquire: pairs with the release that published the directory
    const Directory* directory = directory_.load(std::memory_order_acquire);
    // acquire: pairs with the release that published the segment
    return directory->entries()[hash >> directory->shift].load(std::memory_order_acquire);
  }

  /// Halves the segment or joins it with its sibling if both are nearly empty. True if it did.
  bool shrink(std::uint64_t hash);
  /// Halves the directory while no segment needs its last bit.
  void shrink_directory();

  /// Detaches every segment; the index is empty afterwards. Requires: a LockSet over the whole
  /// index. The caller retires the segments with their items.
  std::vector<Segment*> detach_all();

  MemoryAccount& memory() { return memory_; }

 private:
  struct Directory {
    unsigned bits;   // at least 1
    unsigned shift;  // 64 - bits
    std::atomic<Segment*>* entries() { return reinterpret_cast<std::atomic<Segment*>*>(this + 1); }
    const std::atomic<Segment*>* entries() const {
      return reinterpret_cast<const std::atomic<Segment*>*>(this + 1);
    }
    std::size_t size() const { return std::size_t{1} << bits; }
    std::size_t bytes() const { return sizeof(Directory) + size() * sizeof(std::atomic<Segment*>); }
  };
  Directory* make_directory(unsigned bits);
  void retire_directory(Directory* directory);
  void retire_segment(Segment* segment);
  const Item* find_in(const Segment& segment, std::uint64_t hash, std::string_view key) const;
  bool grow(Locked& locked);
  bool fill(std::span<Segment* const> from, std::span<Segment* const> to);
  bool publish(std::span<Segment* const> old, std::span<Segment* const> fresh);
  void show(Directory& directory, Segment* segment);
  Segment* lock_segment(std::uint64_t hash, bool& nested);

  Hasher hasher_;
  MemoryAccount& memory_;
  std::atomic<Directory*> directory_;
  std::atomic<std::size_t> segments_{1};
  std::mutex directory_mutex_;
};

template <class Visit>
std::uint64_t Index::for_each_segment(std::uint64_t from, Visit&& visit) {
  for (;;) {
    bool nested = false;
    Segment* segment = lock_segment(from, nested);
    const std::uint64_t next = segment->end();
    const bool go_on = visit(*segment);
    if (!nested) segment->stripe.unlock();
    if (next == 0 || !go_on) return next;
    from = next;
  }
}

}  // namespace nidus::engine

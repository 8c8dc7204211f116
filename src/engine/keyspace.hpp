// SPDX-License-Identifier: Apache-2.0
#pragma once

// The keyspace is what commands see of the engine: databases of keys, exact expiry, a memory limit,
// and atomicity for one key, for several keys and for transactions. Below it stand the index
// (index.hpp) and the items (item.hpp).
//
// Thread-safety: every call may be made from every registered thread (ThreadScope). Pointers to
// items that a call returns stay valid until the calling thread's next quiescent state.
// Atomicity: one key: every Entry is exclusive. Several keys: hold KeyLocks; readers of those keys
// wait until they are released. find_batch() sees one moment.

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <nidus/sync/sharded_counter.hpp>

#include "engine/index.hpp"
#include "engine/item.hpp"
#include "engine/memory.hpp"
#include "engine/mutation.hpp"
#include "engine/score.hpp"
#include "engine/watch.hpp"

namespace nidus::engine {

inline constexpr int kDatabases = 16;

enum class WriteStatus {
  kOk,
  kOutOfMemory,  // the memory limit is reached and the policy finds no victim; nothing changed
  kNoPlace,      // more keys with one and the same hash than two buckets hold; nothing changed
};

/// Does a read count as a use of the key (score, hits, misses)?
enum class Touch { kYes, kNo };

class Keyspace;
class Database;

/// Exclusive access to one key. While it lives, no other thread writes this key; readers go on.
/// Not movable across threads; hold it briefly and never take a second one (use KeyLocks first).
class Entry {
 public:
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry();

  /// The key's item, or nullptr when the key is absent; an expired key is absent.
  const Item* item() const { return item_; }

  /// Stores the value and the expiry (absolute; kNoExpiry for none). An expiry that has already
  /// passed is stored and then found expired. Errors: see WriteStatus. Cost: one allocation.
  WriteStatus set(std::string_view value, Millis expires_at);

  /// As set(), with the value written in place: fill(char* bytes) must write value_bytes bytes.
  /// fill may read item()'s value.
  template <class Fill>
  WriteStatus set_with(std::size_t value_bytes, Millis expires_at, Fill&& fill) {
    Item* fresh = prepare(value_bytes, expires_at);
    if (fresh == nullptr) return WriteStatus::kOutOfMemory;
    fill(fresh->mutable_value());
    return publish(fresh);
  }

  /// Changes only the expiry. Requires: item() != nullptr.
  WriteStatus set_expiry(Millis expires_at);

  /// Removes the key; false if it was absent.
  bool erase();

  Millis now() const { return now_; }

 private:
  friend class Database;
  Entry(Database& database, KeyRef key, Millis now);
  Item* prepare(std::size_t value_bytes, Millis expires_at);
  WriteStatus publish(Item* fresh);

  Database& database_;
  KeyRef key_;
  Millis now_;
  Index::Locked locked_;
  const Item* item_ = nullptr;
};

/// Where a key lives and why, for NIDUS.EXPLAIN.
struct Explanation {
  std::uint64_t hash = 0;
  std::uint16_t tag = 0;
  std::uint64_t directory_index = 0;
  unsigned directory_bits = 0;
  std::uint64_t bucket1 = 0, bucket2 = 0;  // within the segment
  std::size_t segment_buckets = 0, segment_keys = 0;
  unsigned tag_matches1 = 0, tag_matches2 = 0;  // bit i: slot i carries the tag
  bool second_bucket_read = false;              // the overflow mark of the key's class is set
  int bucket = 0;                               // 1 or 2; 0 = absent
  int slot = -1;
  std::int64_t hash_ns = 0, bucket_ns = 0, item_ns = 0;
  const Item* item = nullptr;
  std::uint64_t score = 0;
};

/// One database of one group.
class Database {
 public:
  Database(Keyspace& keyspace, int group, int number);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// The key's item or nullptr; an expired key is absent (and is removed on the way).
  /// Thread-safety: any thread; takes no lock. Cost: one or two lines plus the item.
  const Item* find(KeyRef key, Millis now, Touch touch = Touch::kYes);

  /// out[i] = find(keys[i]), all of one moment: no write of another thread falls between them.
  /// Cost: the lines of all keys are fetched in parallel.
  void find_batch(std::span<const KeyRef> keys, Millis now, std::span<const Item*> out,
                  Touch touch = Touch::kYes);

  /// Exclusive access to a key, present or not. Blocks while another thread holds its stripe.
  Entry lock(KeyRef key, Millis now) { return Entry(*this, key, now); }

  /// Stages of a batch: first the bucket's line, then, when that has arrived, the item's.
  void prefetch_bucket(std::uint64_t hash) const { index_.prefetch_bucket(hash); }
  void prefetch_item(std::uint64_t hash) const { index_.prefetch_item(hash); }

  /// Keys stored, expired but not yet removed ones included.
  std::size_t size() const { return index_.size(); }
  /// Keys that carry an expiry.
  std::size_t expiring() const { return index_.expiring(); }

  /// Calls visit(item) for some count items (a hint) from the cursor on; returns the next cursor,
  /// 0 at the end. Start with 0. Guarantee: a key that is present from the start to the end of a
  /// full iteration is visited at least once, however the table grows, shrinks or displaces; no
  /// key is visited that was not there. Expired keys are not visited.
  std::uint64_t scan(std::uint64_t cursor, std::size_t count, Millis now,
                     const std::function<void(const Item&)>& visit);

  /// A random live key or nullptr; gives up after a bounded number of expired ones.
  const Item* random_item(std::uint64_t random, Millis now);

  /// Removes every key at once. Cost: proportional to the segments, not to the keys; the items
  /// are freed in the background.
  void clear();

  Explanation explain(std::string_view key, Millis now);

  Keyspace& keyspace() { return keyspace_; }
  int group() const { return group_; }
  int number() const { return number_; }
  const Index& index() const { return index_; }
  Index& index() { return index_; }

 private:
  friend class Entry;
  friend class Keyspace;
  void remove_expired(KeyRef key, Millis now);
  /// The item as a read may see it; counts the use.
  const Item* seen(const Item* item, KeyRef key, Millis now, Touch touch);

  Keyspace& keyspace_;
  int group_;
  int number_;
  Index index_;
};

/// Exclusive access to several keys at once, for transactions and multi-key writes: other
/// threads' reads and writes of these keys (and of their stripes) wait. Entry and find() of the
/// holding thread pass. Never blocks while holding another KeyLocks or an Entry of this thread.
class KeyLocks {
 public:
  struct Target {
    Database* database;
    std::uint64_t hash;
  };
  explicit KeyLocks(std::span<const Target> targets);
  /// Locks whole databases (FLUSHALL within a transaction, for instance).
  explicit KeyLocks(std::span<Database* const> databases);
  ~KeyLocks();
  KeyLocks(const KeyLocks&) = delete;
  KeyLocks& operator=(const KeyLocks&) = delete;

 private:
  Index::LockSet locks_;
};

struct KeyspaceOptions {
  std::size_t memory_limit_bytes = 0;  // 0 = none
  Policy policy = Policy::kNoEviction;
  std::uint64_t seed = 0;  // of the hash; 0 = a random secret of this process
  MutationSink* sink = nullptr;
};

struct KeyspaceStats {
  std::uint64_t hits = 0, misses = 0, expired = 0, evicted = 0, writes = 0;
  std::uint64_t out_of_memory = 0;
};

class Keyspace {
 public:
  explicit Keyspace(const KeyspaceOptions& options);
  ~Keyspace();
  Keyspace(const Keyspace&) = delete;
  Keyspace& operator=(const Keyspace&) = delete;

  KeyRef key(std::string_view bytes) const { return {bytes, hash(bytes)}; }
  std::uint64_t hash(std::string_view bytes) const;

  Database& database(int number) { return *databases_[static_cast<std::size_t>(number)]; }

  /// Frees memory until a write of so many bytes to this key keeps the limit; false when the policy
  /// finds no victim. Call before a command that may grow memory. bytes: 0 when they are few; one
  /// write that is larger than the whole limit is let through once everything else has left.
  /// Cost: one load when there is no limit.
  bool make_room(Database& database, std::uint64_t hash, Millis now, std::size_t bytes = 0) {
    const std::size_t limit = memory_.limit();
    // Near the limit, too: what waits for readers is looked at before it comes on top.
    if (limit == 0 || !memory_.over_limit(bytes + limit / 32)) return true;
    return evict_until_fits(database, hash, now, bytes);
  }

  void set_memory_limit(std::size_t bytes) { memory_.set_limit(bytes); }
  void set_policy(Policy policy) { policy_.store(policy); }
  Policy policy() const { return policy_.load(); }
  /// nullptr: none. The sink must outlive its use by every thread.
  void set_sink(MutationSink* sink) { sink_.store(sink); }

  MemoryAccount& memory() { return memory_; }
  WatchRegistry& watches() { return watches_; }
  KeyspaceStats stats() const;
  void reset_stats();

  /// Removes expired keys, shrinks tables after floods, and holds the memory limit, for at most
  /// budget_us microseconds. Returns true if there was more to do. Call it regularly from a
  /// registered thread. Source of the time: the caller.
  bool maintain(Millis now, std::int64_t budget_us);

 private:
  friend class Database;
  friend class Entry;
  struct Counters {
    sync::ShardedCounter hits, misses, expired, evicted, writes, out_of_memory;
  };
  /// What a clear() left: segments with their items, to be freed when no reader holds them.
  struct Detached {
    std::vector<Segment*> segments;
    std::shared_ptr<std::atomic<bool>> unreferenced;
  };
  using Deadline = std::chrono::steady_clock::time_point;

  bool evict_until_fits(Database& database, std::uint64_t hash, Millis now, std::size_t bytes);
  void wait_for_readers();
  bool evict_one(Database& database, std::uint64_t hash, Millis now);
  bool evict_anywhere(std::uint64_t random, Millis now);
  void evict_down(Millis now, Deadline deadline);
  void changed(const Database& database, KeyRef key, Mutation::Kind kind, const Item* item);
  void removed(const Database& database, KeyRef key, const Item* item, Mutation::Kind kind);
  void discard(const Item* item);
  bool sweep(Database& database, Millis now, Deadline deadline);
  void expire_in(Database& database, Segment& segment, Millis now);
  void bury(std::vector<Segment*> segments);
  /// Until no reader can hold what is detached now. The thread holds no stripes and no items.
  void wait_for_detached();
  /// Frees detached segments until the deadline; true if some could be freed or none is left.
  bool free_detached(Deadline deadline);
  void free_segment(Segment* segment);

  MemoryAccount memory_;
  WatchRegistry watches_;
  std::atomic<Policy> policy_;
  std::atomic<MutationSink*> sink_;
  Counters counters_;
  std::unique_ptr<unsigned char[]> secret_;
  std::array<std::unique_ptr<Database>, kDatabases> databases_;

  std::mutex detached_mutex_;
  std::vector<Detached> detached_;
  std::atomic<std::size_t> detached_segments_{0};

  std::mutex maintain_mutex_;  // one sweep at a time; guards the two below
  std::size_t sweep_database_ = 0;
  std::uint64_t sweep_hash_ = 0;
};

}  // namespace nidus::engine

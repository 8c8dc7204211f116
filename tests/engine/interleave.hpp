// SPDX-License-Identifier: Apache-2.0
#pragma once

// Forced interleavings: an Actor is a thread that stops at a pause point until the test lets it go
// on; the rig is an index whose keys carry their own hash, so that a test chooses their buckets.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <vector>

#include <nidus/sync/pause_point.hpp>

#include "engine/index.hpp"
#include "engine/thread.hpp"
#include "index_rig.hpp"

namespace nidus::engine {

using sync::PausePoint;

/// Long enough for a thread that is free to go on, short enough to wait for one that is not.
inline constexpr std::chrono::milliseconds kBlockedFor{30};

class Actor {
 public:
  /// Runs `body` on a thread of its own, which stops each time it comes to `point`.
  Actor(PausePoint point, std::function<void()> body) : point_(point) {
    sync::pause_hook = [](PausePoint at) {
      if (current_ != nullptr) current_->pass(at);
    };
    thread_ = std::thread([this, body = std::move(body)] {
      const ThreadScope scope;
      current_ = this;
      body();
      current_ = nullptr;
      const std::lock_guard lock(mutex_);
      done_ = true;
      changed_.notify_all();
    });
  }
  ~Actor() { finish(); }
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  /// True when it stands at its point; false when it ended or came to neither in time.
  bool stops(std::chrono::milliseconds patience = std::chrono::seconds(20)) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return stopped_ || done_; });
    return stopped_;
  }
  bool ends(std::chrono::milliseconds patience = std::chrono::seconds(20)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return done_; });
  }
  /// From its point to the next time it comes there.
  void step() {
    const std::lock_guard lock(mutex_);
    stopped_ = false;
    changed_.notify_all();
  }
  /// To its end, without further stops.
  void release() {
    const std::lock_guard lock(mutex_);
    free_ = true;
    stopped_ = false;
    changed_.notify_all();
  }
  void finish() {
    release();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void pass(PausePoint at) {
    std::unique_lock lock(mutex_);
    if (at != point_ || free_) return;
    stopped_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !stopped_; });
  }

  static inline thread_local Actor* current_ = nullptr;
  const PausePoint point_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false, free_ = false, done_ = false;
  std::thread thread_;
};

/// The hash stands in the key's first 8 bytes.
inline std::string key_at(std::uint64_t hash, std::string_view name = "") {
  std::string key(8, '\0');
  std::memcpy(key.data(), &hash, 8);
  return key.append(name);
}
/// A key of a first bucket and a tag, its segment given by the upper bits.
inline std::string key_in(std::uint64_t bucket, std::uint16_t tag, std::uint64_t upper = 0) {
  return key_at(upper << 48 | bucket << 16 | tag);
}

class InterleaveRig {
 public:
  InterleaveRig() : index(hasher(), memory) {}
  ~InterleaveRig() {
    sync::pause_hook = nullptr;
    index.for_each_segment(0, [this](Segment& segment) {
      for (std::uint64_t b = 0; b <= segment.bucket_mask; ++b) {
        for (unsigned s = 0; s < Segment::kSlots; ++s) {
          const std::uint64_t word = segment.buckets[b].load(s);
          if (slot_word::tag(word) != 0) replaced_.insert(slot_word::item(word));
        }
      }
      return true;
    });
    for (const Item* item : replaced_) Item::destroy(const_cast<Item*>(item));
  }

  static std::uint64_t hash(std::string_view key) {
    std::uint64_t h;
    std::memcpy(&h, key.data(), 8);
    return h;
  }
  static Index::Hasher hasher() {
    return {nullptr, [](const void*, std::string_view key) { return hash(key); }};
  }

  bool put(std::string_view key, std::string_view value = "v") {
    Index::Locked locked(index, hash(key), key);
    return put(locked, key, value);
  }
  bool put(Index::Locked& locked, std::string_view key, std::string_view value) {
    Item* fresh = Item::create(key, value.size(), kNoExpiry, 0);
    value.copy(fresh->mutable_value(), value.size());
    keep(locked.item());
    if (locked.put(fresh)) return true;
    Item::destroy(fresh);
    return false;
  }
  bool erase(std::string_view key) {
    Index::Locked locked(index, hash(key), key);
    keep(locked.item());
    const bool present = locked.item() != nullptr;
    locked.erase();
    return present;
  }
  std::optional<std::string> get(std::string_view key) const {
    const Item* item = index.find(hash(key), key);
    return item == nullptr ? std::nullopt : std::optional<std::string>(item->value());
  }
  /// Values joined by commas; "-" is absent.
  std::string get_batch(const std::vector<std::string>& names) const {
    std::vector<KeyRef> keys;
    for (const auto& name : names) keys.push_back({name, hash(name)});
    std::vector<const Item*> out(names.size());
    index.find_batch(keys, out);
    std::string all;
    for (const Item* item : out) {
      if (!all.empty()) all += ',';
      all += item == nullptr ? "-" : std::string(item->value());
    }
    return all;
  }
  std::string faults() {
    std::unordered_set<std::string_view> seen;
    std::string found;
    index.for_each_segment(0, [&](Segment& segment) {
      found = segment_faults(segment, hasher(), seen);
      return found.empty();
    });
    return found;
  }
  /// Adds keys of the same segment until it is replaced.
  void replace_segment_of(std::string_view key) {
    const Segment* before = index.segment_for(hash(key));
    const std::uint64_t prefix = before->prefix;
    const unsigned free_bits = 64 - before->local_bits;
    for (std::uint64_t n = 1; index.segment_for(hash(key)) == before; ++n) {
      const std::uint64_t h = n * 0x9E3779B97F4A7C15ull;
      put(key_at(prefix | (free_bits == 64 ? h : h >> (64 - free_bits)), "filler"));
    }
  }

 private:
  void keep(const Item* item) {
    const std::lock_guard lock(mutex_);
    if (item != nullptr) replaced_.insert(item);
  }
  ThreadScope scope_;
  std::mutex mutex_;
  std::unordered_set<const Item*> replaced_;  // readers may hold them: freed with the rig

 public:
  MemoryAccount memory;
  Index index;
};

}  // namespace nidus::engine

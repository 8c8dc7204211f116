// SPDX-License-Identifier: Apache-2.0
#pragma once

// ClassicCuckoo: the textbook forms, for experiments and for seeing them at work. A set of 64-bit
// keys with d hash functions, buckets of b slots and a stash of a few keys; either one table a
// choice (Pagh and Rodler's two tables are d = 2, b = 1) or one table that all choices share. An
// insertion kicks at random until it meets an empty slot or its budget ends; then the stash takes the
// key, else the table is built again with new seeds, else it grows. Every step can be watched.
//
// For use in programs take CuckooMap: it stores values, and it is built for speed.
//
// Thread-safety: none.
// Invariant: a key stands once, in one of its d buckets or in the stash.
// Source: Pagh, Rodler, Cuckoo Hashing (2004); Fotakis et al., Space Efficient Hash Tables (2005; d);
//   Dietzfelbinger, Weidling, Balanced Allocation (2007; b); Kirsch et al., More Robust Hashing: Cuckoo
//   Hashing with a Stash (2010).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <nidus/map/hash.hpp>

namespace nidus::map {

/// A step of an insertion, for whoever watches.
struct ClassicStep {
  enum class Kind {
    kPlaced,    // key stands in `to` now
    kKicked,    // key was thrown out of `from`; it will go to one of its other buckets
    kStashed,   // key found no place and went to the stash
    kRehashed,  // all keys were placed again under new seeds
    kGrown,     // all keys were placed again in twice the buckets
    kFailed,    // key found no place and nothing more is allowed; the table is as it was before
  };
  Kind kind;
  std::uint64_t key;
  std::size_t from;  // a bucket, counted through all tables; kNowhere if it does not apply
  std::size_t to;
};

struct ClassicOptions {
  std::size_t buckets = 512;      // a table; any number of at least 1
  std::size_t kick_budget = 500;  // keys thrown out by one insertion
  unsigned rehashes = 8;          // tries with new seeds before the table grows
  bool grows = true;              // false: kFailed instead of kGrown
  std::uint64_t seed = 1;         // of the hash functions and of the walk
};

/// @tparam d      hash functions (2 to 4)
/// @tparam b      slots a bucket
/// @tparam Stash  keys that may stand beside the table
/// @tparam kShared  one table for all choices, instead of one each
template <unsigned d, unsigned b, unsigned Stash = 0, bool kShared = false>
class ClassicCuckoo {
  static_assert(d >= 2 && d <= 4, "a key has two to four choices");
  static_assert(b >= 1 && b <= 16, "a bucket has one to sixteen slots");

 public:
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  struct Ignore {
    void operator()(const ClassicStep&) const {}
  };

  explicit ClassicCuckoo(const ClassicOptions& options = {})
      : options_(options),
        buckets_(std::max<std::size_t>(options.buckets, 1)),
        random_(options.seed) {
    draw_seeds();
    slots_.resize(total_buckets() * b);
  }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return slots_.size(); }
  std::size_t buckets() const { return total_buckets(); }
  std::size_t stashed() const { return stash_.size(); }
  double load() const { return static_cast<double>(size_) / static_cast<double>(capacity()); }

  bool contains(std::uint64_t key) const {
    for (unsigned i = 0; i < d; ++i) {
      const std::size_t first = choice(key, i) * b;
      for (std::size_t slot = first; slot < first + b; ++slot) {
        if (slots_[slot] == key) return true;
      }
    }
    return std::find(stash_.begin(), stash_.end(), key) != stash_.end();
  }

  /// True if the key is here afterwards. watch(step) sees every ClassicStep.
  template <class Watch = Ignore>
  bool insert(std::uint64_t key, Watch&& watch = {}) {
    if (contains(key)) return true;
    std::optional<std::uint64_t> homeless = place(key, watch);
    if (!homeless) {
      ++size_;
      return true;
    }
    return settle(key, *homeless, watch);
  }

  bool erase(std::uint64_t key) {
    for (unsigned i = 0; i < d; ++i) {
      const std::size_t first = choice(key, i) * b;
      for (std::size_t slot = first; slot < first + b; ++slot) {
        if (slots_[slot] != key) continue;
        slots_[slot].reset();
        --size_;
        return true;
      }
    }
    const auto at = std::find(stash_.begin(), stash_.end(), key);
    if (at == stash_.end()) return false;
    stash_.erase(at);
    --size_;
    return true;
  }

  /// The key of a slot, for drawing the table.
  std::optional<std::uint64_t> at(std::size_t bucket, unsigned slot) const {
    return slots_[bucket * b + slot];
  }
  /// The key's i-th bucket, counted through all tables.
  std::size_t choice(std::uint64_t key, unsigned i) const {
    // the upper 64 bits of a product map a hash evenly on any number of buckets
    const std::uint64_t hash = mix(mix(key ^ seeds_[i]) + i);
    __extension__ using Wide = unsigned __int128;
    const auto index = static_cast<std::size_t>(static_cast<Wide>(hash) * buckets_ >> 64);
    return kShared ? index : i * buckets_ + index;
  }

 private:
  using Kind = ClassicStep::Kind;
  struct Kick {
    std::size_t slot;
    std::uint64_t thrown_out;
  };

  std::size_t total_buckets() const { return kShared ? buckets_ : buckets_ * d; }
  std::uint64_t random() { return mix(random_ += 0x9E3779B97F4A7C15ull); }
  void draw_seeds() {
    for (auto& seed : seeds_) seed = random();
  }

  bool place_in(std::uint64_t key, std::size_t bucket) {
    for (std::size_t slot = bucket * b; slot < (bucket + 1) * b; ++slot) {
      if (slots_[slot]) continue;
      slots_[slot] = key;
      return true;
    }
    return false;
  }

  /// Walks until everyone stands. Otherwise the key left over; kicks_ then tells the way back.
  template <class Watch>
  std::optional<std::uint64_t> place(std::uint64_t key, Watch& watch) {
    kicks_.clear();
    std::size_t came_from = kNowhere;
    for (;;) {
      for (unsigned i = 0; i < d; ++i) {
        const std::size_t bucket = choice(key, i);
        if (bucket == came_from || !place_in(key, bucket)) continue;
        watch(ClassicStep{Kind::kPlaced, key, came_from, bucket});
        return std::nullopt;
      }
      if (kicks_.size() >= options_.kick_budget) return key;
      std::size_t bucket = choice(key, static_cast<unsigned>(random() % d));
      for (unsigned i = 0; bucket == came_from && i < d; ++i) bucket = choice(key, i);
      const std::size_t slot = bucket * b + random() % b;
      watch(ClassicStep{Kind::kPlaced, key, came_from, bucket});
      const std::uint64_t thrown_out = *std::exchange(slots_[slot], key);
      watch(ClassicStep{Kind::kKicked, thrown_out, bucket, kNowhere});
      kicks_.push_back({slot, thrown_out});
      key = thrown_out;
      came_from = bucket;
    }
  }

  /// Everyone back to where they stood before the last place().
  void take_back() {
    for (auto kick = kicks_.rbegin(); kick != kicks_.rend(); ++kick) {
      slots_[kick->slot] = kick->thrown_out;
    }
    kicks_.clear();
  }

  template <class Watch>
  bool settle(std::uint64_t key, std::uint64_t homeless, Watch& watch) {
    if (stash_.size() < Stash) {
      stash_.push_back(homeless);
      ++size_;
      watch(ClassicStep{Kind::kStashed, homeless, kNowhere, kNowhere});
      return true;
    }
    take_back();
    if (rebuild(key, watch)) return true;
    watch(ClassicStep{Kind::kFailed, key, kNowhere, kNowhere});
    return false;
  }

  /// All keys and one more, under new seeds; in twice the buckets after some tries. False, and
  /// nothing has changed, if that is not allowed.
  template <class Watch>
  bool rebuild(std::uint64_t key, Watch& watch) {
    std::vector<std::uint64_t> keys{key};
    for (const auto& slot : slots_) {
      if (slot) keys.push_back(*slot);
    }
    keys.insert(keys.end(), stash_.begin(), stash_.end());
    const ClassicCuckoo before = *this;
    constexpr unsigned kDoublings = 3;  // random hashes never need more
    for (unsigned doubling = 0; doubling <= (options_.grows ? kDoublings : 0); ++doubling) {
      const unsigned tries = doubling == 0 ? options_.rehashes : std::max(options_.rehashes, 1u);
      for (unsigned i = 0; i < tries; ++i) {
        draw_seeds();
        slots_.assign(total_buckets() * b, std::nullopt);
        stash_.clear();
        size_ = 0;
        if (!refill(keys)) continue;
        watch(ClassicStep{doubling == 0 ? Kind::kRehashed : Kind::kGrown, key, kNowhere, kNowhere});
        return true;
      }
      buckets_ *= 2;
    }
    const std::uint64_t random_now = random_;
    *this = before;
    random_ = random_now;  // the next failure tries other seeds
    return false;
  }

  bool refill(const std::vector<std::uint64_t>& keys) {
    Ignore nobody;
    for (const std::uint64_t key : keys) {
      const auto homeless = place(key, nobody);
      if (homeless && stash_.size() >= Stash) return false;
      if (homeless) stash_.push_back(*homeless);
      ++size_;
    }
    return true;
  }

  ClassicOptions options_;
  std::size_t buckets_;  // a table
  std::uint64_t random_;
  std::size_t size_ = 0;
  std::array<std::uint64_t, d> seeds_;
  std::vector<std::optional<std::uint64_t>> slots_;
  std::vector<std::uint64_t> stash_;
  std::vector<Kick> kicks_;
};

}  // namespace nidus::map

namespace nidus {
using map::ClassicCuckoo;
}  // namespace nidus

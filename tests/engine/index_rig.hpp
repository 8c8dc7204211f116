// SPDX-License-Identifier: Apache-2.0
#pragma once

// An index with a hash of the test's choice, its own items, and a check of every invariant. For one
// thread: a replaced item is freed at once.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "engine/index.hpp"
#include "engine/thread.hpp"

#include <gtest/gtest.h>

namespace nidus::engine {

/// splitmix64 over FNV-1a: good in every bit; the mask then makes it as weak as a test wants.
inline std::uint64_t test_hash(std::string_view key, std::uint64_t mask) {
  std::uint64_t h = 0xCBF29CE484222325ull;
  for (const char c : key) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ull;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBull;
  return (h ^ (h >> 31)) & mask;
}

/// What is wrong with a segment, or "". Requires: nobody writes it.
inline std::string segment_faults(const Segment& segment, const Index::Hasher& hasher,
                                  std::unordered_set<std::string_view>& seen) {
  std::uint32_t keys = 0, expiring = 0;
  for (std::uint64_t b = 0; b <= segment.bucket_mask; ++b) {
    for (unsigned s = 0; s < Segment::kSlots; ++s) {
      const std::uint64_t word = segment.buckets[b].load(s);
      if (slot_word::tag(word) == 0) {
        if ((word & ~slot_word::kMark) != 0) return "an empty slot holds more than its mark";
        continue;
      }
      const Item& item = *slot_word::item(word);
      const std::uint64_t hash = hasher(item);
      ++keys;
      if (item.has_expiry()) {
        ++expiring;
        if (segment.next_expiry.load() > item.expires_at()) return "next_expiry is too late";
      }
      if (!seen.insert(item.key()).second) return "a key stands twice";
      if (slot_word::tag(word) != Geometry::tag(hash)) return "a slot has another key's tag";
      const std::uint64_t home = Geometry::bucket(hash, segment.bucket_mask);
      const std::uint64_t other =
          Geometry::alternate(home, Geometry::tag(hash), segment.bucket_mask);
      if (b != home && b != other) return "a key stands in neither of its buckets";
      if (slot_word::guest(word) != (b != home)) return "a guest bit is wrong";
      if (b != home && !segment.buckets[home].marked(Geometry::overflow_class(Geometry::tag(hash))))
        return "a key left its first bucket without a mark";
      if (segment.local_bits != 0 && (hash ^ segment.prefix) >> (64 - segment.local_bits) != 0)
        return "a key stands in another range's segment";
    }
  }
  if (keys != segment.keys.load()) return "the count of keys is wrong";
  if (expiring != segment.expiring.load()) return "the count of expiring keys is wrong";
  return "";
}

class IndexRig {
 public:
  explicit IndexRig(std::uint64_t hash_mask = ~std::uint64_t{0})
      : mask_(hash_mask),
        index({&mask_,
               [](const void* mask, std::string_view key) {
                 return test_hash(key, *static_cast<const std::uint64_t*>(mask));
               }},
              memory) {}
  ~IndexRig() {
    for (auto& [key, item] : truth) Item::destroy(item);
  }

  std::uint64_t hash(std::string_view key) const { return test_hash(key, mask_); }
  Index::Hasher hasher() const {
    return {&mask_, [](const void* mask, std::string_view key) {
              return test_hash(key, *static_cast<const std::uint64_t*>(mask));
            }};
  }
  const Item* find(std::string_view key) const { return index.find(hash(key), key); }

  bool put(const std::string& key, Millis expires_at = kNoExpiry) {
    Item* fresh = Item::create(key, 0, expires_at, 0);
    Index::Locked locked(index, hash(key), key);
    if (!locked.put(fresh)) {
      Item::destroy(fresh);
      return false;
    }
    auto [at, is_new] = truth.emplace(key, fresh);
    if (!is_new) {
      Item::destroy(at->second);
      at->second = fresh;
    }
    return true;
  }

  bool erase(const std::string& key) {
    Index::Locked locked(index, hash(key), key);
    if (locked.item() == nullptr) return false;
    locked.erase();
    const auto at = truth.find(key);
    Item::destroy(at->second);
    truth.erase(at);
    return true;
  }

  /// Every key of the truth, and no other; every invariant of every segment.
  void check() {
    std::unordered_set<std::string_view> seen;
    std::string faults;
    std::size_t segments = 0, bytes = 0;
    index.for_each_segment(0, [&](Segment& segment) {
      ++segments;
      bytes += segment.bytes();
      faults = segment_faults(segment, hasher(), seen);
      return faults.empty();
    });
    ASSERT_EQ(faults, "");
    ASSERT_EQ(segments, index.segment_count());
    ASSERT_GE(index.memory().index_bytes(), bytes);
    ASSERT_EQ(seen.size(), truth.size());
    ASSERT_EQ(index.size(), truth.size());
    for (const auto& [key, item] : truth) ASSERT_EQ(find(key), item) << key;
  }
  /// The invariants of one key's segment.
  void check_segment_of(std::string_view key) {
    std::unordered_set<std::string_view> seen;
    ASSERT_EQ(segment_faults(*index.segment_for(hash(key)), hasher(), seen), "");
  }

 private:
  ThreadScope scope_;
  std::uint64_t mask_;

 public:
  MemoryAccount memory;
  Index index;
  std::unordered_map<std::string, Item*> truth;
};

}  // namespace nidus::engine

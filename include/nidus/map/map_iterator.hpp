// SPDX-License-Identifier: Apache-2.0
#pragma once

// Iteration over a CuckooTable: slot by slot. An element is seen through an Entry, a pair of the key
// and a reference to the value, as std::flat_map does it: `for (auto [key, value] : map)`.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

namespace nidus::map {

/// K is `const Key` where the key is stored as its hash, else `const Key&`.
template <class K, class V>
struct Entry {
  K first;
  V& second;

  operator std::pair<std::remove_cvref_t<K>, std::remove_const_t<V>>() const {
    return {first, second};
  }
};

/// Ends when elements move: at an insertion that displaces or grows, at clear, shrink_to_fit,
/// reserve, swap. An erase ends only the iterators to what it erased.
template <class Table, class Key, class Value, bool kConst>
class MapIterator {
  using TablePointer = std::conditional_t<kConst, const Table*, Table*>;
  using V = std::conditional_t<kConst, const Value, Value>;

 public:
  using iterator_concept = std::forward_iterator_tag;
  using iterator_category = std::input_iterator_tag;  // an Entry is not a reference to a pair
  using value_type = std::pair<Key, Value>;
  using difference_type = std::ptrdiff_t;
  using reference = Entry<typename Table::Bucket::KeyReference, V>;
  struct pointer {
    reference entry;
    reference* operator->() { return &entry; }
  };

  MapIterator() = default;
  MapIterator(TablePointer table, std::uint64_t bucket, unsigned slot)
      : table_(table), bucket_(bucket), slot_(slot) {}
  /// An iterator turns into a const_iterator.
  template <bool kFromConst>
  requires(kConst && !kFromConst)
      MapIterator(const MapIterator<Table, Key, Value, kFromConst>& from)
      : table_(from.table()), bucket_(from.bucket()), slot_(from.slot()) {}

  reference operator*() const {
    auto& bucket = table_->bucket(bucket_);
    return {bucket.key(slot_, bucket_, table_->mask()), *bucket.value(slot_)};
  }
  pointer operator->() const { return {**this}; }

  MapIterator& operator++() {
    ++slot_;
    skip_empty();
    return *this;
  }
  MapIterator operator++(int) {
    MapIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const MapIterator& a, const MapIterator& b) {
    return a.bucket_ == b.bucket_ && a.slot_ == b.slot_;
  }

  /// To the first element at or behind this place.
  void skip_empty() {
    for (; bucket_ < table_->buckets(); ++bucket_, slot_ = 0) {
      if (slot_ >= Table::kSlots) continue;
      const unsigned used = table_->bucket(bucket_).used() >> slot_;
      if (used == 0) continue;
      slot_ += static_cast<unsigned>(std::countr_zero(used));
      return;
    }
    slot_ = 0;
  }

  TablePointer table() const { return table_; }
  std::uint64_t bucket() const { return bucket_; }
  unsigned slot() const { return slot_; }

 private:
  TablePointer table_ = nullptr;
  std::uint64_t bucket_ = 0;
  unsigned slot_ = 0;
};

}  // namespace nidus::map

// SPDX-License-Identifier: Apache-2.0
#pragma once

// CuckooMap: a dictionary for one thread in the standard library's words. Look-ups read one bucket,
// rarely two, never more; erasing leaves no tombstones; loads above 0.95 are in reach. Where and
// how: cuckoo_table.hpp; the layouts: packed_bucket.hpp (integer keys), tagged_bucket.hpp (others).
// docs/algorithms/cuckoo_map.md tells how to choose.
//
// Thread-safety: const calls with each other; nothing beside a change.
// References, pointers and iterators end when elements move: at an insertion (another key may be
// displaced), reserve, shrink_to_fit, clear, swap. Not at an erase.
// Errors: std::length_error if more keys with alike hashes come than two buckets hold; std::bad_alloc.
//   After either, and after any exception of a key, a value, a hash or a comparison, an insertion has
//   changed no contents. (Elements that can be neither copied nor moved without throwing are exempt.)

#include <cassert>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nidus/map/cuckoo_batch.hpp>
#include <nidus/map/cuckoo_table.hpp>
#include <nidus/map/map_iterator.hpp>
#include <nidus/map/packed_bucket.hpp>
#include <nidus/map/policy.hpp>
#include <nidus/map/tagged_bucket.hpp>

namespace nidus::map {

/// Integer keys under the default hash and equality are stored as their hash.
template <class Key, class Policy>
concept PackedKeys =
    IntegerKey<Key> && std::same_as<typename Policy::template Hash<Key>, DefaultHash<Key>> &&
    (std::same_as<typename Policy::template Equal<Key>, std::equal_to<>> ||
     std::same_as<typename Policy::template Equal<Key>, std::equal_to<Key>>)&&Policy::kAlternate
    == Alternate::kPartialKey;

template <class Key, class Value, class Policy = MapPolicy>
class CuckooMap {
  static_assert(Policy::kSlots == 4 || Policy::kSlots == 8, "a bucket has 4 or 8 slots");
  static_assert(std::is_object_v<Value>, "a value is an object");
  static constexpr bool kPacked = PackedKeys<Key, Policy>;
  using Bucket = std::conditional_t<kPacked, PackedBucket<Key, Value, Policy>,
                                    TaggedBucket<Key, Value, Policy>>;

 public:
  using key_type = Key;
  using mapped_type = Value;
  using value_type = std::pair<Key, Value>;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using hasher = typename Policy::template Hash<Key>;
  using key_equal = typename Policy::template Equal<Key>;
  using allocator_type = typename Policy::template Allocator<value_type>;
  using Table = CuckooTable<Bucket, Policy, allocator_type>;
  using iterator = MapIterator<Table, Key, Value, false>;
  using const_iterator = MapIterator<Table, Key, Value, true>;
  using reference = typename iterator::reference;
  using const_reference = typename const_iterator::reference;

 private:
  using AllocatorTraits = std::allocator_traits<allocator_type>;
  using TableHasher = typename Bucket::Hasher;
  using TableEqual = typename Bucket::Equality;

  template <class K>
  static constexpr bool kTransparent = !kPacked && !std::same_as<std::remove_cvref_t<K>, Key> &&
                                       !std::convertible_to<K, const_iterator> && requires {
    typename hasher::is_transparent;
    typename key_equal::is_transparent;
  };

 public:
  // --- construction ---

  CuckooMap() : CuckooMap(allocator_type()) {}
  explicit CuckooMap(const allocator_type& allocator)
      : table_(TableHasher(), TableEqual(), allocator) {}
  explicit CuckooMap(size_type elements, const allocator_type& allocator = allocator_type())
      : CuckooMap(allocator) {
    reserve(elements);
  }
  CuckooMap(size_type elements, const hasher& hash, const key_equal& equal = key_equal(),
            const allocator_type& allocator = allocator_type()) requires(!kPacked)
      : table_(hash, equal, allocator) {
    reserve(elements);
  }
  template <std::input_iterator It>
  CuckooMap(It first, It last, const allocator_type& allocator = allocator_type())
      : CuckooMap(allocator) {
    insert(first, last);
  }
  CuckooMap(std::initializer_list<value_type> list,
            const allocator_type& allocator = allocator_type())
      : CuckooMap(list.begin(), list.end(), allocator) {}

  CuckooMap(const CuckooMap& from)
      : CuckooMap(from,
                  AllocatorTraits::select_on_container_copy_construction(from.get_allocator())) {}
  CuckooMap(const CuckooMap& from, const allocator_type& allocator)
      : table_(from.table_.hasher(), from.table_.equality(), allocator) {
    table_.copy_from(from.table_);
  }
  CuckooMap(CuckooMap&& from) noexcept
      : table_(from.table_.hasher(), from.table_.equality(), from.table_.allocator()) {
    table_.swap_buckets(from.table_);
  }
  CuckooMap(CuckooMap&& from, const allocator_type& allocator)
      : table_(from.table_.hasher(), from.table_.equality(), allocator) {
    take(from);
  }
  CuckooMap& operator=(const CuckooMap& from) {
    if (this == &from) return *this;
    constexpr bool kPropagates = AllocatorTraits::propagate_on_container_copy_assignment::value;
    CuckooMap copy(from, kPropagates ? from.get_allocator() : get_allocator());
    if constexpr (kPropagates) table_.swap_allocator(copy.table_);
    table_.swap_functions(copy.table_);
    table_.swap_buckets(copy.table_);
    return *this;
  }
  CuckooMap& operator=(CuckooMap&& from) noexcept(
      AllocatorTraits::propagate_on_container_move_assignment::value ||
      AllocatorTraits::is_always_equal::value) {
    if (this == &from) return *this;
    if constexpr (AllocatorTraits::propagate_on_container_move_assignment::value) {
      CuckooMap old(std::move(from));
      swap_all(old);
    } else {
      CuckooMap taken(std::move(from), get_allocator());
      table_.swap_functions(taken.table_);
      table_.swap_buckets(taken.table_);
    }
    return *this;
  }
  CuckooMap& operator=(std::initializer_list<value_type> list) {
    return *this = CuckooMap(list, get_allocator());
  }
  /// Requires: equal allocators, unless they propagate on swap.
  void swap(CuckooMap& with) noexcept {
    if constexpr (AllocatorTraits::propagate_on_container_swap::value) {
      table_.swap_allocator(with.table_);
    } else {
      assert(get_allocator() == with.get_allocator());
    }
    table_.swap_functions(with.table_);
    table_.swap_buckets(with.table_);
  }
  friend void swap(CuckooMap& a, CuckooMap& b) noexcept { a.swap(b); }

  allocator_type get_allocator() const { return table_.allocator(); }
  hasher hash_function() const {
    if constexpr (kPacked)
      return hasher();
    else
      return table_.hasher();
  }
  key_equal key_eq() const {
    if constexpr (kPacked)
      return key_equal();
    else
      return table_.equality();
  }

  // --- size ---

  bool empty() const { return table_.size() == 0; }
  size_type size() const { return static_cast<size_type>(table_.size()); }
  size_type max_size() const {
    return static_cast<size_type>(table_.max_buckets()) * Table::kSlots;
  }
  size_type capacity() const { return static_cast<size_type>(table_.slots()); }
  size_type bucket_count() const { return static_cast<size_type>(table_.buckets()); }
  float load_factor() const {
    return empty() ? 0.0f : static_cast<float>(size()) / static_cast<float>(capacity());
  }
  float max_load_factor() const { return static_cast<float>(table_.max_load()); }
  /// The share of slots above which an insertion doubles the table. 1: only when no path is found.
  void max_load_factor(float load) { table_.set_max_load(static_cast<double>(load)); }
  /// The number of buckets that the map may not grow beyond; an insertion that finds no place then
  /// throws std::length_error.
  void max_bucket_count(size_type buckets) { table_.set_max_buckets(buckets); }
  /// Bytes of the table; not what keys and values own themselves.
  size_type memory_usage() const { return sizeof(*this) + table_.memory_usage(); }

  void reserve(size_type elements) { table_.grow_to(table_.buckets_for(elements)); }
  void shrink_to_fit() { table_.shrink(); }
  void clear() { table_.clear(); }

  // --- iteration ---

  iterator begin() { return first_of<iterator>(table_); }
  const_iterator begin() const { return first_of<const_iterator>(table_); }
  const_iterator cbegin() const { return begin(); }
  iterator end() { return {&table_, table_.buckets(), 0}; }
  const_iterator end() const { return {&table_, table_.buckets(), 0}; }
  const_iterator cend() const { return end(); }

  // --- look-up ---

  iterator find(const Key& key) { return at_place<iterator>(table_, locate(key)); }
  const_iterator find(const Key& key) const {
    return at_place<const_iterator>(table_, locate(key));
  }
  bool contains(const Key& key) const { return locate(key).slot >= 0; }
  size_type count(const Key& key) const { return contains(key) ? 1 : 0; }
  Value& at(const Key& key) { return const_cast<Value&>(std::as_const(*this).at(key)); }
  const Value& at(const Key& key) const {
    const auto found = locate(key);
    if (found.slot < 0) throw std::out_of_range("nidus::CuckooMap::at: no such key");
    return value_at(found);
  }

  // The same with what hash and equality take for a key (both have is_transparent).
  template <class K>
  requires(kTransparent<K>) iterator find(const K& key) {
    return at_place<iterator>(table_, locate(key));
  }
  template <class K>
  requires(kTransparent<K>) const_iterator find(const K& key)
  const { return at_place<const_iterator>(table_, locate(key)); }
  template <class K>
  requires(kTransparent<K>) bool contains(const K& key) const { return locate(key).slot >= 0; }
  template <class K>
  requires(kTransparent<K>) size_type count(const K& key)
  const { return contains(key) ? 1 : 0; }

  /// Looks up many keys with overlapping memory accesses: out[i] points to keys[i]'s value or is
  /// null. Returns how many are here. Requires: out.size() >= keys.size(). No allocation.
  size_type find_batch(std::span<const Key> keys, std::span<const Value*> out) const {
    assert(out.size() >= keys.size());
    size_type hits = 0;
    look_up_batch(table_, keys, [&](std::size_t i, std::uint64_t bucket, int slot) {
      hits += slot >= 0;
      out[i] = slot < 0 ? nullptr : table_.bucket(bucket).value(static_cast<unsigned>(slot));
    });
    return hits;
  }
  size_type find_batch(std::span<const Key> keys, std::span<Value*> out) {
    assert(out.size() >= keys.size());
    size_type hits = 0;
    look_up_batch(table_, keys, [&](std::size_t i, std::uint64_t bucket, int slot) {
      hits += slot >= 0;
      out[i] = slot < 0 ? nullptr : table_.bucket(bucket).value(static_cast<unsigned>(slot));
    });
    return hits;
  }
  /// out[i] = contains(keys[i]). Returns how many are here.
  size_type contains_batch(std::span<const Key> keys, std::span<bool> out) const {
    assert(out.size() >= keys.size());
    size_type hits = 0;
    look_up_batch(table_, keys, [&](std::size_t i, std::uint64_t, int slot) {
      out[i] = slot >= 0;
      hits += slot >= 0;
    });
    return hits;
  }

  // --- insertion ---

  template <class... Args>
  std::pair<iterator, bool> try_emplace(const Key& key, Args&&... args) {
    return insert_new(key, std::forward<Args>(args)...);
  }
  template <class... Args>
  std::pair<iterator, bool> try_emplace(Key&& key, Args&&... args) {
    return insert_new(std::move(key), std::forward<Args>(args)...);
  }
  template <class V>
  std::pair<iterator, bool> insert_or_assign(const Key& key, V&& value) {
    return assign(key, std::forward<V>(value));
  }
  template <class V>
  std::pair<iterator, bool> insert_or_assign(Key&& key, V&& value) {
    return assign(std::move(key), std::forward<V>(value));
  }
  std::pair<iterator, bool> insert(const value_type& entry) {
    return insert_new(entry.first, entry.second);
  }
  std::pair<iterator, bool> insert(value_type&& entry) {
    return insert_new(std::move(entry.first), std::move(entry.second));
  }
  template <std::input_iterator It>
  void insert(It first, It last) {
    for (; first != last; ++first) {
      auto&& entry = *first;
      insert_new(entry.first, entry.second);
    }
  }
  void insert(std::initializer_list<value_type> list) { insert(list.begin(), list.end()); }
  template <class... Args>
  std::pair<iterator, bool> emplace(Args&&... args) {
    value_type entry(std::forward<Args>(args)...);
    return insert_new(std::move(entry.first), std::move(entry.second));
  }
  Value& operator[](const Key& key) { return *reference_to(insert_new(key).first); }
  Value& operator[](Key&& key) { return *reference_to(insert_new(std::move(key)).first); }

  /// Inserts many, in order, with overlapping memory accesses; keys that are here keep their value.
  /// Returns how many were new. An exception leaves those before it inserted.
  size_type insert_batch(std::span<const value_type> entries) {
    const size_type before = size();
    for (std::size_t begin = 0; begin < entries.size(); begin += kBatchChunk) {
      const auto chunk = entries.subspan(begin, std::min(kBatchChunk, entries.size() - begin));
      if (table_.buckets() > 0) {
        for (const auto& entry : chunk) table_.prefetch(table_.first(table_.hash(entry.first)));
      }
      for (const auto& entry : chunk) insert_new(entry.first, entry.second);
    }
    return size() - before;
  }

  // --- removal ---

  iterator erase(const_iterator at) {
    table_.erase(at.bucket(), at.slot());
    iterator next(&table_, at.bucket(), at.slot() + 1);
    next.skip_empty();
    return next;
  }
  iterator erase(iterator at) { return erase(const_iterator(at)); }
  iterator erase(const_iterator first, const_iterator last) {
    while (first != last) first = erase(first);
    return {&table_, first.bucket(), first.slot()};
  }
  size_type erase(const Key& key) { return erase_key(key); }
  template <class K>
  requires(kTransparent<K>) size_type erase(const K& key) { return erase_key(key); }
  template <class Predicate>
  friend size_type erase_if(CuckooMap& map, Predicate predicate) {
    const size_type before = map.size();
    for (auto at = map.begin(); at != map.end();) {
      if (predicate(*at))
        at = map.erase(at);
      else
        ++at;
    }
    return before - map.size();
  }

  friend bool operator==(const CuckooMap& a, const CuckooMap& b) {
    if (a.size() != b.size()) return false;
    for (const auto& entry : a) {
      const auto found = b.locate(entry.first);
      if (found.slot < 0 || !(b.value_at(found) == entry.second)) return false;
    }
    return true;
  }

  /// The table below, for tests, benches and the lab.
  const Table& table() const { return table_; }

 private:
  using Found = typename Table::Found;

  template <class It, class T>
  static It first_of(T& table) {
    It at(&table, 0, 0);
    at.skip_empty();
    return at;
  }
  template <class It, class T>
  static It at_place(T& table, Found found) {
    if (found.slot < 0) return {&table, table.buckets(), 0};
    return {&table, found.bucket, static_cast<unsigned>(found.slot)};
  }
  template <class K>
  Found locate(const K& key) const {
    return table_.find(key, table_.hash(key));
  }
  const Value& value_at(Found found) const {
    return *table_.bucket(found.bucket).value(static_cast<unsigned>(found.slot));
  }
  Value* reference_to(iterator at) { return table_.bucket(at.bucket()).value(at.slot()); }

  template <class K, class... Args>
  std::pair<iterator, bool> insert_new(K&& key, Args&&... args) {
    const std::uint64_t hash = table_.hash(key);
    Found at = table_.find(key, hash);
    if (at.slot >= 0) return {at_place<iterator>(table_, at), false};
    at = table_.quick_place(hash);
    if (at.slot >= 0) [[likely]] {
      table_.emplace(at, hash, std::forward<K>(key), std::forward<Args>(args)...);
    } else {
      at = insert_displacing(hash, std::forward<K>(key), std::forward<Args>(args)...);
    }
    return {at_place<iterator>(table_, at), true};
  }

  /// The arguments may refer to elements that are about to move, so the new one is made first.
  template <class K, class... Args>
  NIDUS_NOINLINE Found insert_displacing(std::uint64_t hash, K&& key, Args&&... args) {
    Key new_key(std::forward<K>(key));
    auto allocator = table_.allocator();
    Value new_value = std::make_obj_using_allocator<Value>(allocator, std::forward<Args>(args)...);
    const Found at = table_.make_place(hash);
    table_.emplace(at, hash, std::move(new_key), std::move(new_value));
    return at;
  }

  template <class K, class V>
  std::pair<iterator, bool> assign(K&& key, V&& value) {
    const auto found = locate(key);
    if (found.slot < 0) return insert_new(std::forward<K>(key), std::forward<V>(value));
    const iterator at = at_place<iterator>(table_, found);
    *reference_to(at) = std::forward<V>(value);
    return {at, false};
  }

  template <class K>
  size_type erase_key(const K& key) {
    const auto found = locate(key);
    if (found.slot < 0) return 0;
    table_.erase(found.bucket, static_cast<unsigned>(found.slot));
    return 1;
  }

  void swap_all(CuckooMap& with) noexcept {
    table_.swap_allocator(with.table_);
    table_.swap_functions(with.table_);
    table_.swap_buckets(with.table_);
  }
  /// The other's elements, one by one if the allocators differ. Requires: this map is empty.
  void take(CuckooMap& from) {
    if (get_allocator() == from.get_allocator()) {
      table_.swap_buckets(from.table_);
      return;
    }
    max_load_factor(from.max_load_factor());
    table_.set_max_buckets(from.table_.max_buckets());
    table_.grow_to(from.table_.buckets());
    for (auto at = from.begin(); at != from.end(); ++at) {
      auto&& [key, value] = *at;
      insert_new(key_to_move(key), std::move(value));
    }
    from.clear();
  }
  template <class K>
  static auto&& key_to_move(K& key) {
    if constexpr (kPacked)
      return key;
    else
      return std::move(const_cast<Key&>(key));
  }

  Table table_;
};

}  // namespace nidus::map

namespace nidus {
using map::CuckooMap;
}  // namespace nidus

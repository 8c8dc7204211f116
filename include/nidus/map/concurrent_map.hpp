// SPDX-License-Identifier: Apache-2.0
#pragma once

// ConcurrentMap: a dictionary that all threads use at once. It has no iterators and gives no
// references: values are copied out (find) or visited in place (visit). Look-ups read one bucket,
// rarely two, never more; growth replaces one segment at a time, so that nobody waits long.
// How: concurrent_table.hpp; what may run beside what: docs/algorithms/concurrent_map.md.
//
// Two ways to read, chosen by the types. Optimistic: the value is trivially copyable and the key
// plain (kPlainKey) under the standard equality; a reader writes no shared memory, copies the value
// out and checks the stripe's version. Otherwise a reader locks the stripe.
//
// Thread-safety: every call from every thread, but construction and destruction.
// State: see concurrent_table.hpp.
// Lock order: a call holds one stripe, never two. Callbacks run under it (but those of cvisit, and
//   the functions of find_batch and cvisit_batch, where reading is optimistic): they must be short
//   and must not call this map. That is caught in debug builds.
// Publish: a change is seen at once by every call that begins after it returned.
// Validate: what a call returns was true at one moment during the call.
// Reclaim: memory of erased elements serves new ones; blocks are kept until the map ends.
// Invariant: a key is in the map once.
// Errors: std::length_error if more keys with alike hashes come than two buckets hold;
//   std::bad_alloc; what a callback, hash or comparison throws. The element of the call is then
//   unchanged, or absent if it was.

#include <cassert>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <nidus/lanes/shared_words.hpp>
#include <nidus/map/callback_guard.hpp>
#include <nidus/map/concurrent_batch.hpp>
#include <nidus/map/concurrent_table.hpp>
#include <nidus/map/cuckoo_map.hpp>
#include <nidus/map/policy.hpp>

namespace nidus::map {

/// Keys that may be compared while another thread overwrites them, for the answer is thrown away
/// then: numbers, enums, pointers. To be specialised for a trivially copyable key of a user whose
/// == follows no pointer.
template <class Key>
inline constexpr bool kPlainKey = std::is_scalar_v<Key>;

template <class Key, class Value, class Policy = MapPolicy>
class ConcurrentMap {
  static_assert(Policy::kSlots == 4 || Policy::kSlots == 8, "a bucket has 4 or 8 slots");
  static_assert(std::is_nothrow_move_constructible_v<Key> &&
                    std::is_nothrow_move_constructible_v<Value>,
                "elements move between buckets and may not throw then");
  static constexpr bool kPacked = PackedKeys<Key, Policy>;
  using EqualTo = typename Policy::template Equal<Key>;

 public:
  static constexpr bool kOptimistic =
      std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value> && kPlainKey<Key> &&
      (std::same_as<EqualTo, std::equal_to<>> || std::same_as<EqualTo, std::equal_to<Key>>);

 private:
  struct SharedPolicy : Policy {
    using Lanes = std::conditional_t<kOptimistic, lanes::SharedWords<typename Policy::Lanes>,
                                     typename Policy::Lanes>;
  };
  using Bucket = std::conditional_t<kPacked, PackedBucket<Key, Value, SharedPolicy>,
                                    TaggedBucket<Key, Value, SharedPolicy>>;

 public:
  using key_type = Key;
  using mapped_type = Value;
  using size_type = std::size_t;
  using hasher = typename Policy::template Hash<Key>;
  using key_equal = EqualTo;
  using allocator_type = typename Policy::template Allocator<std::pair<const Key, Value>>;
  using Table = ConcurrentTable<Bucket, SharedPolicy, allocator_type, kOptimistic>;

  ConcurrentMap() : ConcurrentMap(allocator_type()) {}
  /// The allocator is used by several threads at once, for values, too.
  explicit ConcurrentMap(const allocator_type& allocator) : table_({{}, {}, allocator}) {}
  explicit ConcurrentMap(size_type elements) : ConcurrentMap() { reserve(elements); }
  ConcurrentMap(const hasher& hash, const key_equal& equal,
                const allocator_type& allocator = allocator_type()) requires(!kPacked)
      : table_({hash, equal, allocator}) {}
  ConcurrentMap(const ConcurrentMap&) = delete;
  ConcurrentMap& operator=(const ConcurrentMap&) = delete;

  // --- reading. K: Key, what converts to it, or what a transparent hash and equality take ---

  /// A copy of the key's value.
  template <class K = Key>
  std::optional<Value> find(const K& key) const {
    std::optional<Value> copy;
    cvisit(key, [&copy](const Value& value) { copy.emplace(value); });
    return copy;
  }

  template <class K = Key>
  bool contains(const K& key) const {
    if constexpr (kOptimistic) {
      const auto& wanted = as_key(key);
      assert_no_callback(this);
      const std::uint64_t hash = table_.hash(wanted);
      return table_.read(
          hash, [&](const View& view) { return static_cast<bool>(view.find(wanted, hash)); });
    } else {
      return cvisit(key, [](const Value&) {});
    }
  }

  /// Calls f(const Value&) if the key is here, and returns whether it is. Where reading is
  /// optimistic, f gets a copy and holds nothing; elsewhere it runs under the stripe.
  template <class K = Key, class F>
  bool cvisit(const K& key, F f) const {
    const auto& wanted = as_key(key);
    assert_no_callback(this);
    const std::uint64_t hash = table_.hash(wanted);
    if constexpr (kOptimistic) {
      Raw<Value> raw;
      const bool here = table_.read(hash, [&](const View& view) {
        const Spot at = view.find(wanted, hash);
        if (at) view.template load_value<Value>(at, raw.bytes);
        return static_cast<bool>(at);
      });
      if (!here) return false;
      const Value value = raw.value();
      std::invoke(f, value);
    } else {
      const Hold hold(table_, hash);
      const View view = table_.view_of(*hold);
      const Spot at = view.find(wanted, hash);
      if (!at) return false;
      const CallbackGuard guard(this);
      std::invoke(f, std::as_const(*view.value(at)));
    }
    return true;
  }
  template <class K = Key, class F>
  bool visit(const K& key, F f) const {
    return cvisit(key, std::move(f));
  }

  /// out[i] = find(keys[i]), with overlapping memory accesses. Returns how many are here. Each
  /// answer stands for itself. Requires: out.size() >= keys.size(). No allocation but that of the
  /// copies.
  size_type find_batch(std::span<const Key> keys, std::span<std::optional<Value>> out) const {
    assert(out.size() >= keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) out[i].reset();
    return cvisit_batch(keys, [out](std::size_t i, const Value& value) { out[i].emplace(value); });
  }
  /// Calls f(i, const Value&) for every keys[i] that is here, in no fixed order.
  template <class F>
  size_type cvisit_batch(std::span<const Key> keys, F f) const {
    size_type hits = 0;
    if constexpr (kOptimistic) {
      assert_no_callback(this);
      const auto done = [&](std::size_t i, const Raw<Value>* raw) {
        if (raw == nullptr) return;
        ++hits;
        const Value value = raw->value();
        std::invoke(f, i, value);
      };
      BatchReader<Value, Table, Key, decltype(done)>(table_, keys, done).run();
    } else {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        hits += cvisit(keys[i], [&](const Value& value) { std::invoke(f, i, value); });
      }
    }
    return hits;
  }

  // --- changing. Each returns whether the key was new (insert...) or here (the others) ---

  /// Calls f(Value&) on the key's value under its stripe.
  template <class K = Key, class F>
  bool visit(const K& key, F f) {
    const auto& wanted = as_key(key);
    assert_no_callback(this);
    const std::uint64_t hash = table_.hash(wanted);
    Hold hold(table_, hash);
    const Spot at = table_.view_of(*hold).find(wanted, hash);
    if (!at) return false;
    modify(hold, at, f);
    return true;
  }

  template <class K = Key, class V = Value>
  bool insert(K&& key, V&& value) {
    return try_emplace(std::forward<K>(key), std::forward<V>(value));
  }
  /// Inserts Value(args...) if the key is absent; constructs nothing otherwise.
  template <class K = Key, class... Args>
  bool try_emplace(K&& key, Args&&... args) {
    return add(
        std::forward<K>(key), [&] { return make(std::forward<Args>(args)...); },
        [](Hold&, Spot) {});
  }
  /// Inserts factory() if the key is absent. The factory runs under the stripe: once for a new key,
  /// however many threads try, and never for one that is here.
  template <class K = Key, class Factory>
  bool try_emplace_with(K&& key, Factory factory) {
    return add(std::forward<K>(key), std::move(factory), [](Hold&, Spot) {});
  }
  /// Inserts, or calls f(Value&) on the value that is here.
  template <class K = Key, class V = Value, class F>
  bool insert_or_visit(K&& key, V&& value, F f) {
    return add(
        std::forward<K>(key), [&] { return make(std::forward<V>(value)); },
        [&](Hold& hold, Spot at) { modify(hold, at, f); });
  }
  /// Inserts, or replaces the value that is here.
  template <class K = Key, class V = Value>
  bool insert_or_assign(K&& key, V&& value) {
    return add(
        std::forward<K>(key), [&] { return make(std::forward<V>(value)); },
        [&](Hold& hold, Spot at) {
          modify(hold, at, [&](Value& here) { here = std::forward<V>(value); });
        });
  }
  /// Calls f(Value&) on the value that is here, or inserts Value(args...).
  template <class K = Key, class F, class... Args>
  bool upsert(K&& key, F f, Args&&... args) {
    return add(
        std::forward<K>(key), [&] { return make(std::forward<Args>(args)...); },
        [&](Hold& hold, Spot at) { modify(hold, at, f); });
  }
  /// Replaces the value if the key is here.
  template <class K = Key, class V = Value>
  bool update(const K& key, V&& value) {
    return visit(key, [&](Value& here) { here = std::forward<V>(value); });
  }

  template <class K = Key>
  bool erase(const K& key) {
    return erase_if(key, [](const Value&) { return true; });
  }
  /// Erases the key if it is here and predicate(const Value&) holds. Returns whether it did.
  template <class K = Key, class Predicate>
  bool erase_if(const K& key, Predicate predicate) {
    const auto& wanted = as_key(key);
    assert_no_callback(this);
    const std::uint64_t hash = table_.hash(wanted);
    Hold hold(table_, hash);
    const View view = table_.view_of(*hold);
    const Spot at = view.find(wanted, hash);
    if (!at) return false;
    {
      const CallbackGuard guard(this);
      if (!std::invoke(predicate, std::as_const(*view.value(at)))) return false;
    }
    table_.remove(hold, at);
    return true;
  }

  // --- all elements, stripe by stripe ---
  // A key that is here from the beginning of the call to its end is visited exactly once, whatever
  // is inserted, erased or split meanwhile. A key that comes or goes during the call is visited at
  // most once for each time that it was here. The elements of one stripe are seen as of one moment,
  // those of different stripes as of different ones.

  /// Calls f(const Key&, const Value&) under the stripe.
  template <class F>
  void cfor_each(F f) const {
    assert_no_callback(this);
    table_.for_each_segment([&](Hold& hold) {
      const View view = table_.view_of(*hold);
      const CallbackGuard guard(this);
      view.for_each([&](Spot at) {
        const auto& key = view.key(at);
        std::invoke(f, key, std::as_const(*view.value(at)));
      });
    });
  }
  template <class F>
  void for_each(F f) const {
    cfor_each(std::move(f));
  }
  /// Calls f(const Key&, Value&) under the stripe.
  template <class F>
  void for_each(F f) {
    assert_no_callback(this);
    table_.for_each_segment([&](Hold& hold) {
      const View view = table_.view_of(*hold);
      view.for_each([&](Spot at) {
        const auto& key = view.key(at);
        modify(hold, at, [&](Value& value) { std::invoke(f, key, value); });
      });
    });
  }
  /// Erases the elements of which predicate(const Key&, const Value&) holds; returns how many.
  template <class Predicate>
  size_type erase_if(Predicate predicate) {
    assert_no_callback(this);
    size_type erased = 0;
    table_.for_each_segment([&](Hold& hold) {
      const View view = table_.view_of(*hold);
      const auto drop = [&](Spot at) {
        const CallbackGuard guard(this);
        const auto& key = view.key(at);
        return static_cast<bool>(std::invoke(predicate, key, std::as_const(*view.value(at))));
      };
      view.for_each([&](Spot at) {
        if (!drop(at)) return;
        table_.remove_untidily(hold, at);
        ++erased;
      });
      table_.tidy_if_needed(hold);
    });
    return erased;
  }
  /// Erases every element that is here from the beginning of the call; what is inserted meanwhile
  /// may stay. The memory stays.
  void clear() {
    erase_if([](const Key&, const Value&) { return true; });
  }

  // --- sizes ---

  /// Exact when nobody changes the map meanwhile. Cost: a load a stripe.
  size_type size() const { return static_cast<size_type>(table_.size()); }
  bool empty() const { return size() == 0; }
  size_type capacity() const { return static_cast<size_type>(table_.slots()); }
  size_type stripes() const { return table_.stripes(); }
  /// Bytes of the map and all that it holds, without what its elements own.
  size_type memory_usage() const { return table_.memory_usage(); }
  /// Grows so that this many elements are likely to fit without growth.
  void reserve(size_type elements) { table_.reserve(elements); }

  allocator_type get_allocator() const { return table_.parts().allocator; }

 private:
  using View = typename Table::View;
  using Hold = typename Table::Hold;

  template <class K>
  static constexpr bool kTransparent = !kPacked && !std::same_as<K, Key> && requires {
    typename hasher::is_transparent;
    typename key_equal::is_transparent;
  };
  template <class K>
  static decltype(auto) as_key(const K& key) {
    if constexpr (std::same_as<K, Key> || kTransparent<K>) {
      return (key);
    } else {
      return static_cast<Key>(key);
    }
  }
  template <class... Args>
  Value make(Args&&... args) const {
    return std::make_obj_using_allocator<Value>(table_.parts().allocator,
                                                std::forward<Args>(args)...);
  }

  /// Lets f change the value in `at`; one that others may be reading is changed in a copy.
  template <class F>
  void modify(Hold& hold, Spot at, F&& f) {
    hold.changes();
    const CallbackGuard guard(this);
    const View view = table_.view_of(*hold);
    if constexpr (kOptimistic) {
      Value copy = *view.value(at);
      std::invoke(f, copy);
      view.store_value(at, copy);
    } else {
      std::invoke(f, *view.value(at));
    }
  }

  template <class K, class Factory, class Present>
  bool add(K&& key, Factory factory, Present present) {
    const auto& wanted = as_key(std::as_const(key));
    assert_no_callback(this);
    const std::uint64_t hash = table_.hash(wanted);
    Hold hold(table_, hash);
    if (const Spot at = table_.view_of(*hold).find(wanted, hash)) {
      present(hold, at);
      return false;
    }
    Value value = [&]() -> Value {
      const CallbackGuard guard(this);
      return factory();
    }();
    const Spot at = table_.make_place(hold, hash);
    if constexpr (std::same_as<std::remove_cvref_t<K>, Key>) {
      table_.put(hold, at, hash, std::forward<K>(key), std::move(value));
    } else {
      table_.put(hold, at, hash, Key(std::forward<K>(key)), std::move(value));
    }
    return true;
  }

  Table table_;
};

}  // namespace nidus::map

namespace nidus {
using map::ConcurrentMap;
}  // namespace nidus

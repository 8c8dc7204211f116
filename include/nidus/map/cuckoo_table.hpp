// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table under CuckooMap: buckets in one array, and what is done to their slots: find, place with
// displacement, vacate, double. It knows hashes and places; the map above knows the standard
// vocabulary. Most keys stand in their first bucket; a bucket's eight marks tell for which classes
// of keys the second must be looked at, so that most look-ups end in the first.
//
// Thread-safety: const calls with each other; nothing beside a change.
// Invariant: a guest's class is marked in its first bucket. A mark without a guest is stale: it costs
//   a look, never an answer. refresh_marks() removes the stale ones when enough guests have left.
// Invariant: an element that throws while it is moved leaves every key where it was or in its other
//   bucket: the table holds the same keys.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <nidus/base/platform.hpp>
#include <nidus/lanes/slots.hpp>
#include <nidus/map/geometry.hpp>
#include <nidus/map/huge_pages.hpp>
#include <nidus/map/path_search.hpp>
#include <nidus/map/policy.hpp>

namespace nidus::map {

template <class B, class Policy, class Allocator>
class CuckooTable {
 public:
  using Bucket = B;
  using Hasher = typename Bucket::Hasher;
  using Equality = typename Bucket::Equality;
  static constexpr unsigned kSlots = Bucket::kSlots;
  static constexpr int kAbsent = -1;

  struct Found {
    std::uint64_t bucket;
    int slot;  // kAbsent: not here
  };

  CuckooTable(const Hasher& hasher, const Equality& equality, const Allocator& allocator)
      : hasher_(hasher), equality_(equality), allocator_(allocator) {}
  CuckooTable(const CuckooTable&) = delete;
  CuckooTable& operator=(const CuckooTable&) = delete;
  ~CuckooTable() { release(); }

  // --- reading ---

  std::uint64_t buckets() const { return count_; }
  std::uint64_t slots() const { return count_ * kSlots; }
  std::uint64_t size() const { return size_; }
  std::size_t memory_usage() const { return static_cast<std::size_t>(count_) * sizeof(Bucket); }
  std::uint64_t mask() const { return mask_; }
  Bucket& bucket(std::uint64_t index) { return buckets_[index]; }
  const Bucket& bucket(std::uint64_t index) const { return buckets_[index]; }
  const Hasher& hasher() const { return hasher_; }
  const Equality& equality() const { return equality_; }
  const Allocator& allocator() const { return allocator_; }

  template <class K>
  std::uint64_t hash(const K& key) const {
    return Bucket::hash(hasher_, key);
  }
  std::uint64_t first(std::uint64_t hash) const { return Geometry::bucket(hash, mask_); }
  std::uint64_t second(std::uint64_t hash) const { return other(first(hash), hash); }
  /// Must the second bucket of a key that its first does not hold be looked at?
  bool overflows(std::uint64_t hash) const {
    return buckets_[first(hash)].marked(Geometry::overflow_class(Geometry::tag(hash)));
  }

  template <class K>
  Found find_in(std::uint64_t index, bool is_second, const K& key, std::uint64_t hash) const {
    return {index, buckets_[index].find(equality_, key, hash, mask_, is_second)};
  }
  template <class K>
  Found find(const K& key, std::uint64_t hash) const {
    const Found home = find_in(first(hash), false, key, hash);
    if (home.slot >= 0) return home;
    if (!overflows(hash)) [[likely]]
      return {0, kAbsent};
    return find_in(second(hash), true, key, hash);
  }
  void prefetch(std::uint64_t index) const {
    for (std::size_t at = 0; at < std::min<std::size_t>(sizeof(Bucket), 128); at += 64) {
      lanes::prefetch(reinterpret_cast<const char*>(buckets_ + index) + at);
    }
  }

  /// Buckets that a look-up of this hash reads: 1 or 2 (counted, for tests and benches).
  template <class K>
  unsigned buckets_read(const K& key) const {
    const std::uint64_t h = hash(key);
    return find_in(first(h), false, key, h).slot >= 0 || !overflows(h) ? 1 : 2;
  }

  // The view that find_path() and find_walk() search.
  int empty_slot(std::uint64_t index) const {
    const unsigned empty = buckets_[index].empty();
    return empty == 0 ? -1 : std::countr_zero(empty);
  }
  std::uint64_t alternate(std::uint64_t index, unsigned slot) const {
    return buckets_[index].alternate(hasher_, slot, index, mask_);
  }

  // --- changing ---

  /// A slot for a new key if one of its buckets has one and the load allows it; else slot kAbsent:
  /// make_place() then knows more ways.
  Found quick_place(std::uint64_t hash) const {
    if (size_ >= grow_at_) return {0, kAbsent};
    const std::uint64_t home = first(hash);
    if (const int slot = empty_slot(home); slot >= 0) return {home, slot};
    if (dense()) return {0, kAbsent};
    const std::uint64_t away = other(home, hash);
    return {away, empty_slot(away)};
  }

  /// A slot for a new key, by displacing others or by growing. Iterators and pointers end here.
  /// Errors: std::length_error if the hashes are so alike that growing does not help, or the table
  ///   may not grow; the contents are then unchanged. std::bad_alloc.
  Found make_place(std::uint64_t hash);

  /// Makes the constructed slot `at` the key's of this hash.
  void occupy(Found at, std::uint64_t hash, bool marks = true) {
    const std::uint64_t home = first(hash);
    const bool guest = at.bucket != home;
    if (guest && marks) mark(home, Geometry::tag(hash));
    buckets_[at.bucket].occupy(static_cast<unsigned>(at.slot), hash, mask_, guest);
    ++size_;
  }

  /// Constructs an element in an empty slot and makes it part of the table.
  template <class K, class... Args>
  void emplace(Found at, std::uint64_t hash, K&& key, Args&&... args) {
    buckets_[at.bucket].construct(allocator_, static_cast<unsigned>(at.slot), std::forward<K>(key),
                                  std::forward<Args>(args)...);
    occupy(at, hash);
  }

  void erase(std::uint64_t index, unsigned slot) {
    Bucket& from = buckets_[index];
    const bool guest = from.guest(slot);
    from.destroy(allocator_, slot);
    from.vacate(slot);
    --size_;
    if (guest || from.any_mark()) note_disorder(guest);
  }

  /// Empties the table; its memory stays.
  void clear() {
    destroy_all();
    for (std::uint64_t i = 0; i < count_; ++i) buckets_[i].reset();
    size_ = departures_ = disorder_ = 0;
    set_grow_at();
  }

  void set_max_load(double load) {
    max_load_ = std::clamp(load, 0.1, 1.0);
    set_grow_at();
  }
  double max_load() const { return max_load_; }
  void set_max_buckets(std::uint64_t n) { max_buckets_ = n; }
  std::uint64_t max_buckets() const { return max_buckets_; }

  /// At least this many buckets. Errors: std::length_error above max_buckets(), std::bad_alloc.
  void grow_to(std::uint64_t wanted);
  /// As few buckets as hold the elements at the maximal load, if that is fewer than now.
  /// Errors: std::bad_alloc; the table is then unchanged.
  void shrink();
  std::uint64_t buckets_for(std::uint64_t elements) const;

  /// The same elements in the same slots. Requires: this table is new.
  void copy_from(const CuckooTable& from);
  /// Exchanges all but the functions and the allocators, which must be equal in effect.
  void swap_buckets(CuckooTable& with) noexcept;
  void swap_functions(CuckooTable& with) noexcept {
    std::swap(hasher_, with.hasher_);
    std::swap(equality_, with.equality_);
  }
  void swap_allocator(CuckooTable& with) noexcept { std::swap(allocator_, with.allocator_); }

  /// Makes the overflow marks exact again. Cost: two passes over the buckets.
  void refresh_marks();

  /// True if every guest's class is marked and every key stands in one of its buckets.
  bool consistent() const;

 private:
  using BucketAllocator = typename std::allocator_traits<Allocator>::template rebind_alloc<Bucket>;
  static constexpr bool kMoves = Bucket::kNothrowMove || !Bucket::kCopies;
  static constexpr unsigned kMaxGrowths = 2;  // an insertion: more would not help, see make_place()

  static constexpr std::uint64_t kGuestsAhead = 16;  // buckets: some 20 lines on their way

  /// What an empty table looks up in: no key, no mark. Nobody writes it. (Not inlined, or g++ 12 takes
  /// every table for this one bucket and warns of its bounds.)
  NIDUS_NOINLINE static Bucket* nothing() {
    alignas(Bucket) static constinit std::byte bytes[sizeof(Bucket)] = {};
    return reinterpret_cast<Bucket*>(&bytes);
  }

  std::uint64_t other(std::uint64_t home, std::uint64_t hash) const {
    if constexpr (Policy::kAlternate == Alternate::kSecondHash) {
      return Geometry::alternate_by_hash(home, hash, mask_);
    } else {
      return Geometry::alternate(home, Geometry::tag(hash), mask_);
    }
  }
  void mark(std::uint64_t home, std::uint16_t tag) {
    buckets_[home].set_mark(Geometry::overflow_class(tag));
  }
  /// A guest left, so that its mark may be stale; or a key left a bucket with marks, so that a guest
  /// might come home. An erase may move nobody, so the next insertion tidies up.
  void note_disorder(bool guest_left) {
    if constexpr (!Bucket::kNothrowHash) return;
    ++disorder_;
    if (untidy()) grow_at_ = 0;  // sends the next insertion to make_place()
    departures_ += guest_left;
    if (departures_ * 8 > slots()) refresh_marks();
  }
  /// The fuller the table, the more a lost place costs. Measured: this keeps look-ups after any churn
  /// within the bounds of tests/map/cuckoo_map_load_test.cpp at a few nanoseconds an operation.
  bool untidy() const { return disorder_ * (dense() ? 512 / kSlots : 16) > slots(); }
  void tidy() {
    disorder_ = 0;
    set_grow_at();
    settle_guests();
    refresh_marks();
  }
  void set_grow_at() {
    grow_at_ = static_cast<std::uint64_t>(max_load_ * static_cast<double>(slots()));
  }

  template <class PathType>
  void execute(const PathType& path) {
    for (std::size_t i = path.length - 1; i-- > 0;) move(path.places[i], path.places[i + 1]);
  }
  Found search(std::uint64_t hash);
  /// Worth an insertion's trouble to keep guests few.
  bool dense() const { return size_ * 8 > slots() * 7; }
  int send_a_guest_home(std::uint64_t index);
  void move(Place from, Place to);
  void transfer(Bucket& source, unsigned source_slot, Found to, std::uint64_t hash,
                bool marks = true);
  void split_into(CuckooTable& next);
  void settle_guests();
  bool plan_into(CuckooTable& next);

  void allocate(std::uint64_t buckets, bool reset = true);
  void prefetch_homes_of_guests(std::uint64_t index) const;
  void destroy_all();
  void release();

  std::uint64_t random_state_ = 0x2545F4914F6CDD1Dull;
  std::uint64_t random() {  // xorshift64: which way a random walk turns
    random_state_ ^= random_state_ << 13;
    random_state_ ^= random_state_ >> 7;
    return random_state_ ^= random_state_ << 17;
  }

  Bucket* buckets_ = nothing();
  std::uint64_t mask_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t grow_at_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t departures_ = 0;                        // guests since the marks were exact
  std::uint64_t disorder_ = 0;                          // see note_disorder()
  std::uint64_t max_buckets_ = std::uint64_t{1} << 44;  // 2^44 buckets are beyond any memory
  double max_load_ = 0.8;  // above it insertions begin to cost: see docs/algorithms/cuckoo_map.md
  [[no_unique_address]] Hasher hasher_;
  [[no_unique_address]] Equality equality_;
  [[no_unique_address]] Allocator allocator_;
};

}  // namespace nidus::map

#include <nidus/map/cuckoo_growth.hpp>

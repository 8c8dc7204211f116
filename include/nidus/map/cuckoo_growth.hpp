// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a CuckooTable makes room: displacement along a path, doubling, shrinking. Included by
// cuckoo_table.hpp.
//
// Doubling never fails and displaces nobody: a bucket's index is the lower bits of its hash (and of
// the distance to the alternate), so with more bits every key of bucket b belongs in one of the
// buckets b, b + n, b + 2n, ... and may stand in the slot that it stood in. It is one pass over both
// tables; then guests whose first bucket has room again go home.

#include <bit>
#include <cassert>

#include <nidus/map/cuckoo_table.hpp>

namespace nidus::map {

template <class B, class P, class A>
void CuckooTable<B, P, A>::allocate(std::uint64_t buckets, bool reset) {
  BucketAllocator allocator(allocator_);
  const auto count = static_cast<std::size_t>(buckets);
  Bucket* memory =
      std::to_address(std::allocator_traits<BucketAllocator>::allocate(allocator, count));
  advise_huge_pages(memory, count * sizeof(Bucket));
  for (std::size_t i = 0; reset && i < count; ++i) std::construct_at(memory + i)->reset();
  buckets_ = memory;
  count_ = buckets;
  mask_ = buckets - 1;
  set_grow_at();
}

template <class B, class P, class A>
void CuckooTable<B, P, A>::destroy_all() {
  if constexpr (B::kTrivial) return;
  if (size_ == 0) return;
  for (std::uint64_t i = 0; i < count_; ++i) {
    for (unsigned used = buckets_[i].used(); used != 0; used &= used - 1) {
      buckets_[i].destroy(allocator_, static_cast<unsigned>(std::countr_zero(used)));
    }
  }
}

template <class B, class P, class A>
void CuckooTable<B, P, A>::release() {
  if (count_ == 0) return;
  destroy_all();
  BucketAllocator allocator(allocator_);
  std::allocator_traits<BucketAllocator>::deallocate(allocator, buckets_,
                                                     static_cast<std::size_t>(count_));
  buckets_ = nothing();
  count_ = mask_ = size_ = grow_at_ = departures_ = disorder_ = 0;
}

/// Constructs in `to` what stands in the source's slot, which keeps what is left of it.
template <class B, class P, class A>
void CuckooTable<B, P, A>::transfer(Bucket& source, unsigned slot, Found to, std::uint64_t hash,
                                    bool marks) {
  source.hand_over(slot, [&]<class K, class V>(K& key, V& value) {
    Bucket& target = buckets_[to.bucket];
    if constexpr (kMoves) {
      target.construct(allocator_, static_cast<unsigned>(to.slot), std::move(key),
                       std::move(value));
    } else {
      target.construct(allocator_, static_cast<unsigned>(to.slot), std::as_const(key),
                       std::as_const(value));
    }
  });
  occupy(to, hash, marks);
}

template <class B, class P, class A>
void CuckooTable<B, P, A>::move(Place from, Place to) {
  Bucket& source = buckets_[from.bucket];
  const std::uint64_t hash = source.hash_of(hasher_, from.slot, from.bucket, mask_);
  const bool was_guest = source.guest(from.slot);
  transfer(source, from.slot, {to.bucket, static_cast<int>(to.slot)}, hash);
  source.destroy(allocator_, from.slot);
  source.vacate(from.slot);
  --size_;
  if (was_guest) ++departures_;
}

/// Frees a slot of a full bucket by moving one of its guests to its own first bucket.
template <class B, class P, class A>
int CuckooTable<B, P, A>::send_a_guest_home(std::uint64_t index) {
  for (unsigned guests = buckets_[index].guests(); guests != 0; guests &= guests - 1) {
    const auto slot = static_cast<unsigned>(std::countr_zero(guests));
    const std::uint64_t home = alternate(index, slot);
    if (const int empty = empty_slot(home); empty >= 0) {
      move({index, slot}, {home, static_cast<unsigned>(empty)});
      return static_cast<int>(slot);
    }
  }
  return kAbsent;
}

template <class B, class P, class A>
auto CuckooTable<B, P, A>::search(std::uint64_t hash) -> Found {
  if (dense()) {
    const std::uint64_t home = first(hash);
    if (const int slot = empty_slot(home); slot >= 0) return {home, slot};
    if (const int slot = send_a_guest_home(home); slot >= 0) return {home, slot};
  }
  const auto take = [this](const auto& path) -> Found {
    if (path.length == 0) return {0, kAbsent};
    execute(path);
    return {path.places[0].bucket, static_cast<int>(path.places[0].slot)};
  };
  if constexpr (P::kSearch == Search::kRandomWalk) {
    auto next = [this] { return random(); };
    return take(find_walk(*this, first(hash), second(hash), next));
  } else {
    return take(find_path<P::kSearchBuckets>(*this, first(hash), second(hash)));
  }
}

template <class B, class P, class A>
auto CuckooTable<B, P, A>::make_place(std::uint64_t hash) -> Found {
  if (untidy()) tidy();
  for (unsigned growths = 0;; ++growths) {
    const bool may_grow = count_ * 2 <= max_buckets_ && max_buckets_ >= B::kMinBuckets;
    if (count_ > 0 && (size_ < grow_at_ || !may_grow)) {
      const Found found = search(hash);
      if (found.slot >= 0) return found;
      if (!may_grow) throw std::length_error("nidus::CuckooMap: full, and it may not grow");
      // Good hashes fill half of any table. What does not fit in a quarter never will.
      if (growths == kMaxGrowths || size_ * 4 < slots()) {
        throw std::length_error("nidus::CuckooMap: too many keys with alike hashes");
      }
    }
    if (!may_grow) throw std::length_error("nidus::CuckooMap: it may not grow");
    grow_to(std::max<std::uint64_t>(count_ * 2, B::kMinBuckets));
  }
}

template <class B, class P, class A>
std::uint64_t CuckooTable<B, P, A>::buckets_for(std::uint64_t elements) const {
  if (elements == 0) return 0;
  std::uint64_t count = B::kMinBuckets;
  while (static_cast<double>(count * kSlots) * max_load_ < static_cast<double>(elements)) {
    count *= 2;
  }
  return count;
}

template <class B, class P, class A>
void CuckooTable<B, P, A>::grow_to(std::uint64_t wanted) {
  if (wanted <= count_) return;
  wanted = std::max(std::bit_ceil(wanted), B::kMinBuckets);
  if (wanted > max_buckets_) throw std::length_error("nidus::CuckooMap: it may not grow so far");
  if (count_ == 0) return allocate(wanted);
  CuckooTable next(hasher_, equality_, allocator_);
  next.max_load_ = max_load_;
  next.max_buckets_ = max_buckets_;
  if constexpr (B::kExact && B::kTrivial) {
    next.allocate(wanted, wanted != count_ * 2);
    if (wanted == count_ * 2) {
      for (std::uint64_t i = 0; i < count_; ++i) {
        buckets_[i].split(next.buckets_[i], next.buckets_[i + count_], mask_);
      }
      next.size_ = size_;
    } else {
      split_into(next);
    }
  } else {
    next.allocate(wanted);
    split_into(next);
  }
  if constexpr (B::kNothrowHash) next.settle_guests();
  swap_buckets(next);
}

template <class B, class P, class A>
void CuckooTable<B, P, A>::split_into(CuckooTable& next) {
  std::vector<std::uint64_t> hashes;  // known before anything moves, where hashing may throw
  if constexpr (!B::kNothrowHash) {
    hashes.reserve(static_cast<std::size_t>(size_));
    for (std::uint64_t i = 0; i < count_; ++i) {
      for (unsigned used = buckets_[i].used(); used != 0; used &= used - 1) {
        hashes.push_back(
            buckets_[i].hash_of(hasher_, static_cast<unsigned>(std::countr_zero(used)), i, mask_));
      }
    }
  }
  auto known = hashes.cbegin();
  for (std::uint64_t i = 0; i < count_; ++i) {
    Bucket& source = buckets_[i];
    for (unsigned used = source.used(); used != 0; used &= used - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(used));
      std::uint64_t hash = 0;
      if constexpr (B::kNothrowHash) {
        hash = source.hash_of(hasher_, slot, i, mask_);
      } else {
        hash = *known++;
      }
      const std::uint64_t to = source.guest(slot) ? next.second(hash) : next.first(hash);
      assert((to & mask_) == i);
      const Found same{to, static_cast<int>(slot)};
      next.transfer(source, slot, same, hash, /*marks=*/!B::kNothrowHash);
    }
  }
}

template <class B, class P, class A>
void CuckooTable<B, P, A>::prefetch_homes_of_guests(std::uint64_t index) const {
  if (index >= count_) return;
  if constexpr (!B::kNothrowHash || P::kAlternate == Alternate::kSecondHash) return;
  for (unsigned guests = buckets_[index].guests(); guests != 0; guests &= guests - 1) {
    const auto slot = static_cast<unsigned>(std::countr_zero(guests));
    lanes::prefetch(buckets_ + alternate(index, slot));
  }
}

/// Guests go home where there is room; the others are marked there.
template <class B, class P, class A>
void CuckooTable<B, P, A>::settle_guests() {
  for (std::uint64_t i = 0; i < count_; ++i) {
    prefetch_homes_of_guests(i + kGuestsAhead);
    for (unsigned guests = buckets_[i].guests(); guests != 0; guests &= guests - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(guests));
      const std::uint64_t home = alternate(i, slot);
      if (const int empty = empty_slot(home); empty >= 0) {
        move({i, slot}, {home, static_cast<unsigned>(empty)});
      } else {
        mark(home, buckets_[i].tag(slot));
      }
    }
  }
  departures_ = 0;
}

template <class B, class P, class A>
void CuckooTable<B, P, A>::refresh_marks() {
  for (std::uint64_t i = 0; i < count_; ++i) buckets_[i].clear_marks();
  for (std::uint64_t i = 0; i < count_; ++i) {
    prefetch_homes_of_guests(i + kGuestsAhead);
    for (unsigned guests = buckets_[i].guests(); guests != 0; guests &= guests - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(guests));
      mark(alternate(i, slot), buckets_[i].tag(slot));
    }
  }
  departures_ = 0;
}

namespace detail {
/// Where the elements of one table would stand in another: the view that find_path() searches.
template <class Table>
struct Plan {
  struct Token {
    std::uint64_t from_bucket;
    std::uint64_t hash;
    std::uint8_t from_slot;
    bool guest;
  };
  static constexpr unsigned kSlots = Table::kSlots;

  explicit Plan(const Table& target)
      : table(target), tokens(target.slots()), used(target.buckets()) {}
  int empty_slot(std::uint64_t i) const {
    const unsigned empty = ~used[i] & Table::Bucket::kAllSlots;
    return empty == 0 ? -1 : std::countr_zero(empty);
  }
  std::uint64_t alternate(std::uint64_t i, unsigned slot) const {
    const Token& token = tokens[i * kSlots + slot];
    return token.guest ? table.first(token.hash) : table.second(token.hash);
  }
  template <std::size_t kSearchBuckets>
  bool place(Token token) {
    const std::uint64_t home = table.first(token.hash);
    const Path path = find_path<kSearchBuckets>(*this, home, table.second(token.hash));
    if (path.length == 0) return false;
    for (std::size_t k = path.length - 1; k-- > 0;) {
      Token moved = tokens[path.places[k].bucket * kSlots + path.places[k].slot];
      moved.guest = !moved.guest;
      put(path.places[k + 1], moved);
    }
    token.guest = path.places[0].bucket != home;
    put(path.places[0], token);
    return true;
  }
  void put(Place at, const Token& token) {
    tokens[at.bucket * kSlots + at.slot] = token;
    used[at.bucket] |= 1u << at.slot;
  }

  const Table& table;
  std::vector<Token> tokens;
  std::vector<std::uint32_t> used;
};
}  // namespace detail

/// Finds a place for every element in a smaller table, without touching one, then moves them all.
/// False, and nothing has changed, if some element finds no place.
template <class B, class P, class A>
bool CuckooTable<B, P, A>::plan_into(CuckooTable& next) {
  detail::Plan<CuckooTable> plan(next);
  for (std::uint64_t i = 0; i < count_; ++i) {
    for (unsigned used = buckets_[i].used(); used != 0; used &= used - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(used));
      const std::uint64_t hash = buckets_[i].hash_of(hasher_, slot, i, mask_);
      if (!plan.template place<P::kSearchBuckets>(
              {i, hash, static_cast<std::uint8_t>(slot), false})) {
        return false;
      }
    }
  }
  for (std::uint64_t i = 0; i < next.count_; ++i) {
    for (unsigned used = plan.used[i]; used != 0; used &= used - 1) {
      const int slot = std::countr_zero(used);
      const auto& token = plan.tokens[i * kSlots + static_cast<unsigned>(slot)];
      next.transfer(buckets_[token.from_bucket], token.from_slot, {i, slot}, token.hash);
    }
  }
  return true;
}

template <class B, class P, class A>
void CuckooTable<B, P, A>::shrink() {
  if (size_ == 0) return release();
  for (std::uint64_t wanted = buckets_for(size_); wanted < count_; wanted *= 2) {
    CuckooTable next(hasher_, equality_, allocator_);
    next.max_load_ = max_load_;
    next.max_buckets_ = max_buckets_;
    next.allocate(wanted);
    if (!plan_into(next)) continue;
    swap_buckets(next);
    return;
  }
}

template <class B, class P, class A>
void CuckooTable<B, P, A>::copy_from(const CuckooTable& from) {
  max_load_ = from.max_load_;
  max_buckets_ = from.max_buckets_;
  if (from.size_ == 0) return;
  allocate(from.count_);
  if constexpr (B::kTrivial) {
    std::copy_n(from.buckets_, count_, buckets_);
    size_ = from.size_;
    departures_ = from.departures_;
    disorder_ = from.disorder_;
    return;
  }
  for (std::uint64_t i = 0; i < count_; ++i) {
    const Bucket& source = from.buckets_[i];
    for (unsigned used = source.used(); used != 0; used &= used - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(used));
      const std::uint64_t hash = source.hash_of(hasher_, slot, i, mask_);
      const auto& key = source.key(slot, i, mask_);
      emplace({i, static_cast<int>(slot)}, hash, key, *source.value(slot));
    }
  }
}

template <class B, class P, class A>
void CuckooTable<B, P, A>::swap_buckets(CuckooTable& with) noexcept {
  std::swap(buckets_, with.buckets_);
  std::swap(mask_, with.mask_);
  std::swap(size_, with.size_);
  std::swap(grow_at_, with.grow_at_);
  std::swap(count_, with.count_);
  std::swap(departures_, with.departures_);
  std::swap(disorder_, with.disorder_);
  std::swap(max_buckets_, with.max_buckets_);
  std::swap(max_load_, with.max_load_);
}

template <class B, class P, class A>
bool CuckooTable<B, P, A>::consistent() const {
  std::uint64_t seen = 0;
  for (std::uint64_t i = 0; i < count_; ++i) {
    for (unsigned used = buckets_[i].used(); used != 0; used &= used - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(used));
      const std::uint64_t hash = buckets_[i].hash_of(hasher_, slot, i, mask_);
      const bool guest = buckets_[i].guest(slot);
      if ((guest ? second(hash) : first(hash)) != i) return false;
      if (guest && !overflows(hash)) return false;
      ++seen;
    }
  }
  return seen == size_;
}

}  // namespace nidus::map

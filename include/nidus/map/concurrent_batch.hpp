// SPDX-License-Identifier: Apache-2.0
#pragma once

// Many look-ups in a ConcurrentMap at once, so that their memory accesses overlap: three chunks of
// keys are under way, one whose segments are on their way, one whose buckets are, and one that is
// read. What a prefetch believed may be wrong by then; the read asks again.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <nidus/lanes/slots.hpp>
#include <nidus/map/concurrent_segment.hpp>
#include <nidus/map/cuckoo_batch.hpp>

namespace nidus::map {

/// The bytes of a value that may be torn until a version is checked.
template <class Value>
struct Raw {
  Raw() {
    // What is not found is not read, but g++ 12 cannot see that; for wide values it does not ask.
    if constexpr (sizeof(Value) <= 16) std::memset(bytes, 0, sizeof bytes);
  }
  std::byte bytes[sizeof(Value)];
  Value value() const { return std::bit_cast<Value>(*this); }
};

/// Calls done(i, raw) for every keys[i], raw null when it is absent, in no fixed order. Each answer
/// is true of one moment during the call.
template <class Value, class Table, class Key, class Done>
class BatchReader {
 public:
  BatchReader(const Table& table, std::span<const Key> keys, Done done)
      : table_(table), keys_(keys), done_(done) {}

  void run() {
    announce(0);
    announce(kBatchChunk);
    fetch(0);
    for (std::size_t begin = 0; begin < keys_.size(); begin += kBatchChunk) {
      announce(begin + 2 * kBatchChunk);
      fetch(begin + kBatchChunk);
      read_late();
      const std::size_t end = end_of(begin);
      for (std::size_t i = begin; i < end; ++i) read_first(i);
    }
    read_late();
  }

 private:
  using View = typename Table::View;
  enum class Seen { kAbsent, kHere, kLate };
  static constexpr std::size_t kRing = 4 * kBatchChunk;

  std::size_t end_of(std::size_t begin) const {
    return std::min(begin + kBatchChunk, keys_.size());
  }
  std::uint64_t hash(std::size_t i) const { return hashes_[i % kRing]; }

  void announce(std::size_t begin) {
    for (std::size_t i = begin; i < end_of(begin); ++i) {
      hashes_[i % kRing] = table_.hash(keys_[i]);
      lanes::prefetch(&table_.segment_of(hash(i)));
    }
  }
  void fetch(std::size_t begin) const {
    for (std::size_t i = begin; i < end_of(begin); ++i) {
      const View view = table_.view_of(table_.segment_of(hash(i)));
      view.prefetch(view.first(hash(i)));
    }
  }
  void read_first(std::size_t i) {
    Raw<Value> raw;
    const Seen seen = table_.read(hash(i), [&](const View& view) {
      const Spot at = view.find_in(view.first(hash(i)), false, keys_[i], hash(i));
      if (at) {
        view.template load_value<Value>(at, raw.bytes);
        return Seen::kHere;
      }
      return view.overflows(hash(i)) ? Seen::kLate : Seen::kAbsent;
    });
    if (seen == Seen::kLate) [[unlikely]] {
      const View view = table_.view_of(table_.segment_of(hash(i)));
      view.prefetch(view.second(hash(i)));
      late_[late_count_++] = i;
    } else {
      done_(i, seen == Seen::kHere ? &raw : nullptr);
    }
  }
  void read_late() {
    for (std::size_t n = 0; n < late_count_; ++n) {
      const std::size_t i = late_[n];
      Raw<Value> raw;
      const bool here = table_.read(hash(i), [&](const View& view) {
        const Spot at = view.find(keys_[i], hash(i));
        if (at) view.template load_value<Value>(at, raw.bytes);
        return static_cast<bool>(at);
      });
      done_(i, here ? &raw : nullptr);
    }
    late_count_ = 0;
  }

  const Table& table_;
  std::span<const Key> keys_;
  Done done_;
  std::array<std::uint64_t, kRing> hashes_;
  std::array<std::size_t, kBatchChunk> late_;
  std::size_t late_count_ = 0;
};

}  // namespace nidus::map

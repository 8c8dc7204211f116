// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a hash to its segment: an array over the upper bits of the hash (extendible hashing). An
// entry is a pointer to a segment; a segment of a wider range has several entries.
//
// Thread-safety: find() from every thread; the rest is serialised by the caller.
// Publish: an entry, and a new array, are stored with release when what they point to is complete.
// Reclaim: arrays that were outgrown stay until the directory ends; all of them together are
//   smaller than the present one, which itself is 8 bytes a segment.
// Invariant: an entry points to a segment that covers its hashes, or did so before it was split;
//   who follows it asks the segment.
// Source: Fagin et al., Extendible Hashing, TODS 1979.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <nidus/base/platform.hpp>

namespace nidus::map {

template <class Segment, class Allocator>
class Directory {
 public:
  Directory(Segment* first, const Allocator& allocator) : allocator_(allocator) {
    Array entries(std::size_t{1} << (kMinDepth - 3), LineAllocator(allocator_));
    for (auto& line : entries) {
      // relaxed: published by install()
      for (auto& entry : line.entries) entry.store(first, std::memory_order_relaxed);
    }
    arrays_.push_back(std::move(entries));
    install(kMinDepth);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  /// Cost: two loads, the first of a word that is hardly ever written.
  Segment* find(std::uint64_t hash) const {
    // acquire, twice: pairs with the releases in install() and assign()
    const std::uintptr_t word = array_and_shift_.load(std::memory_order_acquire);
    const auto* entries = reinterpret_cast<const Entry*>(word & ~std::uintptr_t{63});
    return entries[hash >> (word & 63)].load(std::memory_order_acquire);  // acquire: same
  }

  unsigned depth() const { return depth_; }
  std::size_t bytes() const {
    std::size_t bytes = 0;
    for (const auto& array : arrays_) bytes += array.size() * sizeof(Line);
    return bytes;
  }

  /// Doubles the array until its index has `depth` bits. Errors: std::bad_alloc, nothing has
  /// changed for readers.
  void deepen(unsigned depth) {
    while (depth_ < depth) {
      Array& from = arrays_.back();
      Array next(from.size() * 2, LineAllocator(allocator_));
      for (std::size_t i = 0; i < next.size() * kLineEntries; ++i) {
        // relaxed, twice: only the caller writes; published by install()
        Segment* segment = entry(from, i / 2).load(std::memory_order_relaxed);
        entry(next, i).store(segment, std::memory_order_relaxed);
      }
      arrays_.push_back(std::move(next));
      install(depth_ + 1);
    }
  }

  /// All hashes that begin as `prefix` does in its first `bits` bits. Requires: 1 <= bits <=
  /// depth().
  void assign(std::uint64_t prefix, unsigned bits, Segment* segment) {
    const std::size_t first = prefix >> (64 - depth_);
    for (std::size_t i = 0; i < std::size_t{1} << (depth_ - bits); ++i) {
      // release: pairs with find(): the segment is complete
      entry(arrays_.back(), first + i).store(segment, std::memory_order_release);
    }
  }

 private:
  using Entry = std::atomic<Segment*>;
  static constexpr std::size_t kLineEntries = kCacheLineBytes / sizeof(Entry);
  static constexpr unsigned kMinDepth = 3;  // one line
  struct alignas(kCacheLineBytes) Line {
    std::array<Entry, kLineEntries> entries;
  };
  using LineAllocator = typename std::allocator_traits<Allocator>::template rebind_alloc<Line>;
  using Array = std::vector<Line, LineAllocator>;
  static_assert(kLineEntries == std::size_t{1} << kMinDepth);

  static Entry& entry(Array& array, std::size_t i) {
    return array[i / kLineEntries].entries[i % kLineEntries];
  }
  void install(unsigned depth) {
    depth_ = depth;
    // release: pairs with find(): the entries are there
    array_and_shift_.store(reinterpret_cast<std::uintptr_t>(arrays_.back().data()) | (64 - depth),
                           std::memory_order_release);
  }

  std::atomic<std::uintptr_t> array_and_shift_{0};
  std::vector<Array> arrays_;
  unsigned depth_ = 0;
  [[no_unique_address]] Allocator allocator_;
};

}  // namespace nidus::map

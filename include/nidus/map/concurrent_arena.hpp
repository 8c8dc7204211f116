// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the blocks of a ConcurrentMap's segments come from: powers of two of buckets, cut from
// chunks and joined again (a buddy system), so that the memory of replaced blocks serves the next
// ones.
//
// Thread-safety: the caller serialises the calls.
// Reclaim: chunks are given back when the arena ends, not before. A reader that still holds a block
//   which has been replaced reads memory that is there, holds some bucket's words, and is not what
//   it looks for: its version tells.
// Invariant: no bucket is in two blocks.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <vector>

#include <nidus/map/huge_pages.hpp>

namespace nidus::map {

template <class Bucket, class Allocator>
class BlockArena {
 public:
  static constexpr unsigned kMinLog2 = 3;  // blocks of 8 buckets: multiples of 64 bytes

  explicit BlockArena(const Allocator& allocator) : allocator_(allocator) {}
  BlockArena(const BlockArena&) = delete;
  BlockArena& operator=(const BlockArena&) = delete;
  ~BlockArena() {
    for (const auto& [base, log2] : chunks_)
      Traits::deallocate(allocator_, lines(base), count(log2));
  }

  /// 2^log2 buckets, aligned to 64 bytes, with whatever bytes stand there. Errors: std::bad_alloc.
  Bucket* take(unsigned log2) {
    unsigned from = log2;
    while (from < free_.size() && free_[from].empty()) ++from;
    if (from >= free_.size()) from = new_chunk(log2);
    const auto first = free_[from].begin();
    auto node = free_[from].extract(first);
    Bucket* block = node.value();
    for (; from > log2; --from) free_[from - 1].insert(block + (std::size_t{1} << (from - 1)));
    return block;
  }

  /// Cost: none that waits for memory: where there is none to note it, the block rests unused.
  void give_back(Bucket* block, unsigned log2) noexcept {
    auto chunk = std::prev(chunks_.upper_bound(block));
    while (log2 < chunk->second) {
      const auto offset = static_cast<std::size_t>(block - chunk->first);
      const auto buddy = free_[log2].find(chunk->first + (offset ^ (std::size_t{1} << log2)));
      if (buddy == free_[log2].end()) break;
      block = std::min(block, *buddy);
      free_[log2++].erase(buddy);
    }
    try {
      free_[log2].insert(block);
    } catch (const std::bad_alloc&) {  // see Cost
    }
  }

  std::size_t bytes() const { return bytes_; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  using LineAllocator = typename std::allocator_traits<Allocator>::template rebind_alloc<Line>;
  using Traits = std::allocator_traits<LineAllocator>;
  static_assert((sizeof(Bucket) << kMinLog2) % sizeof(Line) == 0);
  static_assert(alignof(Bucket) <= alignof(Line), "an element is aligned to at most 64 bytes");

  static std::size_t count(unsigned log2) { return (sizeof(Bucket) << log2) / sizeof(Line); }
  static Line* lines(Bucket* base) { return reinterpret_cast<Line*>(base); }

  /// As large as all before together, up to a few huge pages: few chunks, little of them unused.
  unsigned new_chunk(unsigned wanted) {
    unsigned log2 = wanted;
    while ((sizeof(Bucket) << log2) < std::min(bytes_ / 2, 4 * kHugePageBytes)) ++log2;
    Line* memory = std::to_address(Traits::allocate(allocator_, count(log2)));
    advise_huge_pages(memory, count(log2) * sizeof(Line));
    auto* base = reinterpret_cast<Bucket*>(memory);
    try {
      if (free_.size() <= log2) free_.resize(log2 + 1);
      chunks_.emplace(base, log2);
      free_[log2].insert(base);
    } catch (...) {
      chunks_.erase(base);
      Traits::deallocate(allocator_, memory, count(log2));
      throw;
    }
    bytes_ += count(log2) * sizeof(Line);
    return log2;
  }

  [[no_unique_address]] LineAllocator allocator_;
  std::map<Bucket*, unsigned> chunks_;
  std::vector<std::set<Bucket*>> free_;  // by log2
  std::size_t bytes_ = 0;
};

}  // namespace nidus::map

// SPDX-License-Identifier: Apache-2.0

// Blocks of 16 KiB out of huge pages of 2 MiB. See block_arena.hpp.

#include "engine/block_arena.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include <mimalloc.h>

#include <nidus/base/platform.hpp>

#include "engine/huge_pages.hpp"

namespace nidus::engine {
namespace {

constexpr bool kChecked = NIDUS_CHECKED_ALLOCATION != 0;
constexpr std::size_t kBlocks = kHugePageBytes / kBlockBytes;

class Arena {
 public:
  void* allocate(bool zeroed) {
    Free block;
    {
      const std::lock_guard lock(mutex_);
      if (open_.empty()) open_.emplace(take_huge_page(), Page{});
      const auto page = open_.begin();
      if (!page->second.free.empty()) {
        block = page->second.free.back();
        page->second.free.pop_back();
      } else {
        block = {page->first + page->second.touched++ * kBlockBytes, true};
      }
      if (++page->second.used == kBlocks) full_.insert(open_.extract(page));
    }
    if (zeroed && !block.is_zero) std::memset(block.at, 0, kBlockBytes);
    return block.at;
  }

  void release(void* block) {
    const std::lock_guard lock(mutex_);
    auto* base = reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(block) &
                                         ~(std::uintptr_t{kHugePageBytes} - 1));
    auto page = open_.find(base);
    if (page == open_.end()) page = open_.insert(full_.extract(base)).position;
    --page->second.used;
    if (page->second.used == 0 && open_.size() > 1) {
      open_.erase(page);
      give_back_huge_page(base);
      return;
    }
    // A page that drains gives its blocks back one by one.
    const bool drop =
        page->second.used < kBlocks / 2 && madvise(block, kBlockBytes, MADV_DONTNEED) == 0;
    page->second.free.push_back({block, drop});
  }

 private:
  struct Free {
    void* at;
    bool is_zero;  // as the system gives it
  };
  struct Page {
    std::size_t touched = 0, used = 0;
    std::vector<Free> free;
  };

  std::mutex mutex_;
  std::map<char*, Page> open_, full_;  // by address: low pages fill first, high ones drain
};

Arena& arena() {
  static auto* arena = new Arena;  // outlives every user
  return *arena;
}

}  // namespace

void* allocate_block(bool zeroed) {
  return kChecked ? allocate_lines(kBlockBytes) : arena().allocate(zeroed);
}
void free_block(void* block) {
  if (kChecked) {
    free_lines(block);
  } else {
    arena().release(block);
  }
}

void* allocate_lines(std::size_t bytes) {
  bytes = (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
  void* lines = kChecked ? std::aligned_alloc(kCacheLineBytes, bytes)
                         : mi_zalloc_aligned(bytes, kCacheLineBytes);
  if (lines == nullptr) throw std::bad_alloc();
  if (kChecked) std::memset(lines, 0, bytes);
  return lines;
}
void free_lines(void* lines) {
  if (kChecked) {
    std::free(lines);
  } else {
    mi_free(lines);
  }
}

}  // namespace nidus::engine

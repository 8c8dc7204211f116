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

namespace nidus::engine {
namespace {

constexpr std::size_t kPageBytes = std::size_t{2} << 20;
constexpr bool kChecked = NIDUS_CHECKED_ALLOCATION != 0;
constexpr std::size_t kBlocks = kPageBytes / kBlockBytes;

class Arena {
 public:
  void* allocate(bool zeroed) {
    Free block;
    {
      const std::lock_guard lock(mutex_);
      if (open_.empty()) add_page();
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
                                         ~(std::uintptr_t{kPageBytes} - 1));
    auto page = open_.find(base);
    if (page == open_.end()) page = open_.insert(full_.extract(base)).position;
    --page->second.used;
    if (page->second.used == 0 && open_.size() > 1) {
      open_.erase(page);
      munmap(base, kPageBytes);
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

  void add_page() {
    // Twice the size, trimmed, gives an aligned page.
    void* raw =
        mmap(nullptr, 2 * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) throw std::bad_alloc();
    auto* start = static_cast<char*>(raw);
    auto* base = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(raw) + kPageBytes - 1) &
                                         ~(std::uintptr_t{kPageBytes} - 1));
    if (base > start) munmap(start, static_cast<std::size_t>(base - start));
    if (char* end = start + 2 * kPageBytes; end > base + kPageBytes) {
      munmap(base + kPageBytes, static_cast<std::size_t>(end - base - kPageBytes));
    }
    madvise(base, kPageBytes, MADV_HUGEPAGE);
    open_.emplace(base, Page{});
  }

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

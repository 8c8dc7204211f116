// SPDX-License-Identifier: Apache-2.0

// Blocks of 16 KiB out of huge pages of 2 MiB. See block_arena.hpp.

#include "engine/block_arena.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include <mimalloc.h>

#include "engine/segment.hpp"

namespace nidus::engine {
namespace {

constexpr std::size_t kPageBytes = std::size_t{2} << 20;
constexpr std::size_t kBlockBytes = Segment::kMaxBuckets * sizeof(Bucket);
constexpr std::size_t kBlocks = kPageBytes / kBlockBytes;

class Arena {
 public:
  void* allocate() {
    const std::lock_guard lock(mutex_);
    if (open_.empty()) add_page();
    auto page = open_.begin();
    void* block;
    bool fresh = false;
    if (!page->second.free.empty()) {
      block = page->second.free.back();
      page->second.free.pop_back();
    } else {
      block = page->first + page->second.touched++ * kBlockBytes;
      fresh = true;  // the system gave it zeroed
    }
    if (++page->second.used == kBlocks) full_.insert(open_.extract(page));
    if (!fresh) std::memset(block, 0, kBlockBytes);
    return block;
  }

  void release(void* block) {
    const std::lock_guard lock(mutex_);
    auto* base = reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(block) &
                                         ~(std::uintptr_t{kPageBytes} - 1));
    auto page = open_.find(base);
    if (page == open_.end()) page = open_.insert(full_.extract(base)).position;
    page->second.free.push_back(block);
    if (--page->second.used == 0 && open_.size() > 1) {
      open_.erase(page);
      munmap(base, kPageBytes);
    }
  }

 private:
  struct Page {
    std::size_t touched = 0, used = 0;
    std::vector<void*> free;
  };

  void add_page() {
    // Twice the size, trimmed, gives an aligned page.
    void* raw = mmap(nullptr, 2 * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0);
    if (raw == MAP_FAILED) throw std::bad_alloc();
    auto* start = static_cast<char*>(raw);
    auto* base = reinterpret_cast<char*>(
        (reinterpret_cast<std::uintptr_t>(raw) + kPageBytes - 1) & ~(std::uintptr_t{kPageBytes} - 1));
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
  static auto* arena = new Arena;  // outlives every segment
  return *arena;
}

}  // namespace

void* allocate_buckets(std::uint32_t count) {
  if (count == Segment::kMaxBuckets) return arena().allocate();
  void* lines = mi_zalloc_aligned(count * sizeof(Bucket), alignof(Bucket));
  if (lines == nullptr) throw std::bad_alloc();
  return lines;
}

void free_buckets(void* lines, std::uint32_t count) {
  if (count == Segment::kMaxBuckets) {
    arena().release(lines);
  } else {
    mi_free(lines);
  }
}

}  // namespace nidus::engine

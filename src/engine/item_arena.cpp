// SPDX-License-Identifier: Apache-2.0

// Small items in blocks of one size each. See item_arena.hpp.
//
// State: a block is current (its heap's next items come from it), partial (in its heap's list: has
//   free places), or full (in no list).
// Invariant: all fields of a block and of the lists are guarded by the lock of the heap that owns
//   the block; the owner never changes.

#include "engine/item_arena.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <mimalloc.h>

#include <nidus/base/platform.hpp>
#include <nidus/sync/stripe.hpp>
#include <nidus/sync/thread_index.hpp>

#include "engine/block_arena.hpp"

namespace nidus::engine {
namespace {

constexpr std::size_t kStep = 8;
constexpr std::size_t kFineBytes = 512;  // up to here a class every 8 bytes,
constexpr std::size_t kCoarseStep = 64;  // above every 64
constexpr std::size_t kSmallBytes = 1024;
constexpr std::size_t kClasses = kFineBytes / kStep + (kSmallBytes - kFineBytes) / kCoarseStep + 1;
constexpr std::size_t kHeaps = 64;

#if NIDUS_CHECKED_ALLOCATION
constexpr bool kPack = false;
#else
constexpr bool kPack = true;
#endif

constexpr std::size_t round_up(std::size_t n, std::size_t step) {
  return (n + step - 1) / step * step;
}
constexpr std::size_t class_bytes(std::size_t bytes) {
  return bytes <= kFineBytes ? round_up(bytes, kStep) : round_up(bytes, kCoarseStep);
}
constexpr std::size_t class_of(std::size_t bytes) {
  return bytes <= kFineBytes
             ? (bytes + kStep - 1) / kStep
             : kFineBytes / kStep + (bytes - kFineBytes + kCoarseStep - 1) / kCoarseStep;
}
static_assert(class_of(kSmallBytes) + 1 == kClasses);
static_assert(class_bytes(513) == 576 && class_of(513) == 65 && class_of(576) == 65);

struct FreeItem {
  FreeItem* next;
};

struct Heap;

struct Block {
  Heap* owner;
  Block* next;
  Block* previous;
  FreeItem* free;
  std::uint32_t used;       // items given out
  std::uint32_t untouched;  // offset of the first byte never given out
  std::uint32_t item_bytes;
  bool listed;  // partial
};
constexpr std::size_t kHeaderBytes = 48;
static_assert(sizeof(Block) <= kHeaderBytes);

std::atomic<std::int64_t> blocks{0};

struct alignas(kCacheLineBytes) Heap {
  std::atomic<bool> locked{false};
  std::array<Block*, kClasses> current{};
  std::array<Block*, kClasses> partial{};

  void lock() {
    sync::Backoff backoff;
    // acquire: pairs with the release in unlock()
    while (locked.exchange(true, std::memory_order_acquire)) backoff.wait();
  }
  // release: pairs with the acquire in lock()
  void unlock() { locked.store(false, std::memory_order_release); }

  void list(Block* block, std::size_t size_class) {
    block->listed = true;
    block->previous = nullptr;
    block->next = partial[size_class];
    if (block->next != nullptr) block->next->previous = block;
    partial[size_class] = block;
  }
  void unlist(Block* block, std::size_t size_class) {
    block->listed = false;
    if (block->next != nullptr) block->next->previous = block->previous;
    if (block->previous != nullptr) {
      block->previous->next = block->next;
    } else {
      partial[size_class] = block->next;
    }
  }
};

std::array<Heap, kHeaps>& heaps() {
  static auto* heaps = new std::array<Heap, kHeaps>;  // outlives every item
  return *heaps;
}

struct HeapLock {
  explicit HeapLock(Heap& heap) : heap_(heap) { heap_.lock(); }
  ~HeapLock() { heap_.unlock(); }
  HeapLock(const HeapLock&) = delete;
  HeapLock& operator=(const HeapLock&) = delete;
  Heap& heap_;
};

/// A place in the block, or nullptr when it is full.
void* take(Block& block) {
  if (FreeItem* item = block.free) {
    block.free = item->next;
    ++block.used;
    return item;
  }
  if (block.untouched + block.item_bytes > kBlockBytes) return nullptr;
  void* item = reinterpret_cast<char*>(&block) + block.untouched;
  block.untouched += block.item_bytes;
  ++block.used;
  return item;
}

Block* next_block(Heap& heap, std::size_t size_class, std::size_t item_bytes) {
  if (Block* block = heap.partial[size_class]) {
    heap.unlist(block, size_class);
    return block;
  }
  void* memory = allocate_block(false);
  blocks.fetch_add(1, std::memory_order_relaxed);  // relaxed: a statistic
  return new (memory) Block{
      &heap, nullptr, nullptr, nullptr, 0, kHeaderBytes, static_cast<std::uint32_t>(item_bytes),
      false};
}

}  // namespace

std::size_t item_allocation_bytes(std::size_t bytes) {
  return bytes <= kSmallBytes ? class_bytes(bytes) : mi_good_size(bytes);
}

void* allocate_item(std::size_t bytes) {
  if (!kPack || bytes > kSmallBytes) {
    void* item = kPack ? mi_malloc(bytes) : std::malloc(bytes);
    if (item == nullptr) throw std::bad_alloc();
    return item;
  }
  const std::size_t size_class = class_of(bytes);
  Heap& heap = heaps()[sync::thread_index() % kHeaps];
  const HeapLock lock(heap);
  Block*& current = heap.current[size_class];
  if (current != nullptr) {
    if (void* item = take(*current)) return item;
  }
  current = next_block(heap, size_class, class_bytes(bytes));
  return take(*current);
}

void free_item(void* memory, std::size_t bytes) {
  if (!kPack || bytes > kSmallBytes) {
    if (kPack) {
      mi_free(memory);
    } else {
      std::free(memory);
    }
    return;
  }
  auto* block = reinterpret_cast<Block*>(reinterpret_cast<std::uintptr_t>(memory) &
                                         ~(std::uintptr_t{kBlockBytes} - 1));
  const std::size_t size_class = class_of(bytes);
  Heap& heap = *block->owner;
  {
    const HeapLock lock(heap);
    block->free = new (memory) FreeItem{block->free};
    --block->used;
    if (block == heap.current[size_class]) return;
    if (block->used != 0) {
      if (!block->listed) heap.list(block, size_class);
      return;
    }
    if (block->listed) heap.unlist(block, size_class);
  }
  blocks.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a statistic
  free_block(block);
}

std::size_t item_block_bytes() {
  const std::int64_t held = blocks.load(std::memory_order_relaxed);  // relaxed: a statistic
  return held < 0 ? 0 : static_cast<std::size_t>(held) * kBlockBytes;
}

}  // namespace nidus::engine

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory for items. Small ones (to 1 KiB) are packed in steps of 8 bytes into blocks of 16 KiB, one
// size a block; a general allocator rounds to 16 and more. Larger ones come from mimalloc.
//
// Thread-safety: any thread may free what another allocated. Each thread allocates from a heap of
// its own, behind a spin lock that is hardly ever contended: only a thread that frees another's
// items takes it too.
// Reclaim: a block without items goes back to the block arena.
// Cost: one uncontended lock and two or three lines. Under the sanitizers every item comes from
// malloc, so that they see each use after free.

#include <cstddef>

namespace nidus::engine {

/// At least 8-byte aligned. Errors: std::bad_alloc.
void* allocate_item(std::size_t bytes);
/// `bytes` as it was allocated.
void free_item(void* item, std::size_t bytes);
/// What an item of so many bytes takes, its share of the block's header aside.
std::size_t item_allocation_bytes(std::size_t bytes);

/// Blocks of small items held by all heaps, in bytes: used and free.
std::size_t item_block_bytes();

}  // namespace nidus::engine

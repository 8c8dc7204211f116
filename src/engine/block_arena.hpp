// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory in blocks of 16 KiB, cut from huge pages of 2 MiB, so that random probes do not miss the
// TLB: full-size segments take one each, and small items are packed into them. A huge page without
// blocks goes back to the system; so does a freed block of one that is mostly free.
//
// Smaller and odd sizes come from the general allocator, in whole cache lines. Under the sanitizers
// everything comes from malloc, so that they see each use after free.
//
// Thread-safety: any thread. Errors: std::bad_alloc.

#include <cstddef>

namespace nidus::engine {

inline constexpr std::size_t kBlockBytes = std::size_t{16} << 10;

/// A block, aligned to its size.
void* allocate_block(bool zeroed);
void free_block(void* block);

/// Zeroed bytes, aligned to a cache line.
void* allocate_lines(std::size_t bytes);
void free_lines(void* lines);

}  // namespace nidus::engine

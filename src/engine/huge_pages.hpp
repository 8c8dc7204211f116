// SPDX-License-Identifier: Apache-2.0
#pragma once

// Huge pages of 2 MiB, zeroed, for the block arena. The system zeroes a page at its first touch,
// which takes milliseconds where memory is short or the machine is virtual; so, once a process
// takes many, a thread of this file keeps the next one touched and ready, and no request waits.
//
// Thread-safety: any thread. Errors: std::bad_alloc.

#include <cstddef>

namespace nidus::engine {

inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

/// Aligned to its size.
char* take_huge_page();
void give_back_huge_page(char* page);

}  // namespace nidus::engine

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Large tables live on huge pages where the system gives them: a random look-up then costs one miss,
// not one for the line and one for its page's address. A hint: where it is refused, nothing changes.

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace nidus::map {

inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

/// Asks for huge pages for the whole ones within this memory, before it is first touched.
inline void advise_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  const auto begin =
      (reinterpret_cast<std::uintptr_t>(memory) + kHugePageBytes - 1) & ~(kHugePageBytes - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(kHugePageBytes - 1);
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace nidus::map

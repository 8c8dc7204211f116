// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lanes over a bucket of eight 8-byte slot words whose upper 16 bits are a tag: one vector compare
// answers for the whole bucket. A backend is a stateless type with
//
//   static unsigned match(const std::uint64_t* words, std::uint16_t tag)   bit i: slot i has the tag
//
// ScalarSlots is the reference; VectorSlots (Google Highway, widest vectors of the target) must give
// the same masks. `words` is 64-byte aligned. The words may be written concurrently: whoever uses a
// mask loads the word again (acquire) and checks it.

#include <atomic>
#include <cstdint>

#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL  // Highway 1.0.3 refuses -march=icelake or later without it
#endif
#include <hwy/highway.h>

#include <nidus/base/platform.hpp>
#include <nidus/lanes/mask_bits.hpp>

namespace nidus::lanes {

inline constexpr unsigned kSlotsPerBucket = 8;
inline constexpr unsigned kTagShift = 48;

struct ScalarSlots {
  static unsigned match(const std::uint64_t* words, std::uint16_t tag) {
    unsigned mask = 0;
    for (unsigned i = 0; i < kSlotsPerBucket; ++i) {
      // acquire: pairs with the release by which a writer publishes a slot; this is also the path
      // that ThreadSanitizer sees
      const std::uint64_t word = __atomic_load_n(words + i, __ATOMIC_ACQUIRE);
      mask |= static_cast<unsigned>((word >> kTagShift) == tag) << i;
    }
    return mask;
  }
};

struct VectorSlots {
  static unsigned match(const std::uint64_t* words, std::uint16_t tag) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::CappedTag<std::uint64_t, kSlotsPerBucket> d;
    const auto wanted = hn::Set(d, static_cast<std::uint64_t>(tag));
    unsigned mask = 0;
    for (unsigned i = 0; i < kSlotsPerBucket; i += static_cast<unsigned>(hn::Lanes(d))) {
      const auto tags = hn::ShiftRight<kTagShift>(hn::Load(d, words + i));
      mask |= mask_bits(d, hn::Eq(tags, wanted)) << i;
    }
    return mask;
  }
};

#if NIDUS_TSAN
using Slots = ScalarSlots;
#else
using Slots = VectorSlots;
#endif

/// Orders vector loads before a validation that follows; nothing on x86-64.
inline void fence_after_vector_loads() {
#if !NIDUS_TSAN
  // acquire: the loads before it are done before the version is read again
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

/// Asks for the line of this address.
inline void prefetch(const void* address) { __builtin_prefetch(address, 0, 3); }

}  // namespace nidus::lanes

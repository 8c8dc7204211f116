// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the compiler and the machine are, in one place. These are all the macros of the library:
//   NIDUS_HD       a function that host and device code share (CUDA), nothing elsewhere
//   NIDUS_TSAN     1 when ThreadSanitizer watches this build
//   NIDUS_NOINLINE keeps a cold path out of its caller's loop
//   NIDUS_CHECKED_ALLOCATION 1 when a sanitizer is to see every object's allocation

#include <cstddef>

#if defined(__CUDACC__)
#define NIDUS_HD __host__ __device__
#else
#define NIDUS_HD
#endif

#if defined(__SANITIZE_THREAD__)
#define NIDUS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NIDUS_TSAN 1
#else
#define NIDUS_TSAN 0
#endif
#else
#define NIDUS_TSAN 0
#endif

// Under a sanitizer every object has an allocation of its own.
#if NIDUS_TSAN || defined(__SANITIZE_ADDRESS__)
#define NIDUS_CHECKED_ALLOCATION 1
#else
#define NIDUS_CHECKED_ALLOCATION 0
#endif

#define NIDUS_NOINLINE __attribute__((noinline))

namespace nidus {

/// Bytes that one core takes from another at once; the unit of buckets and of padding.
inline constexpr std::size_t kCacheLineBytes = 64;

}  // namespace nidus

// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory for buckets. Full-size segments take 16 KiB blocks cut from 2 MiB huge pages, so that
// random probes do not miss the TLB; an unused huge page goes back to the system. Small segments
// take their lines from the allocator.
//
// Thread-safety: any thread. Errors: std::bad_alloc.

#include <cstdint>

namespace nidus::engine {

/// Zeroed, 64-byte aligned memory for `count` buckets.
void* allocate_buckets(std::uint32_t count);
void free_buckets(void* lines, std::uint32_t count);

}  // namespace nidus::engine

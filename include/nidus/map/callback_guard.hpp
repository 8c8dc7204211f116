// SPDX-License-Identifier: Apache-2.0
#pragma once

// Catches, in debug builds, a callback that calls the map which calls it: it holds a stripe, and
// the call would wait for itself, or for another thread that waits for it.

#include <cassert>

namespace nidus::map {

#ifndef NDEBUG
class CallbackGuard {
 public:
  explicit CallbackGuard(const void* map) : map_(map), outer_(innermost_) { innermost_ = this; }
  CallbackGuard(const CallbackGuard&) = delete;
  CallbackGuard& operator=(const CallbackGuard&) = delete;
  ~CallbackGuard() { innermost_ = outer_; }

  /// True while this thread runs a callback of this map.
  static bool inside([[maybe_unused]] const void* map) {
    for (const CallbackGuard* guard = innermost_; guard != nullptr; guard = guard->outer_) {
      if (guard->map_ == map) return true;
    }
    return false;
  }

 private:
  static inline constinit thread_local const CallbackGuard* innermost_ = nullptr;
  const void* map_;
  const CallbackGuard* outer_;
};
#else
class CallbackGuard {
 public:
  explicit CallbackGuard(const void*) {}
  ~CallbackGuard() {}  // not trivial, so that an unused guard is no warning
};
#endif

/// What the public calls begin with.
inline void assert_no_callback([[maybe_unused]] const void* map) {
#ifndef NDEBUG
  assert(!CallbackGuard::inside(map) && "a callback of this map may not call the map");
#endif
}

}  // namespace nidus::map

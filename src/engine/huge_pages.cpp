// SPDX-License-Identifier: Apache-2.0

// Huge pages, the next one prepared ahead. See huge_pages.hpp.

#include "engine/huge_pages.hpp"

#include <sys/mman.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>
#include <thread>

namespace nidus::engine {
namespace {

// A process that has taken fewer pages keeps none in reserve: a small server stays small.
constexpr std::size_t kPrepareFrom = 16;

char* map_page() {
  // Twice the size, trimmed, gives an aligned page.
  void* raw = ::mmap(nullptr, 2 * kHugePageBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto* start = static_cast<char*>(raw);
  auto* base =
      reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(raw) + kHugePageBytes - 1) &
                              ~(std::uintptr_t{kHugePageBytes} - 1));
  if (base > start) ::munmap(start, static_cast<std::size_t>(base - start));
  if (char* end = start + 2 * kHugePageBytes; end > base + kHugePageBytes) {
    ::munmap(base + kHugePageBytes, static_cast<std::size_t>(end - base - kHugePageBytes));
  }
  ::madvise(base, kHugePageBytes, MADV_HUGEPAGE);
  return base;
}

class Preparer {
 public:
  /// Leaked on purpose: pages are taken until the process ends.
  static Preparer& instance() {
    static auto* preparer = new Preparer;
    return *preparer;
  }

  char* take() {
    {
      const std::lock_guard lock(mutex_);
      if (++taken_ == kPrepareFrom) std::thread([this] { run(); }).detach();
      char* page = ready_;
      ready_ = nullptr;
      if (taken_ >= kPrepareFrom) wanted_.notify_one();
      if (page != nullptr) return page;
    }
    char* page = map_page();
    if (page == nullptr) throw std::bad_alloc();
    return page;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wanted_.wait(lock, [this] { return ready_ == nullptr; });
      lock.unlock();
      char* page = map_page();
      if (page == nullptr) return;  // whoever needs the next one meets the error itself
      static_cast<volatile char*>(page)[0] = 0;  // the touch: from here on it is resident
      lock.lock();
      ready_ = page;
    }
  }

  std::mutex mutex_;
  std::condition_variable wanted_;
  char* ready_ = nullptr;
  std::size_t taken_ = 0;
};

}  // namespace

char* take_huge_page() { return Preparer::instance().take(); }
void give_back_huge_page(char* page) { ::munmap(page, kHugePageBytes); }

}  // namespace nidus::engine

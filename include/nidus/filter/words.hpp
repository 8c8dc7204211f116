// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory of a filter: zeroed 64-bit words, aligned to a line. Large ones ask for huge pages, for
// a filter's accesses are random and would miss the TLB at each. One spare word follows the last, so
// that an unaligned 8-byte load may start at any byte.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include <sys/mman.h>

#include <nidus/base/platform.hpp>

namespace nidus::filter {

class Words {
 public:
  /// Errors: std::bad_alloc
  explicit Words(std::size_t count) : count_(count), words_(allocate(count)) { clear(); }
  Words(const Words& other) : count_(other.count_), words_(allocate(other.count_)) {
    std::memcpy(data(), other.data(), bytes_with_spare());
  }
  Words(Words&& other) noexcept
      : count_(std::exchange(other.count_, 0)), words_(std::move(other.words_)) {}
  Words& operator=(Words other) noexcept {
    std::swap(count_, other.count_);
    std::swap(words_, other.words_);
    return *this;
  }

  std::uint64_t* data() { return words_.get(); }
  const std::uint64_t* data() const { return words_.get(); }
  std::size_t size() const { return count_; }
  void clear() { std::memset(data(), 0, bytes_with_spare()); }

  /// The words as bytes, for images.
  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(data()), count_ * sizeof(std::uint64_t)};
  }
  /// Requires: bytes.size() == 8 * size()
  void assign(std::string_view bytes) { std::memcpy(data(), bytes.data(), bytes.size()); }

  friend bool operator==(const Words& a, const Words& b) { return a.bytes() == b.bytes(); }

 private:
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;

  struct Free {
    std::align_val_t alignment{kCacheLineBytes};
    void operator()(std::uint64_t* words) const { ::operator delete(words, alignment); }
  };
  using Owner = std::unique_ptr<std::uint64_t, Free>;

  static Owner allocate(std::size_t count) {
    constexpr std::size_t kMost = PTRDIFF_MAX / sizeof(std::uint64_t) - 1;
    if (count > kMost) throw std::bad_alloc();
    const std::size_t bytes = (count + 1) * sizeof(std::uint64_t);
    const bool huge = bytes >= 2 * kHugePage;
    const std::align_val_t alignment{huge ? kHugePage : kCacheLineBytes};
    void* memory = ::operator new(bytes, alignment);
#ifdef MADV_HUGEPAGE
    if (huge) madvise(memory, bytes, MADV_HUGEPAGE);  // only advice: small pages work too
#endif
    return Owner(static_cast<std::uint64_t*>(memory), Free{alignment});
  }
  std::size_t bytes_with_spare() const { return (count_ + 1) * sizeof(std::uint64_t); }

  std::size_t count_;
  Owner words_;
};

}  // namespace nidus::filter

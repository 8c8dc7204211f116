// SPDX-License-Identifier: Apache-2.0

// The memory of an output buffer: from the allocator while it is small, pages of its own from
// kMappedBytes on. See output_buffer.hpp.

#include "resp/output_buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace nidus::resp {

void OutputBuffer::release() {
  if (capacity_ >= kMappedBytes) {
    ::munmap(data_, capacity_);
  } else {
    std::free(data_);
  }
  data_ = nullptr;
  size_ = 0;
  capacity_ = 0;
}

void OutputBuffer::grow(std::size_t n) {
  constexpr std::size_t kPage = 4096;
  if (n > static_cast<std::size_t>(-1) / 2 - size_) throw std::bad_alloc();
  std::size_t target = std::max({capacity_ + capacity_ / 2, size_ + n, kFirstBytes});
  void* moved = nullptr;
  if (target < kMappedBytes) {
    moved = std::realloc(data_, target);
    if (moved == nullptr) throw std::bad_alloc();
  } else {
    target = (target + kPage - 1) / kPage * kPage;
    const bool mapped = capacity_ >= kMappedBytes;
    moved = mapped ? ::mremap(data_, capacity_, target, MREMAP_MAYMOVE)
                   : ::mmap(nullptr, target, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                            -1, 0);
    if (moved == MAP_FAILED) throw std::bad_alloc();
    if (!mapped) {
      if (size_ != 0) std::memcpy(moved, data_, size_);
      std::free(data_);
    }
  }
  data_ = static_cast<char*>(moved);
  capacity_ = target;
}

}  // namespace nidus::resp

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes of replies on their way to the socket: contiguous, growing without zero-filling. The
// writer appends, the connection sends data()..size() and clears. Large contents lie in pages of
// their own, which grow by being remapped: never twice in memory, and given back at once.

#include <cassert>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

namespace nidus::resp {

/// Errors:        std::bad_alloc from growth; the contents are then unchanged
/// Thread-safety: none
class OutputBuffer {
 public:
  OutputBuffer() = default;
  OutputBuffer(const OutputBuffer&) = delete;
  OutputBuffer& operator=(const OutputBuffer&) = delete;
  OutputBuffer(OutputBuffer&& other) noexcept { swap(other); }
  OutputBuffer& operator=(OutputBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~OutputBuffer() { release(); }

  const char* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {data_, size_}; }
  /// Bytes of memory held, for the account of memory.
  std::size_t capacity() const { return capacity_; }

  void append(std::string_view bytes) {
    // memcpy's pointers may not be null, not even for nothing.
    if (bytes.empty()) return;
    std::memcpy(reserve(bytes.size()), bytes.data(), bytes.size());
    size_ += bytes.size();
  }

  /// Room for `n` bytes behind the end; they count only after commit(). Valid until the next call.
  char* reserve(std::size_t n) {
    if (n > capacity_ - size_) [[unlikely]] {
      grow(n);
    }
    return data_ + size_;
  }
  /// Makes the first `n` bytes reserved part of the contents.
  void commit(std::size_t n) {
    assert(n <= capacity_ - size_);
    size_ += n;
  }

  /// Cuts the contents back to `size` bytes (a reply taken back). Requires: size <= size().
  void truncate(std::size_t size) {
    assert(size <= size_);
    size_ = size;
  }

  /// Empties it. Keeps at most kRetainedBytes of memory, so that one huge reply is not paid for
  /// ever.
  void clear() {
    size_ = 0;
    if (capacity_ > kRetainedBytes) [[unlikely]] {
      release();
    }
  }

  /// Empties it and gives all memory back (an idle connection).
  void release();

  void swap(OutputBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  /// What a cleared buffer may keep: the replies of a pipeline of some thousand small requests.
  static constexpr std::size_t kRetainedBytes = 128 * 1024;

 private:
  // The first allocation: a page of small replies.
  static constexpr std::size_t kFirstBytes = 4096;

  // From here on a buffer is mapped: what a slow reader leaves waiting, or one huge reply.
  static constexpr std::size_t kMappedBytes = std::size_t{4} << 20;

  void grow(std::size_t n);

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace nidus::resp

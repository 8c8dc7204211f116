// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes of requests that are not finished, or not executed yet, of one connection. Most of the
// time it is empty and holds no memory: a connection reads into its thread's scratch (loop.hpp) and
// keeps here only what is left over. Big arguments grow it in place.
//
// Thread-safety: none

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace nidus::server {

class InputBuffer {
 public:
  InputBuffer() = default;
  InputBuffer(const InputBuffer&) = delete;
  InputBuffer& operator=(const InputBuffer&) = delete;
  ~InputBuffer() { std::free(data_); }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  char* data() { return data_; }
  std::string_view view() const { return {data_, size_}; }

  /// Room behind the end for at least one byte, for the next read. It doubles, but not beyond what
  /// the unfinished request is known to need (needed_bytes; 0: unknown): a claim alone takes no
  /// memory, and a request of 512 MB does not take 1 GB.
  char* room(std::size_t needed_bytes) {
    if (size_ == capacity_) {
      std::size_t target = std::max(2 * capacity_, kFirstBytes);
      if (needed_bytes > size_) target = std::min(target, needed_bytes);
      resize_storage(target);
    }
    return data_ + size_;
  }
  std::size_t room_bytes() const { return capacity_ - size_; }
  void commit(std::size_t n) { size_ += n; }

  /// Makes `rest` the contents; it may be a part of this buffer. Memory far above what the contents
  /// need is given back.
  void keep(std::string_view rest) {
    const bool own = data_ != nullptr && rest.data() >= data_ && rest.data() <= data_ + capacity_;
    if (!own && rest.size() > capacity_) resize_storage(rest.size());
    if (!rest.empty()) std::memmove(data_, rest.data(), rest.size());
    size_ = rest.size();
    if (capacity_ > kFirstBytes && size_ < capacity_ / 4) {
      size_ == 0 ? release() : resize_storage(std::max(size_, kFirstBytes));
    }
  }

  /// Empties it and gives its memory back.
  void release() {
    std::free(std::exchange(data_, nullptr));
    size_ = capacity_ = 0;
  }

 private:
  static constexpr std::size_t kFirstBytes = 16 * 1024;

  void resize_storage(std::size_t bytes) {
    void* moved = std::realloc(data_, bytes);
    if (moved == nullptr) throw std::bad_alloc();
    data_ = static_cast<char*>(moved);
    capacity_ = bytes;
  }

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace nidus::server

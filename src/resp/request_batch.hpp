// SPDX-License-Identifier: Apache-2.0
#pragma once

// All complete requests of one read, as the parser leaves them and the command layer takes them:
// one flat array of arguments and one of request ends, both reused from read to read. Arguments are
// views into the connection's input buffer; only an inline argument whose quotes or escapes change
// its bytes is stored here. So a batch is valid until clear() or until that buffer moves.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace nidus::resp {

/// Points into the caller's input buffer; never copied.
using Arg = std::string_view;

/// A growing array without constructors or zero-filling: growth is one realloc.
///
/// Requires:      T is trivially copyable
/// Errors:        std::bad_alloc from growth; the contents are then unchanged
/// Thread-safety: none
template <typename T>
class FlatArray {
 public:
  FlatArray() = default;
  FlatArray(FlatArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  FlatArray& operator=(FlatArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~FlatArray() { std::free(data_); }

  T* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }

  /// Room for `n` elements in all; doubles, so that n appends cost O(n).
  void ensure(std::size_t n) {
    if (n > capacity_) [[unlikely]] {
      resize_storage(n > 2 * capacity_ ? n : 2 * capacity_);
    }
  }
  /// Gives storage above `n` elements back; what lies above is lost.
  void shrink_to(std::size_t n) {
    if (capacity_ > n) [[unlikely]] {
      resize_storage(n);
    }
  }

 private:
  // std::string_view's default constructor is not trivial, its copies are.
  static_assert(std::is_trivially_copyable_v<T>);

  void resize_storage(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    void* moved = std::realloc(static_cast<void*>(data_), n * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = n;
  }

  T* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// Thread-safety: none
/// Cost:          16 bytes an argument, 8 a request; nothing is allocated once capacity is there
class RequestBatch {
 public:
  RequestBatch() = default;
  RequestBatch(const RequestBatch&) = delete;
  RequestBatch& operator=(const RequestBatch&) = delete;

  /// Complete requests held; each has at least one argument.
  std::size_t size() const { return requests_; }
  bool empty() const { return requests_ == 0; }

  /// The arguments of request `i`, the command's name first. Requires: i < size().
  std::span<const Arg> operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_.data()[i - 1];
    return {args_.data() + begin, ends_.data()[i] - begin};
  }

  /// Forgets all requests. Keeps capacity up to a bound, so that one request of a million arguments
  /// does not hold its memory for ever.
  void clear() {
    requests_ = 0;
    arg_count_ = 0;
    if (!unescaped_.empty()) unescaped_.clear();
    args_.shrink_to(kRetainedArgs);
    ends_.shrink_to(kRetainedArgs);
  }

  /// Bytes held, for the account of memory.
  std::size_t capacity_bytes() const {
    return args_.capacity() * sizeof(Arg) + ends_.capacity() * sizeof(std::size_t) +
           unescaped_bytes_;
  }

  // What follows is the parser's side.

  /// Room for `n` more arguments and one more request end; the pointer is where the arguments go.
  /// They belong to the batch only after commit(n).
  Arg* reserve_args(std::size_t n) {
    args_.ensure(arg_count_ + n);
    ends_.ensure(requests_ + 1);
    return args_.data() + arg_count_;
  }
  /// Makes the first `n` arguments of the room reserved the next request.
  void commit(std::size_t n) {
    arg_count_ += n;
    ends_.data()[requests_++] = arg_count_;
  }
  /// `n` bytes that live until clear(), for an argument whose bytes differ from the input's.
  char* reserve_unescaped(std::size_t n) {
    if (unescaped_.empty()) unescaped_bytes_ = 0;
    unescaped_.push_back(std::make_unique<char[]>(n));
    unescaped_bytes_ += n;
    return unescaped_.back().get();
  }

 private:
  static constexpr std::size_t kRetainedArgs = 16 * 1024;

  FlatArray<Arg> args_;
  FlatArray<std::size_t> ends_;
  std::size_t arg_count_ = 0;
  std::size_t requests_ = 0;
  std::vector<std::unique_ptr<char[]>> unescaped_;
  std::size_t unescaped_bytes_ = 0;
};

}  // namespace nidus::resp

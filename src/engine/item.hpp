// SPDX-License-Identifier: Apache-2.0
#pragma once

// An item is one key with its value in one allocation: an 8-byte header, the expiry where there is
// one, the key, the value. Readers hold plain pointers to items while writers replace them, so the
// bytes of a published item never change; a write publishes a new item and retires the old one,
// which is freed after every reader has passed a quiescent state.
//
// Layout (8-byte aligned):
//
//   word 0, low  32 bits: value size (30) | has expiry (1) | long key (1)
//   word 0, high 32 bits: access (24, atomic) | key size (8; long keys keep theirs behind the
//   header) [long key: 8 bytes, key size]  [has expiry: 8 bytes, Unix ms]  key bytes  value bytes
//
// Invariant: only `access` changes after publication. `access` is the raw material of the score:
// its meaning (a clock or a logarithmic counter) belongs to score.hpp.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace nidus::engine {

/// Unix time in milliseconds.
using Millis = std::int64_t;

/// "Never expires". Larger than every legal expiry, so that min() over expiries needs no branch.
inline constexpr Millis kNoExpiry = std::numeric_limits<Millis>::max();

inline constexpr std::size_t kMaxValueBytes = std::size_t{512} << 20;
inline constexpr std::size_t kMaxKeyBytes = std::size_t{512} << 20;

class Item {
 public:
  Item(const Item&) = delete;
  Item& operator=(const Item&) = delete;

  /// Bytes of the allocation for an item of this shape, before the allocator's rounding.
  static std::size_t bytes_for(std::size_t key_bytes, std::size_t value_bytes, bool has_expiry) {
    return sizeof(Item) + (key_bytes >= kLongKey ? 8 : 0) + (has_expiry ? 8 : 0) + key_bytes +
           value_bytes;
  }

  /// Allocates an item with its key copied in; the caller fills value_bytes() of it before it is
  /// published. Errors: std::bad_alloc. The sizes are at most kMaxKeyBytes, kMaxValueBytes.
  static Item* create(std::string_view key, std::size_t value_bytes, Millis expires_at,
                      std::uint32_t access);
  /// Frees an item that no reader can hold any more.
  static void destroy(Item* item);

  /// key() == key, without a call for keys of 8 to 32 bytes: most are.
  bool has_key(std::string_view key) const {
    const std::string_view mine = this->key();
    if (mine.size() != key.size()) return false;
    return same_bytes(mine.data(), key.data(), key.size());
  }
  std::string_view key() const { return {payload() + extra_bytes(), key_bytes()}; }
  std::string_view value() const {
    return {payload() + extra_bytes() + key_bytes(), value_bytes()};
  }
  /// The value's bytes, writable only before publication.
  char* mutable_value() { return const_cast<char*>(value().data()); }

  std::size_t key_bytes() const {
    return long_key() ? static_cast<std::size_t>(word_at(0)) : short_key_bytes();
  }
  std::size_t value_bytes() const { return low_ & kSizeMask; }

  bool has_expiry() const { return (low_ & kHasExpiry) != 0; }
  Millis expires_at() const {
    return has_expiry() ? static_cast<Millis>(word_at(long_key() ? 8 : 0)) : kNoExpiry;
  }
  bool expired(Millis now) const { return has_expiry() && expires_at() <= now; }

  /// 24 bits for the score, changed by readers.
  std::uint32_t access() const {
    // relaxed: a hint for eviction; pairs with nothing
    return high_.load(std::memory_order_relaxed) >> 8;
  }
  void set_access(std::uint32_t access) const {
    // relaxed: a hint for eviction; the key size beside it never changes; pairs with nothing
    high_.store((access << 8) | short_key_bytes(), std::memory_order_relaxed);
  }

  /// Bytes that the allocator set aside for this item: what the memory account counts.
  std::size_t allocated_bytes() const;

 private:
  static constexpr std::uint32_t kSizeMask = (std::uint32_t{1} << 30) - 1;
  static constexpr std::uint32_t kHasExpiry = std::uint32_t{1} << 30;
  static constexpr std::uint32_t kIsLongKey = std::uint32_t{1} << 31;
  static constexpr std::size_t kLongKey = 256;

  Item(std::uint32_t low, std::uint32_t high) : low_(low), high_(high) {}

  /// By loads that overlap, so that no byte outside is touched.
  static bool same_bytes(const char* a, const char* b, std::size_t n) {
    if (n < 8 || n > 32) return std::memcmp(a, b, n) == 0;
    const auto differ = [a, b](std::size_t at) {
      std::uint64_t x, y;
      std::memcpy(&x, a + at, sizeof x);
      std::memcpy(&y, b + at, sizeof y);
      return x ^ y;
    };
    std::uint64_t difference = differ(0) | differ(n - 8);
    if (n > 16) difference |= differ(8) | differ(n - 16);
    return difference == 0;
  }

  bool long_key() const { return (low_ & kIsLongKey) != 0; }
  std::uint32_t short_key_bytes() const {
    // relaxed: these 8 bits never change; pairs with nothing
    return high_.load(std::memory_order_relaxed) & 0xff;
  }
  std::size_t extra_bytes() const { return (long_key() ? 8u : 0u) + (has_expiry() ? 8u : 0u); }
  const char* payload() const { return reinterpret_cast<const char*>(this) + sizeof(Item); }
  std::uint64_t word_at(std::size_t offset) const {
    std::uint64_t word;
    std::memcpy(&word, payload() + offset, sizeof word);
    return word;
  }

  std::uint32_t low_;
  mutable std::atomic<std::uint32_t> high_;
};
static_assert(sizeof(Item) == 8);

}  // namespace nidus::engine

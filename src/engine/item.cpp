// SPDX-License-Identifier: Apache-2.0

// Memory of items. See item.hpp.

#include "engine/item.hpp"

#include <cassert>
#include <new>

#include "engine/item_arena.hpp"

namespace nidus::engine {

Item* Item::create(std::string_view key, std::size_t value_bytes, Millis expires_at,
                   std::uint32_t access) {
  assert(key.size() <= kMaxKeyBytes && value_bytes <= kMaxValueBytes);
  const bool expires = expires_at != kNoExpiry;
  const bool is_long = key.size() >= kLongKey;
  void* memory = allocate_item(bytes_for(key.size(), value_bytes, expires));
  const auto low = static_cast<std::uint32_t>(value_bytes) | (expires ? kHasExpiry : 0) |
                   (is_long ? kIsLongKey : 0);
  const auto high = (access << 8) | (is_long ? 0 : static_cast<std::uint32_t>(key.size()));
  auto* item = new (memory) Item(low, high);
  char* at = reinterpret_cast<char*>(item) + sizeof(Item);
  if (is_long) {
    const std::uint64_t size = key.size();
    std::memcpy(at, &size, sizeof size);
    at += sizeof size;
  }
  if (expires) {
    std::memcpy(at, &expires_at, sizeof expires_at);
    at += sizeof expires_at;
  }
  std::memcpy(at, key.data(), key.size());
  return item;
}

void Item::destroy(Item* item) {
  free_item(item, bytes_for(item->key_bytes(), item->value_bytes(), item->has_expiry()));
}

std::size_t Item::allocated_bytes() const {
  return item_allocation_bytes(bytes_for(key_bytes(), value_bytes(), has_expiry()));
}

}  // namespace nidus::engine

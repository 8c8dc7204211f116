// SPDX-License-Identifier: Apache-2.0

// Items of every shape give back what was put in.

#include "engine/item.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace nidus::engine {
namespace {

std::string bytes(std::size_t n, char seed) {
  std::string text(n, '\0');
  for (std::size_t i = 0; i < n; ++i) text[i] = static_cast<char>(seed + static_cast<char>(i * 31));
  return text;
}

void expect_round_trip(std::size_t key_bytes, std::size_t value_bytes, Millis expires_at) {
  SCOPED_TRACE(testing::Message() << key_bytes << " + " << value_bytes << ", " << expires_at);
  const std::string key = bytes(key_bytes, 3), value = bytes(value_bytes, 77);
  Item* item = Item::create(key, value.size(), expires_at, 0xABCDEF);
  value.copy(item->mutable_value(), value.size());
  EXPECT_EQ(item->key(), key);
  EXPECT_EQ(item->value(), value);
  EXPECT_EQ(item->key_bytes(), key_bytes);
  EXPECT_EQ(item->value_bytes(), value_bytes);
  EXPECT_EQ(item->expires_at(), expires_at);
  EXPECT_EQ(item->has_expiry(), expires_at != kNoExpiry);
  EXPECT_EQ(item->access(), 0xABCDEFu);
  item->set_access(0x123456);
  EXPECT_EQ(item->access(), 0x123456u);
  EXPECT_EQ(item->key(), key) << "the key size stands beside the access bits";
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(item) % 8, 0u) << "a slot word has no room for more";
  EXPECT_LT(reinterpret_cast<std::uintptr_t>(item), std::uintptr_t{1} << 48);
  EXPECT_GE(item->allocated_bytes(),
            Item::bytes_for(key_bytes, value_bytes, expires_at != kNoExpiry));
  Item::destroy(item);
}

TEST(Item, EveryShapeRoundTrips) {
  for (std::size_t key : {0u, 1u, 7u, 8u, 16u, 254u, 255u, 256u, 257u, 1000u, 70'000u}) {
    for (std::size_t value : {0u, 1u, 8u, 32u, 255u, 4096u, 1u << 20}) {
      for (Millis expiry : {kNoExpiry, Millis{0}, Millis{1}, Millis{-5}, kNoExpiry - 1}) {
        expect_round_trip(key, value, expiry);
      }
    }
  }
}

TEST(Item, AKeyIsRecognizedByEachOfItsBytes) {
  for (std::size_t size = 0; size <= 300; ++size) {
    std::string key(size, 'k');
    for (std::size_t i = 0; i < size; ++i) key[i] = static_cast<char>('a' + i % 26);
    Item* item = Item::create(key, 0, kNoExpiry, 0);
    EXPECT_TRUE(item->has_key(key)) << size;
    EXPECT_FALSE(item->has_key(key + "x")) << size;
    for (std::size_t i = 0; i < size; ++i) {
      std::string other = key;
      other[i] = static_cast<char>(other[i] ^ 1);
      EXPECT_FALSE(item->has_key(other)) << size << " at " << i;
    }
    Item::destroy(item);
  }
}

TEST(Item, HoldsTheLargestValue) {
  Item* item = Item::create("key", kMaxValueBytes, 12345, 0);
  item->mutable_value()[0] = 'a';
  item->mutable_value()[kMaxValueBytes - 1] = 'z';  // what lies between is never touched
  EXPECT_EQ(item->value().size(), kMaxValueBytes);
  EXPECT_EQ(item->value().front(), 'a');
  EXPECT_EQ(item->value().back(), 'z');
  EXPECT_EQ(item->key(), "key");
  EXPECT_EQ(item->expires_at(), 12345);
  EXPECT_GE(item->allocated_bytes(), kMaxValueBytes);
  Item::destroy(item);
}

TEST(Item, AHeaderIsEightBytesAndAnExpiryEightMore) {
  EXPECT_EQ(Item::bytes_for(16, 32, false), 8u + 16 + 32);
  EXPECT_EQ(Item::bytes_for(16, 32, true), 8u + 8 + 16 + 32);
  EXPECT_EQ(Item::bytes_for(256, 0, false), 8u + 8 + 256);
}

TEST(Item, ExpiresAtItsMillisecondAndNotBefore) {
  Item* item = Item::create("k", 0, 1000, 0);
  EXPECT_FALSE(item->expired(999));
  EXPECT_TRUE(item->expired(1000));
  EXPECT_TRUE(item->expired(1001));
  Item::destroy(item);
  item = Item::create("k", 0, kNoExpiry, 0);
  EXPECT_FALSE(item->expired(std::numeric_limits<Millis>::max()));
  Item::destroy(item);
}

}  // namespace
}  // namespace nidus::engine

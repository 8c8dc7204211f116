// SPDX-License-Identifier: Apache-2.0

// What happens to elements: each is constructed and destroyed once, survives being moved, may be
// move-only, and when it throws, no contents change.

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

#include "cuckoo_map_variants.hpp"

namespace nidus::map {
namespace {

using U64 = std::uint64_t;

/// Holds a pointer to itself, counts its lives, and throws at a chosen construction.
struct Fragile {
  static inline std::int64_t alive = 0;
  static inline std::int64_t until_throw = -1;  // constructions that succeed; -1: all

  explicit Fragile(U64 n = 0) : number(n), self(this) { born(); }
  Fragile(const Fragile& from) : number(from.number), self(this) { born(); }
  Fragile& operator=(const Fragile& from) {
    number = from.number;
    return *this;
  }
  ~Fragile() {
    EXPECT_EQ(self, this);
    --alive;
  }
  bool operator==(const Fragile& other) const { return number == other.number; }

  U64 number;
  Fragile* self;

 private:
  static void born() {
    if (until_throw == 0) throw std::runtime_error("no more");
    if (until_throw > 0) --until_throw;
    ++alive;
  }
};

/// The same with a move that does not throw.
struct Movable : Fragile {
  using Fragile::Fragile;
  Movable(const Movable&) = default;
  Movable(Movable&& from) noexcept : Fragile(take(from)) {}
  Movable& operator=(const Movable&) = default;

 private:
  static U64 take(Movable& from) noexcept {
    EXPECT_EQ(from.self, &from);
    return from.number;
  }
};

struct ThrowingHash {
  static inline bool throws = false;
  std::size_t operator()(U64 key) const {
    if (throws) throw std::runtime_error("hash");
    return key;
  }
};
struct ThrowingHashPolicy : FourSlots {
  template <class Key>
  using Hash = ThrowingHash;
};

struct ByPointee {
  std::size_t operator()(const std::unique_ptr<int>& p) const noexcept {
    return static_cast<std::size_t>(*p);
  }
};
struct SamePointee {
  bool operator()(const std::unique_ptr<int>& a, const std::unique_ptr<int>& b) const {
    return *a == *b;
  }
};
struct PointeePolicy : MapPolicy {
  template <class>
  using Hash = ByPointee;
  template <class>
  using Equal = SamePointee;
};

template <class Map>
void live_through_everything() {
  Fragile::alive = 0;
  Fragile::until_throw = -1;
  {
    Map map;
    for (U64 key = 0; key < 5000; ++key) map.try_emplace(key, key);
    for (U64 key = 0; key < 5000; key += 2) map.erase(key);
    for (U64 key = 1; key < 5000; key += 2)
      map.insert_or_assign(key, typename Map::mapped_type(key));
    map.shrink_to_fit();
    Map copy(map), other;
    other.try_emplace(7, 7u);
    swap(copy, other);
    Map moved(std::move(other));
    moved = map;
    copy = std::move(moved);
    EXPECT_EQ(Fragile::alive, static_cast<std::int64_t>(map.size() + copy.size() + moved.size()));
    for (const auto& [key, value] : copy) {
      ASSERT_EQ(value.number, key);
      ASSERT_EQ(value.self, &value);
    }
  }
  EXPECT_EQ(Fragile::alive, 0) << "constructions equal destructions";
}

TEST(CuckooMapElements, AValueThatPointsToItselfSurvivesEverything) {
  live_through_everything<CuckooMap<U64, Movable>>();
  live_through_everything<CuckooMap<U64, Movable, FourSlots>>();
  live_through_everything<CuckooMap<U64, Fragile, FourSlots>>();
  live_through_everything<CuckooMap<U64, Movable, Tagged<FourSlots>>>();
  live_through_everything<CuckooMap<U64, Fragile, Tagged<MapPolicy>>>();
}

TEST(CuckooMapElements, KeysAndValuesMayBeMoveOnly) {
  CuckooMap<std::unique_ptr<int>, std::unique_ptr<int>, PointeePolicy> map;
  for (int i = 0; i < 2000; ++i) {
    EXPECT_TRUE(map.try_emplace(std::make_unique<int>(i), std::make_unique<int>(-i)).second);
    EXPECT_FALSE(map.emplace(std::make_unique<int>(i), std::make_unique<int>(0)).second);
  }
  map.shrink_to_fit();
  auto moved = std::move(map);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(*moved.at(std::make_unique<int>(i)), -i);
}

/// Inserts with an exception at every possible construction: contents before = contents after.
template <class Map>
void insert_with_throws() {
  Fragile::alive = 0;
  {
    Map map;
    map.max_load_factor(0.97f);  // displacements are common
    std::map<U64, U64> oracle;
    for (U64 key = 0; key < 600; ++key) {
      for (std::int64_t allowed = key % 3;; ++allowed) {
        Fragile::until_throw = allowed;
        try {
          map.try_emplace(key, key);
          Fragile::until_throw = -1;
          break;
        } catch (const std::runtime_error&) {
          Fragile::until_throw = -1;
          ASSERT_EQ(map.size(), oracle.size());
          ASSERT_TRUE(map.table().consistent());
          ASSERT_FALSE(map.contains(key));
        }
        if (allowed > 40) allowed += 50;  // growth constructs all: not every one of them
      }
      oracle[key] = key;
    }
    for (const auto& [key, value] : oracle) ASSERT_EQ(map.at(key).number, value);
    EXPECT_EQ(Fragile::alive, static_cast<std::int64_t>(map.size()));
  }
  EXPECT_EQ(Fragile::alive, 0);
}

TEST(CuckooMapElements, AThrowingConstructorChangesNoContents) {
  insert_with_throws<CuckooMap<U64, Fragile, FourSlots>>();
  insert_with_throws<CuckooMap<U64, Fragile, Tagged<FourSlots>>>();
}

TEST(CuckooMapElements, AThrowingHashChangesNoContents) {
  CuckooMap<U64, Movable, ThrowingHashPolicy> map;
  for (U64 key = 0; key < 3000; ++key) {
    ThrowingHash::throws = true;
    EXPECT_THROW(map.try_emplace(key, key), std::runtime_error);
    if (!map.empty()) {
      EXPECT_THROW(map.reserve(map.capacity() * 2), std::runtime_error);
    }
    ThrowingHash::throws = false;
    ASSERT_TRUE(map.try_emplace(key, key).second);
    if (map.size() == 1) continue;
    ASSERT_EQ(map.at(key / 2).number, key / 2);
  }
  EXPECT_TRUE(map.table().consistent());
}

}  // namespace
}  // namespace nidus::map

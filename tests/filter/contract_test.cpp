// SPDX-License-Identifier: Apache-2.0

// What the concepts Filter and ErasableFilter promise, for every filter of the library.

#include <random>
#include <unordered_map>
#include <unordered_set>

#include <gtest/gtest.h>
#include <nidus/filter/blocked_bloom.hpp>
#include <nidus/filter/bloom.hpp>
#include <nidus/filter/counting_bloom.hpp>
#include <nidus/filter/cuckoo_filter.hpp>
#include <nidus/filter/scalable.hpp>

#include "keys.hpp"

namespace nidus::filter {
namespace {

using testing::fill;
using testing::image_of;

constexpr double kItems = 20'000, kRate = 0.01;

template <class F>
F make() {
  if constexpr (std::same_as<F, BloomFilter> || std::same_as<F, CountingBloomFilter>) {
    return F(bloom_shape(kItems, kRate));
  } else if constexpr (std::same_as<F, BlockedBloomFilter>) {
    return F(blocked_bloom_shape(kItems, kRate));
  } else if constexpr (std::same_as<F, CuckooFilter>) {
    return F(*cuckoo_shape(kItems, kRate));
  } else {
    return F(ScalableOptions{kItems / 20, kRate, 2, 4});  // grows four times
  }
}

template <class F>
struct FilterContract : ::testing::Test {
  F filter = make<F>();
  static constexpr auto kN = static_cast<std::uint64_t>(kItems);
};
template <class F>
struct ErasableFilterContract : FilterContract<F> {};

using Erasable = ::testing::Types<CountingBloomFilter, CuckooFilter, ScalableCuckooFilter>;
using All = ::testing::Types<BloomFilter, BlockedBloomFilter, CountingBloomFilter, CuckooFilter,
                             ScalableBloomFilter, ScalableBlockedBloomFilter, ScalableCuckooFilter>;
TYPED_TEST_SUITE(FilterContract, All);
TYPED_TEST_SUITE(ErasableFilterContract, Erasable);

TYPED_TEST(FilterContract, EmptyFilterContainsNothing) {
  EXPECT_EQ(testing::count_maybe(this->filter, 0, 10'000), 0u);
  EXPECT_EQ(this->filter.count(), 0u);
  EXPECT_EQ(this->filter.expected_fpr(), 0.0);
}

TYPED_TEST(FilterContract, EveryInsertedKeyIsFound) {
  ASSERT_EQ(fill(this->filter, this->kN), this->kN);
  for (std::uint64_t i = 0; i < this->kN; ++i) ASSERT_TRUE(this->filter.may_contain(i)) << i;
  EXPECT_EQ(testing::count_maybe(this->filter, 0, this->kN), this->kN);
}

TYPED_TEST(FilterContract, RateIsTheExpectedOneAndBelowTheOneAskedFor) {
  fill(this->filter, this->kN);
  const double measured = testing::measured_fpr(this->filter, 300'000);
  // 300 000 probes at rates of .004 and more: three standard deviations are below 9 %.
  EXPECT_NEAR(measured / this->filter.expected_fpr(), 1, 0.1);
  EXPECT_LE(measured, kRate * 1.1);
}

TYPED_TEST(FilterContract, BatchAnswersAsSingleCallsDo) {
  fill(this->filter, this->kN);
  std::mt19937_64 random(1);
  for (const std::size_t n : {0, 1, 2, 31, 32, 33, 64, 65, 300, 1000}) {
    std::vector<std::uint64_t> keys(n);
    for (auto& key : keys) key = random() % (2 * this->kN);
    const std::vector<KeyHash> hashes(keys.begin(), keys.end());
    const auto out = std::make_unique<bool[]>(n + 1);
    this->filter.may_contain_batch(std::span<const KeyHash>(hashes), std::span(out.get(), n));
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], this->filter.may_contain(keys[i])) << i;
    this->filter.may_contain_batch(std::span<const std::uint64_t>(keys), std::span(out.get(), n));
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], this->filter.may_contain(keys[i])) << i;
  }
}

TYPED_TEST(FilterContract, CountIsTheNumberOfAddedKeys) {
  std::uint64_t added = 0;
  for (std::uint64_t i = 0; i < this->kN; ++i) added += this->filter.insert(i) == Insert::kAdded;
  EXPECT_EQ(this->filter.count(), added);
  EXPECT_NEAR(static_cast<double>(added), kItems, kItems * kRate);
}

TYPED_TEST(FilterContract, RepeatedInsertIsTold) {
  this->filter.insert("once");
  const Insert again = this->filter.insert("once");
  const bool keeps_copies = requires { this->filter.erase("once"); };
  EXPECT_EQ(again, keeps_copies ? Insert::kAdded : Insert::kMaybePresent);
  EXPECT_EQ(this->filter.count(), keeps_copies ? 2u : 1u);
}

TYPED_TEST(FilterContract, ClearedFilterIsAsNew) {
  fill(this->filter, this->kN);
  this->filter.clear();
  EXPECT_EQ(this->filter, make<TypeParam>());
  EXPECT_EQ(image_of(this->filter), image_of(make<TypeParam>()));
}

TYPED_TEST(FilterContract, CopyIsEqualAndIndependent) {
  fill(this->filter, 1000);
  TypeParam copy = this->filter;
  EXPECT_EQ(copy, this->filter);
  copy.insert("one more");
  EXPECT_NE(copy, this->filter);
  EXPECT_TRUE(copy.may_contain("one more"));
  const TypeParam moved = std::move(copy);
  EXPECT_TRUE(moved.may_contain("one more"));
}

TYPED_TEST(FilterContract, StringsAndIntegersAreKeys) {
  this->filter.insert("alice");
  EXPECT_TRUE(this->filter.may_contain(std::string_view("alice")));
  this->filter.insert(-5);
  EXPECT_TRUE(this->filter.may_contain(std::int64_t{-5}));
  this->filter.insert("");
  EXPECT_TRUE(this->filter.may_contain(std::string_view()));
}

TYPED_TEST(FilterContract, LoadedFilterIsEqual) {
  fill(this->filter, this->kN);
  const std::string image = image_of(this->filter);
  const auto loaded = TypeParam::load(image);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(*loaded, this->filter);
  EXPECT_EQ(image_of(*loaded), image);
  EXPECT_EQ(loaded->count(), this->filter.count());
  EXPECT_EQ(loaded->expected_fpr(), this->filter.expected_fpr());
}

TYPED_TEST(FilterContract, DamagedImageIsRefused) {
  fill(this->filter, 100);
  const std::string image = image_of(this->filter);
  std::mt19937_64 random(2);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = image;
    // Every byte of the header, then any of the others.
    const std::size_t at = i < 80 ? static_cast<std::size_t>(i) : random() % image.size();
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    EXPECT_FALSE(TypeParam::load(damaged)) << at;
    EXPECT_FALSE(TypeParam::load(image.substr(0, random() % image.size())));
  }
  EXPECT_FALSE(TypeParam::load(image + "x"));
  EXPECT_FALSE(TypeParam::load(""));
}

TYPED_TEST(FilterContract, NeverForgetsAKeyThatASetKnows) {
  std::unordered_set<std::uint64_t> model;
  std::mt19937_64 random(3);
  for (int i = 0; i < 30'000; ++i) {
    const std::uint64_t key = random() % 40'000;
    if (random() % 2 == 0 && model.size() < this->kN) {
      if (model.contains(key)) continue;
      ASSERT_TRUE(stored(this->filter.insert(key)));
      model.insert(key);
    } else if (model.contains(key)) {
      ASSERT_TRUE(this->filter.may_contain(key));
    }
  }
  std::uint64_t wrong = 0;
  for (std::uint64_t key = 0; key < 40'000; ++key) {
    wrong += this->filter.may_contain(key) && !model.contains(key);
  }
  EXPECT_LE(wrong, 40'000 * kRate * 1.5);
}

TYPED_TEST(ErasableFilterContract, ErasedKeysAreGoneAndTheOthersStay) {
  ASSERT_EQ(fill(this->filter, this->kN), this->kN);
  for (std::uint64_t i = 0; i < this->kN; i += 2) ASSERT_TRUE(this->filter.erase(i));
  EXPECT_EQ(this->filter.count(), this->kN / 2);
  std::uint64_t still = 0;
  for (std::uint64_t i = 0; i < this->kN; ++i) {
    const bool maybe = this->filter.may_contain(i);
    if (i % 2 == 0) {
      still += maybe;
    } else {
      ASSERT_TRUE(maybe) << i;
    }
  }
  EXPECT_LE(static_cast<double>(still), kItems / 2 * kRate * 1.2);
}

TYPED_TEST(ErasableFilterContract, EraseOfAnAbsentKeySaysSoAndChangesNothing) {
  fill(this->filter, 100);
  const TypeParam before = this->filter;
  std::uint64_t probe = testing::kNeverInserted;
  while (this->filter.may_contain(probe)) ++probe;
  EXPECT_FALSE(this->filter.erase(probe));
  EXPECT_EQ(this->filter, before);
}

TYPED_TEST(ErasableFilterContract, CopiesAreErasedOneByOne) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(this->filter.insert("thrice"), Insert::kAdded);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(this->filter.may_contain("thrice"));
    EXPECT_TRUE(this->filter.erase("thrice"));
  }
  EXPECT_FALSE(this->filter.may_contain("thrice"));
  EXPECT_FALSE(this->filter.erase("thrice"));
  EXPECT_EQ(this->filter.count(), 0u);
}

TYPED_TEST(ErasableFilterContract, ErasingEverythingGivesAnEmptyFilter) {
  fill(this->filter, this->kN);
  for (std::uint64_t i = 0; i < this->kN; ++i) ASSERT_TRUE(this->filter.erase(i)) << i;
  EXPECT_EQ(this->filter.count(), 0u);
  EXPECT_EQ(testing::count_maybe(this->filter, 0, 2 * this->kN), 0u);
}

TYPED_TEST(ErasableFilterContract, NeverForgetsWhatAMultisetKnows) {
  std::unordered_map<std::uint64_t, int> model;
  std::mt19937_64 random(4);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t key = random() % 12'000;
    const auto found = model.find(key);
    const std::uint64_t what = random() % 3;
    if (what == 0) {
      const Insert outcome = this->filter.insert(key);
      if (outcome == Insert::kAdded) ++model[key];
    } else if (what == 1 && found != model.end()) {
      ASSERT_TRUE(this->filter.erase(key));
      if (--found->second == 0) model.erase(found);
    } else if (found != model.end()) {
      ASSERT_TRUE(this->filter.may_contain(key)) << key << " after " << i;
    }
  }
  for (const auto& [key, copies] : model) ASSERT_TRUE(this->filter.may_contain(key)) << key;
}

}  // namespace
}  // namespace nidus::filter
